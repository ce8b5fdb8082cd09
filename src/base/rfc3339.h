// Wall time as text: the UTC subset of RFC 3339 that events use.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace remit {

/// `2026-11-30T18:02:14.000000042Z`: always nine fraction digits and `Z`. Times outside the years
/// 1678 to 2262 cannot be represented by `WallTime`.
std::string format_rfc3339(WallTime time);

/// Reads `YYYY-MM-DDTHH:MM:SS[.f{1,9}]Z`, upper-case `T` and `Z` only (EVENTS `time`). Errors:
/// `invalid_input` for any other form, an impossible date, second 60, an offset other than `Z`, or
/// a time that nanoseconds in 64 bits cannot hold.
Result<WallTime> parse_rfc3339(std::string_view text);

/// Whether `text` has the form that `parse_rfc3339` reads and names a date of the calendar, years
/// 0000 to 9999: for readers that keep a time as text. No allocation, and cheap enough for every
/// event.
bool is_rfc3339(std::string_view text);

}  // namespace remit
