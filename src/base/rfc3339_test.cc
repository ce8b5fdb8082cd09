// Times of events: both directions, the calendar's edges, and what is no time.
#include "base/rfc3339.h"

#include <gtest/gtest.h>

#include <random>

namespace remit {
namespace {

TEST(Rfc3339, ReadsAndWrites) {
  const struct {
    const char* text;
    std::int64_t unix_ns;
    const char* written;
  } kCases[] = {
      {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000000000Z"},
      {"1970-01-01T00:00:00.000000001Z", 1, "1970-01-01T00:00:00.000000001Z"},
      {"1969-12-31T23:59:59.999999999Z", -1, "1969-12-31T23:59:59.999999999Z"},
      {"2026-11-30T18:02:14.5Z", 1796061734500000000, "2026-11-30T18:02:14.500000000Z"},
      {"2000-02-29T12:34:56.123456789Z", 951827696123456789, "2000-02-29T12:34:56.123456789Z"},
      {"2038-01-19T03:14:08Z", 2147483648000000000, "2038-01-19T03:14:08.000000000Z"},
      {"1900-03-01T00:00:00Z", -2203891200000000000, "1900-03-01T00:00:00.000000000Z"},
      {"2262-04-11T23:47:16.854775807Z", INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
  };
  for (const auto& c : kCases) {
    const Result<WallTime> time = parse_rfc3339(c.text);
    ASSERT_TRUE(time) << c.text;
    EXPECT_EQ(time->unix_ns, c.unix_ns) << c.text;
    EXPECT_EQ(format_rfc3339(*time), c.written);
    EXPECT_TRUE(is_rfc3339(c.text)) << c.text;
  }
}

TEST(Rfc3339, RefusesAnythingElse) {
  const char* const kTexts[] = {
      "",
      "Z",
      "2026-11-30",
      "2026-11-30T18:02:14",
      "2026-11-30T18:02:14z",
      "2026-11-30t18:02:14Z",
      "2026-11-30 18:02:14Z",
      "2026-11-30T18:02:14+00:00",
      "2026-11-30T18:02:14-00:00",
      "2026-11-30T18:02:14.Z",
      "2026-11-30T18:02:14,5Z",
      "2026-11-30T18:02:14.1234567890Z",
      "2026-11-30T18:02:14.12a456789Z",
      "2026-11-30T18:02:14.12 Z",
      "2026-11-30T18:02:14.5Z ",
      " 2026-11-30T18:02:14Z",
      "2026-11-30T18:02:14ZZ",
      "2026-11-31T18:02:14Z",
      "2026-02-29T18:02:14Z",
      "2100-02-29T18:02:14Z",
      "2026-00-10T18:02:14Z",
      "2026-13-10T18:02:14Z",
      "2026-11-00T18:02:14Z",
      "2026-11-32T18:02:14Z",
      "2026-11-30T24:00:00Z",
      "2026-11-30T18:60:14Z",
      "2026-11-30T18:02:60Z",
      "2026-11-30T18:02:61Z",
      "2026-11-30T1\xb8:02:14Z",
      "202\xff-11-30T18:02:14Z",
      "+026-11-30T18:02:14Z",
      "2026-1-030T18:02:14Z",
      "2026/11/30T18:02:14Z",
      "2026-11-30T18-02-14Z",
      "2026-11-30T18:02:1:Z",
      "20261130T180214Z0000",
  };
  for (const char* text : kTexts) {
    const Result<WallTime> time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::kInvalidInput) << text;
    EXPECT_FALSE(is_rfc3339(text)) << text;
  }
}

// Dates that 64-bit nanoseconds cannot hold have the form all the same: Go's zero time is one.
TEST(Rfc3339, TheFormIsWiderThanTheClock) {
  for (const char* text : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
                           "0000-02-29T00:00:00Z", "2262-04-11T23:47:16.854775808Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
    EXPECT_TRUE(is_rfc3339(text)) << text;
  }
  EXPECT_FALSE(is_rfc3339("0001-02-29T00:00:00Z"));
}

// The form and the reader agree on every day number from 00 to 99 of every month, leap or not.
TEST(Rfc3339, TheFormAgreesWithTheReader) {
  for (const int year : {1999, 2000, 2024, 2026, 2100}) {
    for (int month = 0; month <= 13; ++month) {
      for (int day = 0; day <= 33; ++day) {
        char text[32];
        std::snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, day);
        EXPECT_EQ(is_rfc3339(text), parse_rfc3339(text).has_value()) << text;
      }
    }
  }
}

// Every byte at every place of a good time: only the reader's own forms pass, and both agree.
TEST(Rfc3339, EveryMutationIsJudgedAlike) {
  for (const std::string good : {"2026-11-30T18:02:14Z", "2026-11-30T18:02:14.123456789Z"}) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = good;
        text[at] = static_cast<char>(byte);
        const bool has_safe_year = text.substr(0, 2) == "20" || text.substr(0, 2) == "19";
        if (!has_safe_year && is_rfc3339(text)) continue;
        ASSERT_EQ(is_rfc3339(text), parse_rfc3339(text).has_value()) << at << ' ' << byte;
      }
      EXPECT_FALSE(is_rfc3339(good.substr(0, at)));
    }
  }
}

TEST(Rfc3339, RandomTimesSurvive) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // The first second of the range starts before what whole seconds can express.
    const auto ns = std::max(static_cast<std::int64_t>(random()), INT64_MIN + 1'000'000'000);
    const std::string text = format_rfc3339(WallTime{ns});
    const Result<WallTime> back = parse_rfc3339(text);
    ASSERT_TRUE(back) << text;
    ASSERT_EQ(back->unix_ns, ns);
    ASSERT_TRUE(is_rfc3339(text));
  }
}

}  // namespace
}  // namespace remit
