// UTF-8 validation after table 3-7 of the Unicode Standard.
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace remit {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool continues(unsigned char byte) {
  return (byte & 0xc0U) == 0x80U;
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char first = byte_at(text, 0);
  const unsigned char second = byte_at(text, 1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return continues(second) ? 2 : 0;
  if (first < 0xf0) {
    const unsigned char low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && continues(byte_at(text, 2)) ? 3 : 0;
  }
  const unsigned char low = first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xf4 ? 0x8f : 0xbf;
  const bool fits = second >= low && second <= high && continues(byte_at(text, 2));
  return fits && continues(byte_at(text, 3)) ? 4 : 0;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // ASCII is nearly all there is: eight bytes at a time.
    std::uint64_t word = 0;
    while (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;
      at += sizeof word;
    }
    if (at >= text.size()) break;
    const std::size_t length = utf8_sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xc0U | (code_point >> 6U));
  } else if (code_point < 0x10000) {
    put(0xe0U | (code_point >> 12U));
    put(0x80U | ((code_point >> 6U) & 0x3fU));
  } else {
    put(0xf0U | (code_point >> 18U));
    put(0x80U | ((code_point >> 12U) & 0x3fU));
    put(0x80U | ((code_point >> 6U) & 0x3fU));
  }
  put(0x80U | (code_point & 0x3fU));
}

}  // namespace remit
