// The strings of a line that may be no JSON at all: keys, values, and how deep they stand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace remit::redaction {

/// A string without its quotation marks, as it is written.
struct StringPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t depth = 0;  ///< open brackets around it; 1 at the top of an object
  bool is_key = false;    ///< a colon follows
};

/// Calls `take` for each string of `line` in order. Nothing is refused: a string without an end
/// runs to the line's, brackets need not match.
template <class Take>
void for_each_string(std::string_view line, const Take& take) {
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < line.size()) {
    const char c = line[at++];
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c != '"') continue;
    StringPlace place{at, at, depth, false};
    while (true) {
      place.end = std::min(line.find_first_of("\"\\", place.end), line.size());
      if (place.end == line.size() || line[place.end] == '"') break;
      place.end = std::min(place.end + 2, line.size());
    }
    at = std::min(place.end + 1, line.size());
    const std::size_t next = line.find_first_not_of(" \t\r\n", at);
    place.is_key = next != std::string_view::npos && line[next] == ':';
    take(place);
  }
}

}  // namespace remit::redaction
