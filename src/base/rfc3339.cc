// RFC 3339 in UTC, in both directions.
#include "base/rfc3339.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>

namespace remit {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

// Days since 1970-01-01 of a proleptic Gregorian date; std::chrono's calendar does the arithmetic.
std::optional<std::int64_t> days_of(int year, unsigned month, unsigned day) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{day}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

// Exactly `count` digits at `at`, or nothing.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool has_frame(std::string_view text) {
  return text.size() >= 20 && text.size() <= 30 && text[4] == '-' && text[7] == '-' &&
         text[10] == 'T' && text[13] == ':' && text[16] == ':' && text.back() == 'Z';
}

void put(char* out, int width, std::int64_t value) {
  for (int i = width - 1; i >= 0; --i) {
    out[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Eight bytes of a time: a digit wherever the pattern has `0`, and all else as it stands.
struct Pattern {
  std::uint64_t bytes = 0;
  // What is missing to 128 from the largest difference that a byte may have from the pattern's.
  std::uint64_t slack = 0;

  explicit constexpr Pattern(std::string_view text) {
    std::array<unsigned char, sizeof bytes> characters{};
    std::array<unsigned char, sizeof bytes> slacks{};
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
      characters[i] = static_cast<unsigned char>(text[i]);
      slacks[i] = text[i] == '0' ? 0x76 : 0x7f;
    }
    bytes = std::bit_cast<std::uint64_t>(characters);
    slack = std::bit_cast<std::uint64_t>(slacks);
  }

  [[nodiscard]] bool matches(const char* text) const {
    std::uint64_t word = 0;
    std::memcpy(&word, text, sizeof word);
    // A larger difference shows in the top bit of its byte, and no sum carries into the next byte.
    constexpr std::uint64_t kTops = 0x8080808080808080U;
    const std::uint64_t difference = word ^ bytes;
    return ((difference | ((difference & ~kTops) + slack)) & kTops) == 0;
  }
};
constexpr Pattern kYearMonth("0000-00-");
constexpr Pattern kDayHourMinute("00T00:00");
constexpr Pattern kHourMinuteSecond("00:00:00");
constexpr Pattern kEightDigits("00000000");

int two_digits(const char* text) {
  return (text[0] - '0') * 10 + (text[1] - '0');
}

int days_in_month(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && is_leap ? 29 : kDays[static_cast<std::size_t>(month) - 1];
}

Error bad_time(std::string_view text) {
  return Error{ErrorCode::kInvalidInput,
               "not an RFC 3339 time in UTC (YYYY-MM-DDTHH:MM:SS[.fraction]Z): " + quoted(text)};
}

}  // namespace

std::string format_rfc3339(WallTime time) {
  std::int64_t seconds = time.unix_ns / kNsPerSecond;
  std::int64_t fraction = time.unix_ns % kNsPerSecond;
  if (fraction < 0) {
    fraction += kNsPerSecond;
    --seconds;
  }
  std::int64_t day = seconds / kSecondsPerDay;
  std::int64_t second = seconds % kSecondsPerDay;
  if (second < 0) {
    second += kSecondsPerDay;
    --day;
  }
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  std::string out = "0000-00-00T00:00:00.000000000Z";
  put(out.data(), 4, static_cast<int>(date.year()));
  put(out.data() + 5, 2, static_cast<unsigned>(date.month()));
  put(out.data() + 8, 2, static_cast<unsigned>(date.day()));
  put(out.data() + 11, 2, second / 3600);
  put(out.data() + 14, 2, second / 60 % 60);
  put(out.data() + 17, 2, second % 60);
  put(out.data() + 20, 9, fraction);
  return out;
}

bool is_rfc3339(std::string_view text) {
  if (text.size() < 20 || text.size() > 30) return false;
  const char* at = text.data();
  if (!kYearMonth.matches(at) || !kDayHourMinute.matches(at + 8) ||
      !kHourMinuteSecond.matches(at + 11)) {
    return false;
  }
  const int month = two_digits(at + 5);
  const int day = two_digits(at + 8);
  if (two_digits(at + 11) > 23 || two_digits(at + 14) > 59 || two_digits(at + 17) > 59)
    return false;
  if (month < 1 || month > 12 || day < 1) return false;
  if (day > 28 && day > days_in_month(two_digits(at) * 100 + two_digits(at + 2), month)) {
    return false;
  }
  if (text.back() != 'Z') return false;
  if (text.size() == 20) return true;
  if (text[19] != '.' || text.size() == 21) return false;
  const bool has_nanoseconds = text.size() == 30;
  bool all_digits = !has_nanoseconds || kEightDigits.matches(at + 20);
  for (std::size_t i = has_nanoseconds ? 28 : 20; i + 1 < text.size(); ++i) {
    all_digits &= text[i] >= '0' && text[i] <= '9';
  }
  return all_digits;
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  if (!has_frame(text)) return bad_time(text);
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return bad_time(text);
  if (*hour > 23 || *minute > 59 || *second > 59) return bad_time(text);
  const auto days = days_of(*year, static_cast<unsigned>(*month), static_cast<unsigned>(*day));
  if (!days) return bad_time(text);
  std::int64_t fraction = 0;
  if (text.size() > 20) {
    if (text.size() == 21 || text[19] != '.') return bad_time(text);
    const std::size_t count = text.size() - 21;
    const auto value = digits(text, 20, count);
    if (!value) return bad_time(text);
    fraction = *value;
    for (std::size_t i = count; i < 9; ++i) fraction *= 10;
  }
  const std::int64_t whole = *days * kSecondsPerDay + *hour * 3600 + *minute * 60 + *second;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(whole, kNsPerSecond, &ns) ||
      __builtin_add_overflow(ns, fraction, &ns)) {
    return bad_time(text);
  }
  return WallTime{ns};
}

}  // namespace remit
