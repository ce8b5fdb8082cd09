// Comparing text as canaries are compared: ASCII letters of either case are the same.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>

namespace remit::redaction {

/// Fewer different bytes than this, and a text like `--------` or `00000000` is no secret's.
inline constexpr std::size_t kMinDifferentBytes = 4;

constexpr char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string folded(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = folded(c);
  return out;
}

inline bool equal_folded(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return folded(a) == folded(b); });
}

inline bool has_variety(std::string_view text) {
  std::bitset<256> seen;
  for (const char c : text) seen.set(static_cast<unsigned char>(folded(c)));
  return seen.count() >= kMinDifferentBytes;
}

}  // namespace remit::redaction
