// The decoder against a table of lines with their places, and against a deliberately naive twin on
// every prefix, every mutation and on random lines.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "event/event.h"
#include "event/naive_decoder.h"
#include "event/names.h"
#include "event/plain_reader.h"
#include "event/quotes.h"
#include "event/thorough_reader.h"

namespace remit::event {
namespace {

using naive::decode_naively;
using naive::print;

// A line in memory of exactly the promised size, so that a sanitizer sees any read beyond it.
class PaddedLine {
 public:
  PaddedLine(std::string_view line, std::string_view padding)
      : bytes_(std::make_unique<char[]>(line.size() + Decoder::kPadding)), size_(line.size()) {
    std::copy(line.begin(), line.end(), bytes_.get());
    for (std::size_t i = 0; i < Decoder::kPadding; ++i) {
      bytes_[size_ + i] = padding[i % padding.size()];
    }
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

// What stands behind a line must not matter: zeros, or whatever would go on with it.
constexpr std::string_view kPaddings[] = {std::string_view("\0", 1), "\"}", ",\"seq\":1}", "}",
                                          "1"};

// Decodes a line as one of many and expects the same of it as by itself.
void expect_same_among_lines(std::string_view line, const std::optional<std::string>& want,
                             Decoder& decoder) {
  if (line.find('\n') != std::string_view::npos) return;
  for (const std::string_view next : {"", "\n", "\n{\"x\":\"\\\xc3\x01"}) {
    const PaddedLine padded(std::string(line).append(next), "\"}");
    ASSERT_EQ(decoder.find_line(padded.view()), line.size());
    Event event;
    ASSERT_EQ(decoder.decode_found(event).has_value(), want.has_value()) << quoted(line, 2000);
    if (want) {
      ASSERT_EQ(print(event), *want) << quoted(line, 2000);
    }
    const bool has_escapes = line.find('\\') != std::string_view::npos;
    ASSERT_TRUE(decoder.has_own_texts() || !has_escapes);
  }
}

// Decodes by every way there is, and expects all to agree with the naive twin.
void expect_agreement(std::string_view line, Decoder& decoder) {
  const std::optional<std::string> want = decode_naively(std::string(line));
  Event event;
  for (const std::string_view padding : kPaddings) {
    const PaddedLine padded(line, padding);
    const Status status = decoder.decode(padded.view(), event);
    ASSERT_EQ(status.has_value(), want.has_value())
        << quoted(line, 2000) << (status ? std::string(" decodes") : status.error().to_string());
    if (status) {
      ASSERT_EQ(print(event), *want) << quoted(line, 2000);
    } else {
      ASSERT_EQ(status.error().code, ErrorCode::kInvalidInput);
      ASSERT_EQ(status.error().where.substr(0, 5), "byte ");
      ASSERT_LE(std::stoul(status.error().where.substr(5)), line.size());
    }
  }
  expect_same_among_lines(line, want, decoder);
  std::string_view text = line;
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  Scratch scratch;
  event.clear();
  ThoroughReader reader(text, scratch);
  ASSERT_EQ(reader.read(event), want.has_value()) << quoted(line, 2000);
  if (!want) return;
  ASSERT_EQ(print(event), *want) << quoted(line, 2000);
}

std::string encoded(const Event& event) {
  std::string line;
  encode(event, line);
  line.pop_back();
  return line;
}

std::string full_line() {
  Event event;
  event.kind = EventKind::kAuthorizationDecision;
  for (std::size_t i = 0; i < kTextFieldCount; ++i) {
    event.set(static_cast<Field>(i), std::string_view("value"));
  }
  event.set(Field::kTime, "2026-11-30T18:02:14.5Z");
  event.set(Field::kPrincipalState, "authenticated");
  event.set(Field::kApprovalState, "mismatched");
  event.set(Field::kMode, "shadow");
  for (std::size_t i = 0; i < kIntegerFieldCount; ++i) {
    event.set(static_cast<Field>(kTextFieldCount + i), static_cast<std::int64_t>(i + 1));
  }
  event.enforced = true;
  event.mark(Field::kEnforced);
  event.further_resources = {"Invoice:1", "Invoice:2"};
  event.mark(Field::kFurtherResources);
  event.determining_policies = {"p"};
  event.mark(Field::kDeterminingPolicies);
  return encoded(event);
}

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> lines = {
      R"({"event":"tool.request","invocation_id":"i1","tool":"invoice.read"})",
      R"({"event":"authorization.decision","invocation_id":"i1","tool":"invoice.read","resource_id":"canonical-invoice-4","decision":"allow","reason":"allowed","policy_version":"2026-08-04"})",
      R"({"event": "executor.start", "invocation_id": "i1", "seq": 12, "x": [1, {"seq": -1}]})",
      R"({"seq":1,"event":"executor.finish","invocation_id":"i","outcome":"?","duration_us":0})",
      R"({"event":"evidence.lost","events":-1,"cause":"c"})",
      R"({"event":"run.finished","events":7,"invocations":2,"time":"2026-11-30T18:02:14Z"})",
      R"({"event":"x.y","seq":5,"mode":"enforce","enforced":false})",
      R"({"event":"resource.resolved","invocation_id":"i","resource_id":null})",
      R"({"event":"approval.checked","invocation_id":"i","approval_state":"active"})",
      R"({"event":"authorization.decision","invocation_id":"i","principal_state":"expired","determining_policies":["a","b"],"further_resources":[]})",
      R"({"e\u0076ent":"tool.\u0072equest","invocation_id":"a\n\ud834\udd1e\"\\","u":"\ud834\udd1e"})",
      "{\"event\":\"run.started\",\"run_id\":\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\","
      "\"k\xc3\xa9\":1}",
      " \t{ \"event\" :\t\"x.a\" , \"run_id\" : \"i\" , \"a\":{\"b\":[ ],\"c\":{ }} } ",
      R"({"event":"tool.request","invocation_id":"i","a":{"a":1,"a":[[[{"x":null}]],true,-1.5e+3]},"a":2})",
      "{\"event\":\"queue.denied\",\"invocation_id\":\"i\",\"attempt\":3,\"queue\":\"q\"}\r",
      R"({"event":"tool.\u0072equest","invocation_id":"\"","mode":"\u0065nforce","seq":3,"u":"\\\\"})",
      R"({"event":"authorization.decision","invocation_id":"i\\","principal_state":"expire\u0064","determining_policies":["a","\n"]})",
      R"({"event":"run.started","a":"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"\\\\\\\"","tool":"\""})",
      full_line(),
  };
  return lines;
}

