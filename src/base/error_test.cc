// Errors: names, places, quoting, and the two kinds of result.
#include "base/error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "base/check.h"
#include "base/id.h"
#include "base/result.h"
#include "base/utf8.h"

namespace remit {
namespace {

TEST(Error, EveryCodeHasItsName) {
  const std::string_view want[] = {
      "internal",    "invalid_input",       "limit_exceeded", "not_found",         "already_exists",
      "unsupported", "failed_precondition", "unavailable",    "deadline_exceeded", "data_loss"};
  for (std::size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(error_code_name(static_cast<ErrorCode>(i)), want[i]);
  }
}

TEST(Error, PlacesNest) {
  const struct {
    const char* outer;
    const char* inner;
    const char* want;
  } kCases[] = {
      {"a.yaml", "", "a.yaml: m"},      {"a.yaml", "3:7", "a.yaml:3:7: m"},
      {"a.yaml", "12", "a.yaml:12: m"}, {"a.json", "byte 5", "a.json: byte 5: m"},
      {"a", "/x/0", "a: /x/0: m"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(in_place(c.outer, Error{ErrorCode::kInvalidInput, "m", c.inner}).to_string(), c.want);
  }
  EXPECT_EQ((Error{ErrorCode::kInternal, "m"}).to_string(), "m");
}

TEST(Error, QuotingMakesOutsideTextSafe) {
  const struct {
    std::string text;
    std::size_t limit;
    const char* want;
  } kCases[] = {
      {"", 64, "\"\""},
      {"plain", 64, "\"plain\""},
      {"a\"b\\c", 64, R"("a\"b\\c")"},
      {std::string("\0\n\x1b[31m\x7f", 8), 64, R"("\x00\x0a\x1b[31m\x7f")"},
      {"\xc3\xa9\xff\xed\xa0\x80", 64, "\"\xc3\xa9\\xff\\xed\\xa0\\x80\""},
      {"abcdef", 3, "\"abc\"…"},
      {"abc", 3, "\"abc\""},
      {"ab\xc3\xa9", 3, "\"ab\xc3\xa9\""},  // a character is not cut in two
      {"abc", 0, "\"\"…"},
      {"a\xc2\x9b"
       "31mb",
       64, R"("a\xc2\x9b31mb")"},  // CSI as one character
      {"ok\xe2\x80\xae"
       "txt",
       64, R"("ok\xe2\x80\xaetxt")"},                            // right to left from here
      {"\xc2\xa0\xe2\x80\xa7", 64, "\"\xc2\xa0\xe2\x80\xa7\""},  // their harmless neighbours
      {"\xf3\xa0\x81\x81", 64, R"("\xf3\xa0\x81\x81")"},         // a tag, which is not seen
      {"\xf0\x9f\xbf\xbf", 64, R"("\xf0\x9f\xbf\xbf")"},         // no character at all
      {"\xf0\x9f\x98\x80", 64, "\"\xf0\x9f\x98\x80\""},          // a face
  };
  for (const auto& c : kCases) EXPECT_EQ(remit::quoted(c.text, c.limit), c.want);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(100, static_cast<char>(byte));
    const std::string out = remit::quoted(text);
    EXPECT_EQ(first_invalid_utf8(out), std::nullopt) << byte;
    EXPECT_LE(out.size(), 64 * 4 + 5U) << byte;
    EXPECT_EQ(out.find('\n'), std::string::npos) << byte;
  }
}

// By the definitions of Unicode: general category Cc, the separators of lines and paragraphs, the
// characters with the properties Bidi_Control, Default_Ignorable_Code_Point (of which these are
// all below U+10000) and Noncharacter_Code_Point, and the marks of annotations.
TEST(Error, QuotingShowsNoCharacterThatMisleads) {
  const auto encoded = [](unsigned point) {
    std::string out;
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += static_cast<char>(0xc0U | (point >> 6U));
      out += static_cast<char>(0x80U | (point & 0x3fU));
    } else {
      out += static_cast<char>(0xe0U | (point >> 12U));
      out += static_cast<char>(0x80U | ((point >> 6U) & 0x3fU));
      out += static_cast<char>(0x80U | (point & 0x3fU));
    }
    return out;
  };
  for (unsigned point = 0; point < 0x10000; ++point) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    const bool ends_line = point == 0x2028 || point == 0x2029;
    const bool turns = point == 0x61c || point == 0x200e || point == 0x200f ||
                       (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    const bool unseen =
        point == 0xad || point == 0x34f || point == 0x115f || point == 0x1160 || point == 0x17b4 ||
        point == 0x17b5 || (point >= 0x180b && point <= 0x180f) || point == 0x200b ||
        point == 0x200c || point == 0x200d || (point >= 0x2060 && point <= 0x206f) ||
        point == 0x3164 || (point >= 0xfe00 && point <= 0xfe0f) || point == 0xfeff ||
        point == 0xffa0 || (point >= 0xfff0 && point <= 0xfffb);
    const bool is_none = (point >= 0xfdd0 && point <= 0xfdef) || point >= 0xfffe;
    const std::string text = encoded(point);
    const bool shown = remit::quoted(text).find(text) != std::string::npos;
    EXPECT_EQ(shown, !control && !ends_line && !turns && !unseen && !is_none) << point;
  }
}

// Names of files stand in places.
TEST(Error, ShowsNoPlaceThatActs) {  // REQ-RP-004
  const std::pair<std::string, std::string> rows[] = {
      {"dir/trace.jsonl: byte 3", "dir/trace.jsonl: byte 3"},
      {"a b\"c\\d", "a b\"c\\d"},
      {"r\xc3\xa9sum\xc3\xa9", "r\xc3\xa9sum\xc3\xa9"},
      {"a\n::error title=x::y", "a\\x0a::error title=x::y"},
      {"a\r::stop-commands::y", "a\\x0d::stop-commands::y"},
      {"##[error]a ###[add-mask]b", "\\x23#[error]a #\\x23#[add-mask]b"},
      {"\x1b[2Ja\x07", "\\x1b[2Ja\\x07"},
      {"\xc2\x9b\x31m", "\\xc2\\x9b1m"},
      {"a\xe2\x80\xae"
       "b",
       "a\\xe2\\x80\\xae"
       "b"},
      {"a\xc2\xad", "a\\xc2\\xad"},
      {"\xff\xfe", "\\xff\\xfe"},
  };
  for (const auto& [where, shown] : rows) {
    EXPECT_EQ((Error{ErrorCode::kInvalidInput, "m", where}).to_string(), shown + ": m");
    EXPECT_EQ((Error{ErrorCode::kInvalidInput, where + ": m"}).to_string(), shown + ": m");
  }
  EXPECT_EQ(quoted("##[error]x"), "\"\\x23#[error]x\"");
}

Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::kInvalidInput, "odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  REMIT_TRY_ASSIGN(const int first, half(value));
  REMIT_TRY_ASSIGN(const int second, half(first));
  return second;
}

Status must_halve(int value) {
  REMIT_TRY(half(value));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(7).value_or(-1), -1);
  EXPECT_TRUE(must_halve(2));
  EXPECT_EQ(must_halve(3).error().code, ErrorCode::kInvalidInput);
  Result<std::unique_ptr<int>> owned = std::make_unique<int>(5);
  ASSERT_TRUE(owned);
  const std::unique_ptr<int> taken = *std::move(owned);
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, ReadingTheOtherOneAborts) {
  EXPECT_DEATH((void)*half(3), "check failed: has_value");
  EXPECT_DEATH((void)half(2).error(), "check failed: !has_value");
  EXPECT_DEATH((void)Status().error(), "check failed: error_.has_value");
}

