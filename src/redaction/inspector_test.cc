// Lines inspected: canaries and forbidden fields in words that repeat nothing of the line.
#include "redaction/inspector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redaction/masks.h"

namespace remit::redaction {
namespace {

using Words = std::vector<std::string>;

Words observed(Inspector& inspector, const std::string& line) {
  std::string padded = line + std::string(event::Decoder::kPadding, ' ');
  event::Decoder decoder;
  event::Event event;
  const bool is_event =
      decoder.decode(std::string_view(padded).substr(0, line.size()), event).has_value();
  Words out;
  for (const Observation& one : inspector.inspect(line, is_event ? &event : nullptr)) {
    out.push_back(one.what + " " + one.where);
  }
  return out;
}

Inspector inspector_of(std::vector<Canary> canaries, std::vector<std::string> forbidden) {
  auto redaction = Redaction::make(std::move(canaries), std::move(forbidden));
  EXPECT_TRUE(redaction.has_value()) << redaction.error().to_string();
  return std::move(Inspector::make(*redaction)).value();
}

struct Case {
  std::string_view line;
  Words observed;
};

TEST(Inspector, TellsWhereACanaryStands) {  // REQ-RD-020
  const Case kCases[] = {
      {R"({"event":"tool.request","invocation_id":"i1","tool":"s3cr3t-canary!"})",
       {R"(canary "db", exact in the field tool, at byte 53 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","tool":"\u00733cr3t-canary!"})",
       {R"(canary "db", json_escapes in the field tool, at byte 53 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","x":{"tool":["s3cr3t-canary!"]}})",
       {R"(canary "db", exact in an unlisted field, at byte 59 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","s3cr3t-canary!":1})",
       {R"(canary "db", exact in a key, at byte 46 of the line)"}},
      {R"(s3cr3t-canary!)", {R"(canary "db", exact at byte 0 of the line)"}},
      {R"({"event":"no.event","tool":"s3cr3t-canary!"})",
       {R"(canary "db", exact in the field tool, at byte 28 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1"})", {}},
  };
  Inspector inspector = inspector_of({{"db", "s3cr3t-canary!"}}, {});
  std::size_t bytes = 0;
  for (const Case& one : kCases) {
    EXPECT_EQ(observed(inspector, std::string(one.line)), one.observed) << one.line;
    bytes += one.line.size();
  }
  EXPECT_EQ(inspector.bytes(), bytes);
}

TEST(Inspector, FindsForbiddenFields) {  // REQ-RD-030, REQ-RD-031
  const Case kCases[] = {
      {R"({"event":"tool.request","invocation_id":"i1","prompt":"x"})",
       {R"(field "prompt" at byte 46 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","PROMPT":"x"})",
       {R"(field "prompt" at byte 46 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","pro\u006dpt":"x"})",
       {R"(field "prompt" at byte 46 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","a":[{"prompt":1},{"prompt":2}]})",
       {R"(field "prompt" at byte 52 of the line, and 1 more)"}},
      {R"({"event":"x.mine","prompt":"x"})", {R"(field "prompt" at byte 19 of the line)"}},
      {R"({"event":"tool.request","prompt":)", {R"(field "prompt" at byte 25 of the line)"}},
      // A listed field that is forbidden by name.
      {R"({"event":"tool.request","invocation_id":"i1","requested_ref":"4"})",
       {R"(field "requested_ref" at byte 46 of the line)"}},
      // Prefixes: unlisted at top level, anything deeper.
      {R"({"event":"tool.request","invocation_id":"i1","x_debug":1})",
       {R"(field "x_*" at byte 46 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","resource_secret":1,"resource_id":"4"})",
       {R"(field "resource_*" at byte 46 of the line)"}},
      {R"({"event":"tool.request","invocation_id":"i1","a":{"resource_id":1}})",
       {R"(field "resource_*" at byte 51 of the line)"}},
      // Not keys.
      {R"({"event":"tool.request","invocation_id":"i1","tool":"prompt"})", {}},
      {R"({"event":"tool.request","invocation_id":"i1","a":"{\"prompt\":1}"})", {}},
      {R"({"event":"tool.request","invocation_id":"i1","prompts":"x","my_prompt":1})", {}},
      {R"({"event":"tool.request","invocation_id":"i1","resource_id":"4"})", {}},
  };
  Inspector inspector = inspector_of({}, {"prompt", "requested_ref", "x_*", "resource_*"});
  for (const Case& one : kCases) {
    EXPECT_EQ(observed(inspector, std::string(one.line)), one.observed) << one.line;
  }
  Inspector strict = inspector_of({}, {"*"});
  EXPECT_EQ(observed(strict, R"({"event":"tool.request","invocation_id":"i1","a":{"b":1}})"),
            Words{R"(field "*" at byte 46 of the line, and 1 more)"});
  EXPECT_EQ(observed(strict, R"({"event":"tool.request","invocation_id":"i1"})"), Words{});
  EXPECT_EQ(strict.bytes(), 0U);
}

TEST(FieldRules, AreRefused) {  // REQ-RD-032
  const struct {
    std::vector<std::string> names;
    std::string_view error;
  } kCases[] = {
      {{""}, "\"\": an empty name forbids nothing"},
      {{"a", "A"}, "\"A\": the name is given twice"},
      {{"a*b"}, "\"a*b\": a * stands at the end of a name only"},
      {{"**"}, "\"**\": a * stands at the end of a name only"},
  };
  for (const auto& [names, error] : kCases) {
    const Result<FieldRules> rules = FieldRules::make(names);
    ASSERT_FALSE(rules.has_value()) << error;
    EXPECT_EQ(rules.error().to_string(), error);
  }
  EXPECT_FALSE(FieldRules::make(std::vector<std::string>(1001, "a")).has_value());
}

TEST(Masks, HideTextsAndKeepThemApart) {  // REQ-RD-050, REQ-RD-051
  const Result<Scanner> scanner =
      Scanner::make({{"db", "s3cr3t-canary!", 1}, {"api", "k9-Zq!4w", 2}});
  Masks masks = std::move(Masks::make(*scanner)).value();
  std::vector<std::string> texts = {"b s3cr3t-canary!", "harmless", "a S3CR3T-CANARY!",
                                    "k9-Zq!4w",         "harmless", "b s3cr3t-canary!",
                                    "[canary db #1]"};
  for (const std::string& text : texts) masks.note(text);
  masks.settle();
  for (std::string& text : texts) masks.mask(text);
  EXPECT_EQ(texts, (Words{"[canary db #3]", "harmless", "[canary db #2]", "[canary api #1]",
                          "harmless", "[canary db #3]", "[canary db #1]"}));
  EXPECT_EQ(masks.shown_by("x k9-zq!4w x"), "api");
  EXPECT_EQ(masks.shown_by("nothing"), std::nullopt);
}

}  // namespace
}  // namespace remit::redaction