TEST(Decoder, AcceptsItsCorpus) {
  Decoder decoder;
  for (const std::string& line : corpus()) {
    EXPECT_TRUE(decode_naively(line)) << line;
    expect_agreement(line, decoder);
  }
}

// The comparison can fail: a decoder that refuses everything does not pass for a good one.
TEST(Decoder, TheComparisonSeesAWrongDecoder) {
  static Decoder wrong;
  wrong.max_line_bytes = 1;
  EXPECT_FATAL_FAILURE(expect_agreement(corpus()[0], wrong), "tool.request");
}

// The fast reader reads what writers write; losing that would be silent otherwise.
TEST(Decoder, TheFastReaderReadsWhatWeWrite) {
  const auto is_read_fast = [](const std::string& line) {
    const PaddedLine padded(line, "\n");
    std::vector<std::uint32_t> quotes(line.size() + kScanPadding);
    const QuoteScan scan = fastest_find_quotes()(padded.view(), quotes.data());
    std::fill_n(quotes.begin() + static_cast<std::ptrdiff_t>(scan.count), 4,
                static_cast<std::uint32_t>(line.size()));
    Event event;
    KeyOrder order;
    Scratch scratch;
    scratch.text.reserve(line.size());
    const Escapes escapes = scan.has_escapes ? Escapes::kSome : Escapes::kNone;
    return !scan.has_controls &&
           read_plain(padded.view(), quotes.data(), escapes, order, scratch, event);
  };
  EXPECT_TRUE(is_read_fast(full_line()));
  EXPECT_TRUE(is_read_fast(corpus()[0]));
  EXPECT_TRUE(is_read_fast(corpus()[2]));
  EXPECT_TRUE(is_read_fast(corpus()[11]));
  EXPECT_TRUE(is_read_fast(R"({"event":"tool.request","invocation_id":"\"i\\\u00e9"})"));
  EXPECT_FALSE(is_read_fast(corpus()[10]));  // escapes in a key
}