TEST(Check, ABugIsCountedAndInternal) {
  const char* const kept = std::getenv("REMIT_BUG_ABORTS");
  const std::string before = kept == nullptr ? "" : kept;
  ::unsetenv("REMIT_BUG_ABORTS");
  const std::uint64_t count = bug_count();
  const Error error = REMIT_BUG("two and two are five");
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_EQ(bug_count(), count + 1);
  EXPECT_NE(error.message.find("two and two"), std::string::npos);
  if (kept != nullptr) ::setenv("REMIT_BUG_ABORTS", before.c_str(), 1);
}

TEST(CheckDeathTest, ABugAbortsUnderTest) {
  EXPECT_DEATH(
      {
        ::setenv("REMIT_BUG_ABORTS", "1", 1);
        (void)REMIT_BUG("two and two are five");
      },
      "two and two are five");
  EXPECT_DEATH(REMIT_CHECK(1 + 1 == 3), "check failed: 1 \\+ 1 == 3");
}

struct DoorTag;
struct KeyTag;
static_assert(!std::is_convertible_v<Id<DoorTag>, Id<KeyTag>>);
static_assert(!std::is_convertible_v<std::string, Id<DoorTag>>);

TEST(Id, IsComparedByteForByte) {
  EXPECT_EQ(Id<DoorTag>("a"), Id<DoorTag>("a"));
  EXPECT_NE(Id<DoorTag>("a"), Id<DoorTag>("A"));
  EXPECT_LT(Id<DoorTag>("a"), Id<DoorTag>("b"));
  EXPECT_TRUE(Id<DoorTag>().empty());
  EXPECT_EQ(std::hash<Id<DoorTag>>{}(Id<DoorTag>("a")), std::hash<std::string>{}("a"));
}

}  // namespace
}  // namespace remit
