// From a byte offset in a text to the line and column that people count.
#include "cedar/source_place.h"

#include <algorithm>

#include <fmt/format.h>

namespace remit::cedar {

std::string place_in(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::string_view in_line =
      newline == std::string_view::npos ? before : before.substr(newline + 1);
  // Bytes 10xxxxxx continue a character.
  const auto column = 1 + std::count_if(in_line.begin(), in_line.end(), [](char c) {
                        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
                      });
  return fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace remit::cedar