TEST(Decoder, AgreesWithTheNaiveOneOnEveryPrefix) {
  Decoder decoder;
  for (const std::string& line : corpus()) {
    for (std::size_t length = 0; length <= line.size(); ++length) {
      ASSERT_NO_FATAL_FAILURE(expect_agreement(line.substr(0, length), decoder));
    }
  }
}

TEST(Decoder, AgreesWithTheNaiveOneOnEveryMutation) {
  Decoder decoder;
  // With the zero at its end.
  constexpr char kTelling[] = "\"\\{}[]:,0-.1eEtn \t\n\r\0\x1f\x7f\x80\xc3\xff_ax";
  for (const std::string& line : corpus()) {
    if (line.size() > 300) continue;
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (const char byte : kTelling) {
        std::string changed = line;
        changed[at] = byte;
        ASSERT_NO_FATAL_FAILURE(expect_agreement(changed, decoder));
      }
      std::string without = line;
      without.erase(at, 1);
      ASSERT_NO_FATAL_FAILURE(expect_agreement(without, decoder));
      std::string doubled = line;
      doubled.insert(at, 1, line[at]);
      ASSERT_NO_FATAL_FAILURE(expect_agreement(doubled, decoder));
    }
  }
}

// Lines put together at random from keys and values, right and wrong.
TEST(Decoder, AgreesWithTheNaiveOneOnRandomLines) {
  std::mt19937 random(4711);
  const auto pick = [&](const auto& list) -> const auto& {
    return list[std::uniform_int_distribution<std::size_t>(0, std::size(list) - 1)(random)];
  };
  const std::string values[] = {"\"v\"",
                                "\"v\"",
                                "\"v\"",
                                "\"\"",
                                "1",
                                "0",
                                "-1",
                                "1.0",
                                "-0",
                                "01",
                                "9007199254740991",
                                "9007199254740992",
                                "123456789012345",
                                "1234567890123456",
                                "99999999999999999999",
                                "null",
                                "true",
                                "false",
                                "[]",
                                "[\"a\"]",
                                "[\"a\",\"b\"]",
                                "[\"a\", \"b\"]",
                                "[1]",
                                "{}",
                                "{\"seq\":\"x\"}",
                                "\"2026-11-30T18:02:14Z\"",
                                "\"2026-02-30T18:02:14Z\"",
                                "\"authenticated\"",
                                "\"active\"",
                                "\"enforce\"",
                                "\"\\u0041\"",
                                "\"\xc3\xa9\"",
                                "\"tool.request\"",
                                "[[[]]]",
                                "1e5",
                                "nul",
                                "\"a\"b\""};
  const std::string spaces[] = {"", "", "", "", " ", "  ", "\t"};
  const std::string kinds[] = {"tool.request",   "run.started", "x.other", "evidence.lost",
                               "executor.start", "tool.reques", "x",       ""};
  Decoder decoder;
  std::size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = "{\"event\":\"" + pick(kinds) + "\"";
    if (random() % 4 != 0) line += ",\"invocation_id\":\"i\"";
    for (std::size_t members = random() % 4; members > 0; --members) {
      const bool is_known = random() % 3 != 0;
      const std::string key = is_known ? std::string(pick(kKeyNames)) : "k" + pick(kinds);
      line += pick(spaces) + "," + pick(spaces) + "\"" + key + "\"" + pick(spaces) + ":" +
              pick(spaces) + pick(values);
    }
    line += pick(spaces) + "}" + pick(spaces);
    ASSERT_NO_FATAL_FAILURE(expect_agreement(line, decoder));
    accepted += decode_naively(line).has_value() ? 1U : 0U;
  }
  EXPECT_GT(accepted, 2000U);  // the comparison is of both kinds of line
  EXPECT_LT(accepted, 18'000U);
}

