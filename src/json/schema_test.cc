// JSON Schema through the wrapper: drafts, refusals, mismatches without values, and the public
// suite.
#include "json/schema.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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
}

TEST(Schema, RefusesWhatItMustNotRun) {
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

// One file of the public suite; returns how many of its tests were judged.
std::size_t run_suite_file(const std::filesystem::path& path, std::string_view draft) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<Value> groups = parse(text);
  if (!groups) return 0;  // numbers that do not survive
  std::size_t judged = 0;
  for (const Value& group : *groups->if_array()) {
    Value rules = *group.find("schema");
    if (Object* object = rules.if_object();
        object != nullptr && object->find("$schema") == nullptr) {
      object->set("$schema", draft);
    }
    const Result<Schema> schema = Schema::compile(rules);
    if (!schema) {  // refused on purpose, never by a defect
      EXPECT_NE(schema.error().code, ErrorCode::kInternal) << path;
      continue;
    }
    for (const Value& test : *group.find("tests")->if_array()) {
      const Result<std::vector<SchemaMismatch>> found = schema->validate(*test.find("data"));
      if (!found) continue;
      EXPECT_EQ(found->empty(), *test.find("valid")->if_bool())
          << path << ": " << *group.find("description")->if_string() << ": "
          << *test.find("description")->if_string();
      ++judged;
    }
  }
  return judged;
}

// A schema that compiles here judges as the public suite says. What we refuse (references out of
// the document, patterns beyond linear time) is no part of the claim, and counted.
TEST(Schema, AgreesWithThePublicSuite) {
  const char* shared = std::getenv("REMIT_SHARED_DATA");
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  const std::filesystem::path root =
      shared != nullptr
          ? shared
          : std::filesystem::path(source != nullptr ? source : ".") / "../shared/data";
  if (!std::filesystem::is_directory(root)) {
    std::puts("not run, no shared data");
    return;
  }
  const struct {
    const char* folder;
    const char* draft;
    std::size_t least;
  } kSuites[] = {
      {"draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1100},
      {"draft7", "http://json-schema.org/draft-07/schema#", 800},
  };
  for (const auto& suite : kSuites) {
    std::size_t judged = 0;
    const auto folder = root / "json-schema-test-suite" / "tests" / suite.folder;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) judged += run_suite_file(entry.path(), suite.draft);
    }
    std::printf("%s: %zu tests judged\n", suite.folder, judged);
    EXPECT_GE(judged, suite.least) << suite.folder;
  }
}

}  // namespace
}  // namespace remit::json
