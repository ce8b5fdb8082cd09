// JSON Schema through the wrapper: drafts, refusals, mismatches without values.
#include "json/schema.h"

#include <gtest/gtest.h>

#include <thread>

namespace remit::json {
namespace {

Value json(std::string_view text) {
  Result<Value> value = parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

Schema compiled(std::string_view text) {
  Result<Schema> schema = Schema::compile(json(text));
  EXPECT_TRUE(schema) << text << (schema ? "" : schema.error().to_string());
  return *std::move(schema);
}

TEST(Schema, NamesPlacesAndProperties) {
  const Schema schema = compiled(R"({
    "type":"object","required":["invoice","amount"],"additionalProperties":false,
    "properties":{"invoice":{"type":"string","pattern":"^inv-[0-9]+$"},
                  "amount":{"type":"integer","minimum":1},
                  "lines":{"type":"array","items":{"type":"string","maxLength":3}}}})");
  const struct {
    const char* instance;
    const char* want;  // pointer keyword property, each mismatch in its own brackets
  } kCases[] = {
      {R"({"invoice":"inv-4","amount":3})", ""},
      {R"({"invoice":"inv-4"})", "[ required amount]"},
      {R"({"invoice":"inv-4","amount":3,"secret":1})", "[ additionalProperties secret]"},
      {R"({"invoice":"x","amount":3})", "[/invoice pattern ]"},
      {R"({"invoice":"inv-4","amount":0})", "[/amount minimum ]"},
      {R"({"invoice":"inv-4","amount":1.5})", "[/amount type ]"},
      {R"({"invoice":"inv-4","amount":1.0})", ""},
      {R"({"invoice":"inv-4","amount":1,"lines":["abc","abcd"]})", "[/lines/1 maxLength ]"},
      {"[]", "[ type ]"},
  };
  for (const auto& c : kCases) {
    const Result<std::vector<SchemaMismatch>> found = schema.validate(json(c.instance));
    ASSERT_TRUE(found) << c.instance;
    std::string got;
    for (const SchemaMismatch& mismatch : *found) {
      got +=
          "[" + mismatch.instance_pointer + " " + mismatch.keyword + " " + mismatch.property + "]";
    }
    EXPECT_EQ(got, c.want) << c.instance;
  }
}

TEST(Schema, MismatchesHoldNoValues) {
  const Schema schema = compiled(
      R"({"properties":{"a":{"type":"integer"},"b":{"enum":["x"]},"c":{"const":1},
          "d":{"pattern":"^z"},"e":{"format":"date"},"f":{"not":{}},
          "g":{"items":{"type":"null"}}}})");
  const Result<std::vector<SchemaMismatch>> found = schema.validate(json(
      R"({"a":"hunter2","b":"hunter2","c":"hunter2","d":"hunter2","f":"hunter2","g":["hunter2"]})"));
  ASSERT_TRUE(found);
  EXPECT_GE(found->size(), 6U);
  for (const SchemaMismatch& mismatch : *found) {
    for (const std::string& part :
         {mismatch.instance_pointer, mismatch.keyword, mismatch.property}) {
      EXPECT_EQ(part.find("hunter2"), std::string::npos);
    }
  }
}

TEST(Schema, GivesAtMostSixteenMismatches) {
  const Schema schema = compiled(R"({"items":{"type":"string"}})");
  const Result<std::vector<SchemaMismatch>> found = schema.validate(Array(100, Value(1)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 16U);
}

// Where drafts differ, the declared one rules, and 2020-12 without a declaration.
TEST(Schema, TheDraftIsTheDeclaredOne) {
  const Value pair = json(R"(["x",1])");
  const Schema draft7 = compiled(
      R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{"type":"string"}]})");
  EXPECT_EQ(draft7.validate(pair)->size(), 1U);
  const Schema latest = compiled(R"({"prefixItems":[{"type":"string"},{"type":"string"}]})");
  EXPECT_EQ(latest.validate(pair)->size(), 1U);
  const Schema ignored = compiled(
      R"({"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{"type":"null"}]})");
  EXPECT_TRUE(ignored.validate(pair)->empty());
  // `format` asserts in drafts 4 to 7 and is an annotation since 2019-09.
  const Value date = json(R"("tomorrow")");
  const Schema asserted =
      compiled(R"({"$schema":"http://json-schema.org/draft-07/schema#","format":"date"})");
  EXPECT_EQ(asserted.validate(date)->size(), 1U);
  EXPECT_TRUE(compiled(R"({"format":"date"})").validate(date)->empty());
}