TEST(Decoder, RefusesWithThePlace) {
  const struct {
    std::string line;
    const char* where;
    const char* message;  // a part of it
  } kCases[] = {
      {"", "byte 0", "cut short"},
      {"[]", "byte 0", "not a JSON object"},
      {"\xef\xbb\xbf{}", "byte 0", "byte order mark"},
      {"{}", "byte 0", "event: is missing"},
      {R"({"tool":"t"})", "byte 0", "event: is missing"},
      {R"({"event":"tool.request"})", "byte 0", "invocation_id: is missing"},
      {R"({"event":"tool.request","invocation_id":""})", "byte 40", "invocation_id: is empty"},
      {R"({"event":"tool.requests","invocation_id":"i"})", "byte 9", "not the name of an event"},
      {R"({"event":"x","invocation_id":"i"})", "byte 9", "not the name of an event"},
      {R"({"event":1})", "byte 9", "event: is not a string"},
      {R"({"event":"run.started","event":"run.started"})", "byte 23", "event: is given twice"},
      {R"({"event":"run.started","seq":1,"seq":1})", "byte 31", "seq: is given twice"},
      {R"({"event":"run.started","s\u0065q":1,"seq":1})", "byte 36", "seq: is given twice"},
      {R"({"event":"run.started","seq":1.0})", "byte 29", "seq: is not an integer"},
      {R"({"event":"run.started","seq":1e0})", "byte 29", "seq: is not an integer"},
      {R"({"event":"run.started","seq":"1"})", "byte 29", "seq: is not an integer"},
      {R"({"event":"run.started","seq":0})", "byte 29", "seq: is too small"},
      {R"({"event":"run.started","effects":-1})", "byte 33", "effects: is too small"},
      {R"({"event":"run.finished","events":-1})", "byte 0", "events: is negative"},
      {R"({"event":"run.started","seq":9007199254740992})", "byte 29", "2^53"},
      {R"({"event":"run.started","tool":null})", "byte 30", "tool: is not a string"},
      {R"({"event":"run.started","seq":null})", "byte 29", "seq: is not an integer"},
      {R"({"event":"run.started","enforced":"true"})", "byte 34", "enforced: is not true or false"},
      {R"({"event":"run.started","further_resources":"a"})", "byte 43", "list of strings"},
      {R"({"event":"run.started","further_resources":["a",1]})", "byte 48", "list of strings"},
      {R"({"event":"run.started","mode":"Enforce"})", "byte 30", "mode: is none of"},
      {R"({"event":"run.started","principal_state":""})", "byte 41", "principal_state: is none of"},
      {R"({"event":"run.started","approval_state":"x"})", "byte 40", "approval_state: is none of"},
      {R"({"event":"run.started","time":"yesterday"})", "byte 30", "time: is not an RFC 3339"},
      {R"({"event":"run.started","time":"2026-11-30T12:00:00+00:00"})", "byte 30",
       "time: is not in UTC: it must end in Z, not in an offset"},
      {R"({"event":"run.started","time":"2026-11-30T12:00:00.5-07:30"})", "byte 30", "end in Z"},
      {R"({"event":"run.started","time":"2026-11-30T12:00:00"})", "byte 30", "end in Z"},
      {R"({"event":"run.started","time":"2026-11-30"})", "byte 30", "such as"},
      {R"({"event":"tool_request","invocation_id":"i"})", "byte 9",
       "event: is not the name of an event; did you mean tool.request?"},
      {R"({"event":"executor.started","invocation_id":"i"})", "byte 9", "mean executor.start?"},
      {R"({"event":"tool.request","invocationId":"i"})", "byte 24",
       "invocation_id: is missing; is it meant by \"invocationId\"?"},
      {R"({"event":"tool.request","a":1,"invokation_id":"i"})", "byte 30", "by \"invokation_id\"?"},
      {R"({"Event":"tool.request"})", "byte 1", "event: is missing; is it meant by \"Event\"?"},
      {R"({"event":"run.started","mode":"on"})", "byte 30", "mode: is none of enforce, shadow"},
      {R"({"event":"run.started","a":"\ud800"})", "byte 28", "lone surrogate"},
      {R"({"event":"run.started","a":"\x"})", "byte 28", "unknown escape"},
      {"{\"event\":\"run.started\",\"a\":\"b\xff\"}", "byte 29", "invalid UTF-8"},
      {"{\"event\":\"run.started\",\"a\":\"b\n\"}", "byte 29", "control character"},
      {R"({"event":"run.started","a":{"b":[1,}}})", "byte 35", "expected a value"},
      {R"({"event":"run.started","a":{"b" 1}})", "byte 32", "expected `:`"},
      {R"({"event":"run.started","a":01})", "byte 27", "leading zero"},
      {R"({"event":"run.started","a":[1}})", "byte 29", "expected `,` or `]`"},
      {R"({"event":"run.started",})", "byte 23", "expected a key"},
      {R"({"event":"run.started"}})", "byte 23", "text after the end"},
      {R"({"event":"run.started"} {})", "byte 24", "text after the end"},
      {R"({"event":"run.started","tool":"inv)", "byte 34", "cut short"},
      {R"({"event":"run.started","a":[[[)", "byte 30", "cut short"},
  };
  Decoder decoder;
  for (const auto& c : kCases) {
    const PaddedLine padded(c.line, "\n");
    Event event;
    const Status status = decoder.decode(padded.view(), event);
    ASSERT_FALSE(status) << c.line;
    EXPECT_EQ(status.error().where, c.where) << c.line << ' ' << status.error().message;
    EXPECT_NE(status.error().message.find(c.message), std::string::npos)
        << c.line << ": " << status.error().message;
  }
}

