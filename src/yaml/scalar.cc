// Writing scalars: plain only where no reader could take them for anything but text.
#include "yaml/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/misleading.h"
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

void append_escaped(char32_t point, std::string& out) {
  const auto number = static_cast<std::uint32_t>(point);
  out += number <= 0xffff ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
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
    } else if (const char32_t point = code_point(sequence); misleads(point)) {
      append_escaped(point, out);
    } else {
      out += sequence;
    }
  }
  return out + "\"";
}

}  // namespace remit::yaml