TEST(Schema, RefusesWhatItMustNotRun) {  // REQ-BN-013
  const struct {
    const char* schema;
    ErrorCode code;
    const char* where;
  } kCases[] = {
      {R"({"type":"nonsense"})", ErrorCode::kInvalidInput, "/type"},
      {R"({"properties":{"a":{"minimum":"1"}}})", ErrorCode::kInvalidInput,
       "/properties/a/minimum"},
      {"3", ErrorCode::kInvalidInput, ""},
      {R"({"$ref":"https://example.com/other.json"})", ErrorCode::kUnsupported, nullptr},
      {R"({"properties":{"a":{"$ref":"file:///etc/passwd"}}})", ErrorCode::kUnsupported, nullptr},
      {R"({"$schema":"https://example.com/my-draft"})", ErrorCode::kUnsupported, "/$schema"},
      {R"({"$ref":"#"})", ErrorCode::kUnsupported, nullptr},
      {R"({"$defs":{"a":{"$id":"https://example.com/a"}}})", ErrorCode::kUnsupported, nullptr},
      {R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})", ErrorCode::kUnsupported, nullptr},
      {R"({"pattern":"(?=a)b"})", ErrorCode::kInvalidInput, nullptr},
      {R"({"pattern":"(a)\\1"})", ErrorCode::kInvalidInput, nullptr},
      {R"({"pattern":"("})", ErrorCode::kInvalidInput, nullptr},
  };
  for (const auto& c : kCases) {
    const Result<Schema> schema = Schema::compile(json(c.schema));
    ASSERT_FALSE(schema) << c.schema;
    EXPECT_EQ(schema.error().code, c.code) << c.schema << schema.error().to_string();
    if (c.where == nullptr) continue;
    EXPECT_EQ(schema.error().where, c.where) << c.schema << schema.error().to_string();
  }
}

// The pattern that takes a backtracking matcher longer than the world has.
TEST(Schema, PatternsRunInLinearTime) {
  const Schema schema = compiled(R"({"pattern":"^(a+)+$"})");
  const Result<std::vector<SchemaMismatch>> found =
      schema.validate(std::string(100'000, 'a') + "b");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1U);
}

// Whoever publishes a schema names it, and may use the name.
TEST(Schema, AReferenceMayNameItsOwnDocument) {  // REQ-BN-013
  const Schema schema = compiled(
      R"({"$id":"https://example.com/s","$defs":{"n":{"type":"integer"}},
          "properties":{"n":{"$ref":"https://example.com/s#/$defs/n"},
                        "kid":{"$ref":"https://example.com/s"}}})");
  EXPECT_TRUE(schema.validate(json(R"({"kid":{"n":1}})"))->empty());
  EXPECT_EQ(schema.validate(json(R"({"kid":{"n":"x"}})"))->size(), 1U);
}

TEST(Schema, AValueThatNestsTooDeepIsAnErrorAndNoMatch) {
  const Schema schema = compiled(R"({"properties":{"x":{"$ref":"#"}}})");
  Value deep = 1;
  for (int i = 0; i < 100; ++i) deep = Value(Object{{"x", deep}});
  const Result<std::vector<SchemaMismatch>> found = schema.validate(deep);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kLimitExceeded);
}

TEST(Schema, OneSchemaServesManyThreads) {
  const Schema schema = compiled(R"({"type":"integer"})");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([copy = schema, &count = wrong[i]] {
      for (int round = 0; round < 500; ++round) {
        const bool matches = copy.validate(Value(round))->empty();
        const bool mismatches = !copy.validate(Value("x"))->empty();
        count += matches && mismatches ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace remit::json