// REQ-EV-005 for each known field, in each of the two readers: compact lines are read fast, and a
// tab sends a line to the complete reader.
TEST(Decoder, RefusesEveryKnownFieldGivenTwice) {
  Decoder decoder;
  Event event;
  for (const std::string_view key : kKeyNames) {
    const std::string values[] = {
        "\"v\"",       "1",          "true",           "[]", "\"2026-11-30T18:02:14Z\"",
        "\"expired\"", "\"shadow\"", "\"run.started\""};
    std::size_t taken = 0;
    for (const std::string& value : values) {
      const std::string member = "\"" + std::string(key) + "\":" + value;
      const std::string start = key == "event" ? "{" : "{\"event\":\"run.started\",";
      if (!decoder.decode(PaddedLine(start + member + "}", "\n").view(), event)) continue;
      ++taken;
      for (const char* comma : {",", ",\t"}) {
        const PaddedLine twice(start + member + comma + member + "}", "\n");
        const Status status = decoder.decode(twice.view(), event);
        ASSERT_FALSE(status) << twice.view();
        EXPECT_EQ(status.error().message, std::string(key) + ": is given twice");
      }
    }
    EXPECT_GE(taken, 1U) << key;
  }
}

// Values of a line never enter a message: a report is printed where the evidence is not.
TEST(Decoder, MessagesHoldNoValues) {
  Decoder decoder;
  for (const char* line : {R"({"event":"hunter2"})", R"({"event":"run.started","mode":"hunter2"})",
                           R"({"event":"run.started","time":"hunter2"})", R"({"hunter2":"\x"})",
                           R"({"event":"run.started","seq":"hunter2"})"}) {
    const PaddedLine padded(line, "\n");
    Event event;
    const Status status = decoder.decode(padded.view(), event);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().to_string().find("hunter2"), std::string::npos);
  }
}

TEST(Decoder, HoldsTheLineLimit) {
  Decoder decoder;
  Event event;
  const std::string start = R"({"event":"run.started","a":")";
  const std::string fits = start + std::string(kMaxEventLineBytes - start.size() - 2, 'a') + "\"}";
  EXPECT_TRUE(decoder.decode(PaddedLine(fits, "\n").view(), event));
  const PaddedLine over(fits + " ", "\n");
  const Status status = decoder.decode(over.view(), event);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(status.error().where, "byte 1048576");
  decoder.max_line_bytes = 10;
  EXPECT_FALSE(decoder.decode(PaddedLine(corpus()[0], "\n").view(), event));
}

