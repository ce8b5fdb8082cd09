// JSON Schema: what matches, what does not and where, and which schemas are refused.
#include "json/schema.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace remit::json {
namespace {

Value parsed(std::string_view text) {
  Result<Value> value = parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

std::string told(const SchemaMismatch& mismatch) {
  return mismatch.instance_pointer + " " + mismatch.keyword +
         (mismatch.property.empty() ? "" : " " + mismatch.property);
}

struct ValidationCase {
  std::string_view schema;
  std::string_view instance;
  std::string_view first;  ///< the first mismatch as `told`, or empty
};

TEST(Schema, TellsPlacesAndKeywordsButNoValues) {
  const std::vector<ValidationCase> cases = {
      {R"({"type":"object"})", R"({})", ""},
      {R"({"type":"object"})", R"([])", " type"},
      {R"({"required":["invoice"]})", R"({})", " required invoice"},
      {R"({"properties":{"a/b":{"minimum":3}}})", R"({"a/b":2})", "/a~1b minimum"},
      {R"({"additionalProperties":false,"properties":{}})", R"({"x":"secret"})",
       " additionalProperties x"},
      {R"({"items":{"enum":["a","b"]}})", R"(["a","secret"])", "/1 enum"},
      {R"({"pattern":"^inv-[0-9]+$"})", R"("inv-12")", ""},
      {R"({"pattern":"^inv-[0-9]+$"})", R"("inv-x")", " pattern"},
      {R"({"$defs":{"id":{"maxLength":3}},"$ref":"#/$defs/id"})", R"("four")", " maxLength"},
      {R"({"$schema":"http://json-schema.org/draft-07/schema#","const":1})", "2", " const"},
      {R"({"multipleOf":0.01})", "1.25", ""},
      {"true", "1", ""},
      {"false", "1", " falseSchema"},
  };
  for (const ValidationCase& c : cases) {
    Result<Schema> schema = Schema::compile(parsed(c.schema));
    ASSERT_TRUE(schema.has_value()) << c.schema << ": " << schema.error().to_string();
    Result<std::vector<SchemaMismatch>> found = schema->validate(parsed(c.instance));
    ASSERT_TRUE(found.has_value()) << c.schema;
    EXPECT_EQ(found->empty() ? "" : told(found->front()), c.first) << c.schema << " " << c.instance;
  }
}

struct RefusalCase {
  std::string_view schema;
  ErrorCode code;
  std::string_view where;
};

TEST(Schema, RefusesBadSchemasWithTheirPlace) {
  const std::vector<RefusalCase> cases = {
      {R"({"type":"strange"})", ErrorCode::kInvalidInput, "/type"},
      {R"({"properties":{"a":{"minLength":-1}}})", ErrorCode::kInvalidInput,
       "/properties/a/minLength"},
      {"3", ErrorCode::kInvalidInput, ""},
      {R"({"pattern":"(a)\\1"})", ErrorCode::kInvalidInput, "/pattern"},
      {R"({"$ref":"https://example.com/s.json"})", ErrorCode::kUnsupported, ""},
      {R"({"$ref":"#/nowhere"})", ErrorCode::kUnsupported, ""},
      {R"({"$ref":"#"})", ErrorCode::kUnsupported, ""},
      {R"({"$schema":"urn:mine"})", ErrorCode::kUnsupported, "/$schema"},
  };
  for (const RefusalCase& c : cases) {
    Result<Schema> schema = Schema::compile(parsed(c.schema));
    ASSERT_FALSE(schema.has_value()) << c.schema;
    EXPECT_EQ(schema.error().code, c.code) << c.schema << " " << schema.error().to_string();
    EXPECT_EQ(schema.error().where, c.where) << c.schema;
  }
}

TEST(Schema, RefusesAValueThatWouldTakeTooLong) {
  Result<Schema> schema = Schema::compile(
      parsed(R"({"allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]})"));
  ASSERT_TRUE(schema.has_value());
  Value deep(1);
  for (int i = 0; i < 60; ++i) deep = Value(Object{{"x", deep}});
  Result<std::vector<SchemaMismatch>> found = schema->validate(deep);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kLimitExceeded);
}

TEST(Schema, IsSharedByThreads) {
  Result<Schema> schema = Schema::compile(parsed(R"({"required":["a"]})"));
  ASSERT_TRUE(schema.has_value());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = *schema, &count = wrong[static_cast<std::size_t>(t)], t] {
      const Value instance = t % 2 == 0 ? Value(Object{{"a", 1}}) : Value(Object{});
      for (int i = 0; i < 500; ++i) {
        auto found = copy.validate(instance);
        if (!found || found->empty() != (t % 2 == 0)) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace remit::json
