// JSON out: escapes, the forms of numbers, and the canonical form against RFC 8785's own vectors.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "json/value.h"

namespace remit::json {
namespace {

TEST(Write, EscapesWhatMustBeEscaped) {
  std::string out;
  write_string(std::string_view("\0\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xc3\xa9\xf0\x9d\x84\x9e", 20),
               out);
  EXPECT_EQ(
      out, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xc3\xa9\xf0\x9d\x84\x9e\"");
}

TEST(Write, IllFormedBytesBecomeReplacementCharacters) {
  std::string out;
  write_string("a\xff\xc3(\xed\xa0\x80", out);
  EXPECT_EQ(out, "\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_TRUE(parse(out));
}

TEST(Write, DoublesStayDoubles) {
  const struct {
    double value;
    const char* want;
  } kCases[] = {
      {1.0, "1.0"},    {-0.0, "-0.0"},    {0.0, "0.0"},   {100.0, "100.0"},   {0.1, "0.1"},
      {1e21, "1e+21"}, {1e300, "1e+300"}, {1e-7, "1e-7"}, {2.5e-8, "2.5e-8"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(write(Value(c.value)), c.want);
    const Result<Value> back = parse(c.want);
    ASSERT_TRUE(back) << c.want;
    ASSERT_NE(back->if_double(), nullptr) << c.want;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*back->if_double()),
              std::bit_cast<std::uint64_t>(c.value));
  }
  EXPECT_EQ(write(Value(std::nan(""))), "null");
  EXPECT_EQ(canonical(Value(std::numeric_limits<double>::infinity())), "null");
}

// RFC 8785 appendix B.
TEST(Canonical, NumbersOfRfc8785) {
  const struct {
    std::uint64_t bits;
    const char* want;
  } kCases[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& c : kCases) EXPECT_EQ(canonical(Value(std::bit_cast<double>(c.bits))), c.want);
}

// RFC 8785 section 3.2.2 and 3.2.3.
TEST(Canonical, TheExampleOfRfc8785) {
  const Result<Value> value = parse(R"({
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]})");
  ASSERT_TRUE(value);
  EXPECT_EQ(canonical(*value),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST(Canonical, KeysInTheOrderOfUtf16) {
  const Result<Value> value = parse(
      R"({"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",)"
      R"("1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",)"
      R"("\u00f6":"Latin Small Letter O With Diaeresis"})");
  ASSERT_TRUE(value);
  const Result<Value> sorted = parse(canonical(*value));
  ASSERT_TRUE(sorted);
  std::vector<std::string> names;
  for (const Member& member : sorted->if_object()->members()) {
    names.push_back(*member.second.if_string());
  }
  const std::vector<std::string> want = {"Carriage Return",
                                         "One",
                                         "Control",
                                         "Latin Small Letter O With Diaeresis",
                                         "Euro Sign",
                                         "Emoji: Grinning Face",
                                         "Hebrew Letter Dalet With Dagesh"};
  EXPECT_EQ(names, want);
}

TEST(Canonical, AShorterKeyComesFirst) {
  EXPECT_EQ(canonical(Object{{"ab", 1}, {"a", 2}, {"", 3}}), R"({"":3,"a":2,"ab":1})");
}

// Random doubles: what is written reads back as the same double, in both forms.
TEST(Write, RandomDoublesSurvive) {
  std::mt19937_64 random(20260804);
  for (int i = 0; i < 50'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const double magnitude = std::fabs(value);
    const bool refused = magnitude >= 9007199254740992.0 && magnitude < 1e21;
    const Result<Value> back = parse(write(Value(value)));
    ASSERT_EQ(back.has_value(), !refused) << write(Value(value));
    if (refused) continue;
    ASSERT_NE(back->if_double(), nullptr);
    ASSERT_EQ(*back->if_double(), value);
    const Result<Value> again = parse(canonical(Value(value)));
    ASSERT_TRUE(again) << canonical(Value(value));
    ASSERT_EQ(canonical(*again), canonical(Value(value)));
  }
}

}  // namespace
}  // namespace remit::json