// Depth is bounded by the line alone, and quotation marks may stand as densely as they like.
TEST(Decoder, TakesHostileLinesWithinTheLimit) {
  Decoder decoder;
  Event event;
  const std::size_t depth = 500'000;
  const std::string deep =
      R"({"event":"run.started","a":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  EXPECT_TRUE(decoder.decode(PaddedLine(deep, "\n").view(), event));
  std::string dense = R"({"event":"run.started")";
  for (int i = 0; i < 100'000; ++i) dense += ",\"\":\"\"";
  dense += "}";
  EXPECT_TRUE(decoder.decode(PaddedLine(dense, "\n").view(), event));
  EXPECT_EQ(event.ignored_fields, 100'000U);
  EXPECT_FALSE(decoder.decode(PaddedLine(std::string(1000, '"'), "\"").view(), event));
}

// An event that is reused holds nothing of the line before.
TEST(Decoder, ClearsTheEvent) {
  Decoder decoder;
  Event event;
  ASSERT_TRUE(decoder.decode(PaddedLine(full_line(), "\n").view(), event));
  ASSERT_TRUE(decoder.decode(PaddedLine(R"({"event":"x.a"})", "\n").view(), event));
  EXPECT_EQ(print(event), "x.\n0");
}

TEST(Decoder, TextWithEscapesStaysPutUntilTheNextLine) {
  Decoder decoder;
  Event event;
  std::string line = R"({"event":"tool.request","invocation_id":"\u0069-1","tool":")";
  for (int i = 0; i < 2000; ++i) line += "\\u00e9";
  line += R"(","route":"\"q\""})";
  const PaddedLine padded(line, "\n");
  ASSERT_TRUE(decoder.decode(padded.view(), event));
  EXPECT_EQ(event.text(Field::kInvocationId), "i-1");
  EXPECT_EQ(event.text(Field::kTool).size(), 4000U);
  EXPECT_EQ(event.text(Field::kRoute), "\"q\"");
}

TEST(Quotes, EveryWayFindsTheSame) {
  std::mt19937 random(99);
  const std::string alphabet("\"\"\"\\\\\\\x1f\x20\x7f\x80\xff\0", 12);
  for (int round = 0; round < 20'000; ++round) {
    std::string line(random() % 200, 'x');
    // Mostly ordinary bytes; in a third of the lines dense quotation marks, in a third backslashes.
    for (char& c : line) {
      const std::string_view from = round % 3 == 0   ? std::string_view("\"")
                                    : round % 3 == 1 ? std::string_view("\\\\\\\"")
                                                     : std::string_view(alphabet);
      if (random() % 3 == 0) c = from[random() % from.size()];
    }
    std::vector<std::uint32_t> want;
    bool is_escaped = false;
    bool has_controls = false;
    bool has_escapes = false;
    bool is_ascii = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto byte = static_cast<unsigned char>(line[i]);
      if (byte == '"' && !is_escaped) want.push_back(static_cast<std::uint32_t>(i));
      is_escaped = byte == '\\' && !is_escaped;
      has_controls |= byte < 0x20;
      has_escapes |= byte == '\\';
      is_ascii &= byte < 0x80;
    }
    for (const std::string_view padding : {"\"", "\\", "\xff"}) {
      const PaddedLine padded(line, padding);
      for (const QuoteFinders& find : quote_finders()) {
        std::vector<std::uint32_t> offsets(line.size() + kScanPadding);
        const QuoteScan scan = find.quotes(padded.view(), offsets.data());
        offsets.resize(scan.count);
        ASSERT_EQ(offsets, want);
        ASSERT_EQ(scan.has_controls, has_controls);
        ASSERT_EQ(scan.has_escapes, has_escapes);
        ASSERT_EQ(scan.is_ascii, is_ascii);
      }
      const PaddedLine lines(line + "\n\"" + line, padding);
      for (const QuoteFinders& find : quote_finders()) {
        std::vector<std::uint32_t> offsets(lines.view().size() + kScanPadding);
        const QuoteScan scan = find.line(lines.view(), offsets.data());
        offsets.resize(scan.count);
        ASSERT_EQ(offsets, want);
        ASSERT_EQ(scan.length, line.size());
        ASSERT_EQ(scan.has_controls, has_controls);
        ASSERT_GE(scan.has_escapes, has_escapes);
        ASSERT_LE(scan.is_ascii, is_ascii);
      }
    }
  }
}

}  // namespace
}  // namespace remit::event
