// Strict parsing: a table of hostile texts with their places, and limits.
#include <gtest/gtest.h>

#include <string>

#include "json/value.h"

namespace remit::json {
namespace {

TEST(Parse, GivesWhatTheTextSays) {
  const struct {
    const char* text;
    const char* want;  // as `write` prints it
  } kCases[] = {
      {"null", "null"},
      {" \t\r\n true ", "true"},
      {"[]", "[]"},
      {"{ }", "{}"},
      {R"({"a" : [ 1 , 2.0 , "x" ] , "b":{"a":null}})", R"({"a":[1,2.0,"x"],"b":{"a":null}})"},
      {"-0", "0"},
      {"-0.0", "-0.0"},
      {"1e2", "100.0"},
      {"9007199254740991", "9007199254740991"},
      {"-9007199254740991", "-9007199254740991"},
      {"1E30", "1e+30"},
      {"5e-324", "5e-324"},
      {"0e999999", "0.0"},
      {R"("\u0041\u00e9\u20AC\ud834\udd1e")", "\"A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\""},
      {R"("\"\\\/\b\f\n\r\t\u0000")", R"("\"\\/\b\f\n\r\t\u0000")"},
      {"\"\x7f\"", "\"\x7f\""},
  };
  for (const auto& c : kCases) {
    const Result<Value> value = parse(c.text);
    ASSERT_TRUE(value) << c.text << ": " << value.error().to_string();
    EXPECT_EQ(write(*value), c.want) << c.text;
  }
}

TEST(Parse, RefusesWithThePlace) {
  const struct {
    std::string text;
    const char* where;
    const char* message;  // a part of it
  } kCases[] = {
      {"", "byte 0", "cut short"},
      {"  ", "byte 2", "cut short"},
      {"\xef\xbb\xbf{}", "byte 0", "byte order mark"},
      {"{}x", "byte 2", "after the end"},
      {"{} {}", "byte 3", "after the end"},
      {R"({"a":1,"a":2})", "byte 7", "duplicate key \"a\""},
      {R"({"a":1,"\u0061":2})", "byte 7", "duplicate key \"a\""},
      {R"([{"x":{"k":1,"k":1}}])", "byte 13", "duplicate key \"k\""},
      {R"({"":1,"":2})", "byte 6", "duplicate key \"\""},
      {"\"\\ud800\"", "byte 1", "lone surrogate"},
      {"\"\\ud800\\u0041\"", "byte 1", "lone surrogate"},
      {"\"a\\udc00\"", "byte 2", "lone surrogate"},
      {"\"\\ud800\\ud800\"", "byte 1", "lone surrogate"},
      {"\"\\ud800", "byte 1", "lone surrogate"},
      {"\"\\u12\"", "byte 1", "unknown escape"},
      {"\"\\u123g\"", "byte 1", "unknown escape"},
      {"\"\\x\"", "byte 1", "unknown escape"},
      {"\"\\", "byte 1", "unknown escape"},
      {"\"a\xff\"", "byte 2", "invalid UTF-8"},
      {"\"\xed\xa0\x80\"", "byte 1", "invalid UTF-8"},
      {"\"\xf4\x90\x80\x80\"", "byte 1", "invalid UTF-8"},
      {"\"\xc0\x80\"", "byte 1", "invalid UTF-8"},
      {"\"ab\ncd\"", "byte 3", "control character"},
      {std::string("\"\0\"", 3), "byte 1", "control character"},
      {std::string("\0", 1), "byte 0", "expected a value"},
      {std::string("1\0", 2), "byte 1", "after the end"},
      {"\"abc", "byte 4", "cut short"},
      {"[1,]", "byte 3", "expected a value"},
      {"[1 2]", "byte 3", "expected `,` or `]`"},
      {"[1", "byte 2", "cut short"},
      {R"({"a":1,})", "byte 7", "expected a key"},
      {"{a:1}", "byte 1", "expected a key"},
      {R"({"a" 1})", "byte 5", "expected `:`"},
      {R"({"a":1 "b":2})", "byte 7", "expected `,` or `}`"},
      {"01", "byte 0", "leading zero"},
      {"-", "byte 1", "cut short"},
      {"-a", "byte 1", "expected a digit"},
      {"+1", "byte 0", "expected a value"},
      {".5", "byte 0", "expected a value"},
      {"1.", "byte 2", "cut short"},
      {"1.e1", "byte 2", "expected a digit"},
      {"1e", "byte 2", "cut short"},
      {"1e+", "byte 3", "cut short"},
      {"[9007199254740992]", "byte 1", "2^53"},
      {"-9007199254740992", "byte 0", "2^53"},
      {"123456789012345678901234567890", "byte 0", "2^53"},
      {"9007199254740992.0", "byte 0", "2^53"},
      {"1e20", "byte 0", "2^53"},
      {"[1e400]", "byte 1", "double cannot hold"},
      {"-1e400", "byte 0", "double cannot hold"},
      {"1e-400", "byte 0", "double cannot hold"},
      {"NaN", "byte 0", "expected a value"},
      {"Infinity", "byte 0", "expected a value"},
      {"nul", "byte 0", "expected a value"},
      {"True", "byte 0", "expected a value"},
      {"/**/1", "byte 0", "expected a value"},
      {"\xc2\xa0 1", "byte 0", "expected a value"},
  };
  for (const auto& c : kCases) {
    const Result<Value> value = parse(c.text);
    ASSERT_FALSE(value) << c.text;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalidInput) << c.text;
    EXPECT_EQ(value.error().where, c.where) << c.text;
    EXPECT_NE(value.error().message.find(c.message), std::string::npos)
        << c.text << ": " << value.error().message;
  }
}

TEST(Parse, HoldsItsLimits) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse(nested(kMaxJsonDepth)));
  const Result<Value> deep = parse(nested(kMaxJsonDepth + 1));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(deep.error().where, "byte 64");
  EXPECT_FALSE(parse(std::string(2'000'000, '[')));
  EXPECT_FALSE(parse(std::string(100'000, '['), {.max_depth = 1'000'000}));

  const Result<Value> members = parse(R"({"a":1,"b":2,"c":3})", {.max_members = 2});
  ASSERT_FALSE(members);
  EXPECT_EQ(members.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(members.error().where, "byte 13");

  EXPECT_TRUE(parse("1234", {.max_bytes = 4}));
  const Result<Value> bytes = parse("12345", {.max_bytes = 4});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(bytes.error().where, "byte 4");
}

// An object with many members finds its duplicates as well, wherever they stand.
TEST(Parse, FindsDuplicatesInLargeObjects) {
  for (const int repeated : {0, 1, 15, 16, 17, 999}) {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
    ASSERT_TRUE(parse(text + "\"other\":0}"));
    const Result<Value> value = parse(text + "\"k" + std::to_string(repeated) + "\":0}");
    ASSERT_FALSE(value) << repeated;
    EXPECT_EQ(value.error().where, "byte " + std::to_string(text.size()));
  }
}

// Every prefix of a text that is not a number is cut short at its end.
TEST(Parse, EveryPrefixIsRefused) {
  const std::string text = R"({"a":[1,-2.5e3,true,null,"x\u00e9\ud834\udd1e"],"b":{"c":false}})";
  ASSERT_TRUE(parse(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse(text.substr(0, length))) << text.substr(0, length);
  }
}

}  // namespace
}  // namespace remit::json
