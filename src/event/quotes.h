// Where the strings of a line begin and end, and what else is in it: the first of two steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace remit::event {

/// What one pass over a line's bytes saw.
struct QuoteScan {
  std::size_t length = 0;     ///< of the line
  std::size_t count = 0;      ///< quotation marks that no backslash escapes
  bool has_controls = false;  ///< a byte below 0x20
  bool has_escapes = false;   ///< a backslash, perhaps one within 63 bytes behind the line
  bool is_ascii = false;      ///< nor do the 63 bytes behind the line have any other byte
};

/// Bytes behind a line that a scan may read, and entries behind the marks that it may write.
inline constexpr std::size_t kScanPadding = 64;

/// Writes the offsets of all quotation marks of `line` that are not escaped to `offsets`, which has
/// room for `line.size() + kScanPadding` of them. A backslash escapes what follows it, wherever it
/// stands. `line` is shorter than 4 GiB and readable for kScanPadding
/// bytes past its end.
using FindQuotes = QuoteScan (*)(std::string_view line, std::uint32_t* offsets);

/// Two ways of one machine: of all marks of a line, and of those of the line that ends in front of
/// the first `\n` of a text, or with the text.
struct QuoteFinders {
  FindQuotes quotes;
  FindQuotes line;
};

/// Those that this machine runs, the fastest first. The last one runs on any.
std::span<const QuoteFinders> quote_finders();
FindQuotes fastest_find_quotes();
FindQuotes fastest_find_line();

}  // namespace remit::event
