// Where the strings of a line begin and end, and what else is in it: the first of two steps.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// Eight bytes at a time, on any machine.
QuoteScan find_quotes_portable(std::string_view line, std::uint32_t* offsets);

/// The fastest that this machine runs; the portable one where there is no other.
FindQuotes fastest_find_quotes();

/// As FindQuotes, for the line that ends in front of the first `\n` of a text, or with the text.
QuoteScan find_line_portable(std::string_view text, std::uint32_t* offsets);
FindQuotes fastest_find_line();

}  // namespace remit::event
