// Objects and pointers.
#include "json/value.h"

#include <gtest/gtest.h>

namespace remit::json {
namespace {

TEST(Object, KeepsOrderAndUniqueKeys) {
  Object object{{"b", 1}, {"a", 2}, {"b", 3}};
  EXPECT_EQ(object.size(), 2U);
  EXPECT_EQ(write(Value(object)), R"({"b":3,"a":2})");
  object.set("c", "x");
  EXPECT_TRUE(object.erase("b"));
  EXPECT_FALSE(object.erase("b"));
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_EQ(write(Value(object)), R"({"a":2,"c":"x"})");
}

TEST(Object, IsComparedInOrder) {
  EXPECT_EQ((Object{{"a", 1}, {"b", 2}}), (Object{{"a", 1}, {"b", 2}}));
  EXPECT_FALSE((Object{{"a", 1}, {"b", 2}}) == (Object{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE(Value(1) == Value(1.0));
}

// The examples of RFC 6901 section 5, and what is no pointer.
TEST(Value, PointersOfRfc6901) {
  const Result<Value> document = parse(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,)"
                                       R"("e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  ASSERT_TRUE(document);
  const struct {
    const char* pointer;
    const char* want;  // null: names nothing
  } kCases[] = {
      {"/foo", R"(["bar","baz"])"},
      {"/foo/0", R"("bar")"},
      {"/foo/1", R"("baz")"},
      {"/", "0"},
      {"/a~1b", "1"},
      {"/c%d", "2"},
      {"/e^f", "3"},
      {"/g|h", "4"},
      {"/i\\j", "5"},
      {"/k\"l", "6"},
      {"/ ", "7"},
      {"/m~0n", "8"},
      {"foo", nullptr},
      {"/foo/2", nullptr},
      {"/foo/-", nullptr},
      {"/foo/00", nullptr},
      {"/foo/01", nullptr},
      {"/foo/+1", nullptr},
      {"/foo/", nullptr},
      {"/foo/99999999999999999999", nullptr},
      {"/foo/0/x", nullptr},
      {"/m~n", nullptr},
      {"/m~2n", nullptr},
      {"/m~", nullptr},
      {"//", nullptr},
  };
  for (const auto& c : kCases) {
    const Value* found = document->at_pointer(c.pointer);
    ASSERT_EQ(found == nullptr, c.want == nullptr) << c.pointer;
    if (found == nullptr) continue;
    EXPECT_EQ(write(*found), c.want) << c.pointer;
  }
  EXPECT_EQ(document->at_pointer(""), &*document);
}

TEST(Value, PointersToMembersReachThem) {
  Value value = Object{{"a", Object{}}};
  for (const std::string_view name : {"b", "", "/", "~", "~1", "a/b~c", "\xC3\xA9"}) {
    value.at_pointer("/a")->if_object()->set(std::string(name), std::string(name));
    const Value* found = value.at_pointer(pointer_to("/a", name));
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(*found, Value(std::string(name)));
  }
}

TEST(Value, PointersReachMutableParts) {
  Value value = Object{{"a", Array{1, Object{{"b", 2}}}}};
  Value* inner = value.at_pointer("/a/1");
  ASSERT_NE(inner, nullptr);
  ASSERT_NE(inner->if_object(), nullptr);
  inner->if_object()->set("b", "changed");
  EXPECT_EQ(write(value), R"({"a":[1,{"b":"changed"}]})");
}

}  // namespace
}  // namespace remit::json
