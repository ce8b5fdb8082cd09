// Which arguments a schema names.
#include "policy/schema_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>

namespace remit::policy {
namespace {

std::string names(const char* schema) {
  const Result<json::Value> value = json::parse(schema);
  EXPECT_TRUE(value) << schema;
  return value ? fmt::format("{}", fmt::join(named_properties(*value), " ")) : "";
}

struct Case {
  const char* schema;
  const char* expected;
};

TEST(NamedProperties, FollowsWhatAppliesToTheSameObject) {
  const Case cases[] = {
      {R"({})", ""},
      {R"({"properties": {"b": {}, "a": {"properties": {"deep": {}}}}})", "a b"},
      {R"({"allOf": [{"properties": {"a": {}}}, {"anyOf": [{"properties": {"b": {}}}]}],
           "oneOf": [{"properties": {"c": {}}}], "not": {"properties": {"n": {}}}})",
       "a b c"},
      {R"({"if": {"properties": {"a": {}}}, "then": {"properties": {"b": {}}},
           "else": {"properties": {"c": {}}},
           "dependentSchemas": {"a": {"properties": {"d": {}}}}})",
       "a b c d"},
      {R"({"$ref": "#/$defs/args", "$defs": {"args": {"properties": {"a": {}}},
           "other": {"properties": {"x": {}}}}})",
       "a"},
      {R"({"$ref": "#", "properties": {"a": {}}})", "a"},
      {R"({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}],
           "properties": {"a": {}}}}})",
       "a"},
      {R"({"patternProperties": {"^a": {}}, "additionalProperties": true})", ""},
      {R"({"$ref": "#anchor", "$defs": {"x": {"$anchor": "anchor", "properties": {"a": {}}}}})",
       ""},
      {R"({"properties": 1, "allOf": 2, "if": 3, "$ref": 4, "dependentSchemas": 5})", ""},
  };
  for (const Case& each : cases) EXPECT_EQ(names(each.schema), each.expected) << each.schema;
}

TEST(NamesPointer, WalksPropertiesAndItems) {
  const Result<json::Value> schema = json::parse(R"({
      "properties": {"a": {"$ref": "#/$defs/node"}, "l": {"items": {"properties": {"x": {}}}},
                     "t": {"prefixItems": [{}, {"properties": {"y": {}}}]},
                     "o": {"items": [{}]}, "s/t~": {}, "": {}},
      "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}})");
  ASSERT_TRUE(schema);
  for (const char* const named :
       {"/a", "/a/next", "/a/next/next/next", "/l", "/l/7/x", "/t/1/y", "/o/0", "/s~1t~0", "/"}) {
    EXPECT_TRUE(names_pointer(*schema, named)) << named;
  }
  for (const char* const unnamed : {"", "a", "/b", "/a/x", "/l/x", "/l/07/x", "/l/-", "/t/2",
                                    "/o/1", "/s/t~", "/a/next/", "/99999999999999999999"}) {
    EXPECT_FALSE(names_pointer(*schema, unnamed)) << unnamed;
  }
}

}  // namespace
}  // namespace remit::policy
