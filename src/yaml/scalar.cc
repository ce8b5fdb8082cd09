// Writing scalars: plain only where no reader could take them for anything but text.
#include "yaml/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace remit::yaml {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Letters first, then what names and ids are made of; a colon or hash could begin something else.
bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  const bool is_simple = std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
  });
  if (!is_simple) return false;
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  // What version 1.1 or 1.2 reads as something else than text.
  constexpr std::array<std::string_view, 9> kWords = {"y",   "n",    "yes",   "no",  "on",
                                                      "off", "true", "false", "null"};
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

bool needs_escape(std::string_view sequence) {
  if (sequence.size() == 1) {
    return static_cast<unsigned char>(sequence[0]) < 0x20 || sequence[0] == 0x7f;
  }
  // C1 controls, line and paragraph separators, directions, byte order mark, non-characters.
  if (sequence.size() == 2) return sequence < "\xc2\xa0";
  if (sequence.size() == 3) {
    return (sequence >= "\xe2\x80\x8b" && sequence <= "\xe2\x80\xaf") ||
           (sequence >= "\xe2\x81\xa0" && sequence <= "\xe2\x81\xaf") ||
           sequence == "\xef\xbb\xbf" || sequence >= "\xef\xbf\xb0";
  }
  return false;
}

std::uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  if (sequence.size() == 2) return ((byte(0) & 0x1fU) << 6U) | (byte(1) & 0x3fU);
  return ((byte(0) & 0x0fU) << 12U) | ((byte(1) & 0x3fU) << 6U) | (byte(2) & 0x3fU);
}

}  // namespace

std::string scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (sequence == "\"" || sequence == "\\") {
      out.append("\\").append(sequence);
    } else if (needs_escape(sequence)) {
      out += fmt::format("\\u{:04x}", code_point(sequence));
    } else {
      out += sequence;
    }
  }
  return out + "\"";
}

}  // namespace remit::yaml
