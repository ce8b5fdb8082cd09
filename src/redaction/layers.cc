// Lenient resolution of escapes, one pass from left to right.
#include "redaction/layers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace remit::redaction {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::uint32_t> hex_number(std::string_view digits, std::size_t count) {
  if (digits.size() < count) return std::nullopt;
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int digit = hex_digit(digits[i]);
    if (digit < 0) return std::nullopt;
    number = number * 16 + static_cast<std::uint32_t>(digit);
  }
  return number;
}

/// What an escape stands for, and how long it is written.
struct Escape {
  std::array<char, 4> bytes{};
  std::size_t count = 0;
  std::size_t length = 0;

  void put(std::uint32_t byte) { bytes[count++] = static_cast<char>(byte); }
};

Escape unicode_escape(std::uint32_t code, std::size_t length) {
  Escape out;
  out.length = length;
  if (code < 0x80) {
    out.put(code);
  } else if (code < 0x800) {
    out.put(0xc0U | (code >> 6U));
    out.put(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    out.put(0xe0U | (code >> 12U));
    out.put(0x80U | ((code >> 6U) & 0x3fU));
    out.put(0x80U | (code & 0x3fU));
  } else {
    out.put(0xf0U | (code >> 18U));
    out.put(0x80U | ((code >> 12U) & 0x3fU));
    out.put(0x80U | ((code >> 6U) & 0x3fU));
    out.put(0x80U | (code & 0x3fU));
  }
  return out;
}

// `text` begins with a backslash. Length 0 where it is no escape.
Escape json_escape(std::string_view text) {
  if (text.size() < 2) return {};
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (const std::size_t known = kNames.find(text[1]); known != std::string_view::npos) {
    return {{kMeanings[known]}, 1, 2};
  }
  if (text[1] != 'u') return {};
  const std::optional<std::uint32_t> unit = hex_number(text.substr(2), 4);
  if (!unit) return {};
  if (*unit < 0xd800 || *unit > 0xdfff) return unicode_escape(*unit, 6);
  if (*unit >= 0xdc00 || text.substr(6, 2) != "\\u") return {};
  const std::optional<std::uint32_t> low = hex_number(text.substr(8), 4);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return {};
  return unicode_escape(0x10000 + ((*unit - 0xd800) << 10U) + (*low - 0xdc00), 12);
}

// `text` begins with a percent sign.
Escape percent_escape(std::string_view text) {
  const std::optional<std::uint32_t> byte = hex_number(text.substr(1), 2);
  if (!byte) return {};
  return {{static_cast<char>(*byte)}, 1, 3};
}

Escape escape_at(std::string_view text, Layer layer) {
  return layer == Layer::kJson ? json_escape(text) : percent_escape(text);
}

constexpr char mark_of(Layer layer) {
  return layer == Layer::kJson ? '\\' : '%';
}

// Calls `take(begin, length, replacement)` for each run of text: as it stands, or an escape.
template <class Take>
void for_each_run(std::string_view text, Layer layer, const Take& take) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t mark = std::min(text.find(mark_of(layer), at), text.size());
    if (mark > at && !take(at, mark - at, std::string_view(text.substr(at, mark - at)))) return;
    if (mark == text.size()) return;
    const Escape escape = escape_at(text.substr(mark), layer);
    const bool goes_on =
        escape.length == 0
            ? take(mark, std::size_t{1}, text.substr(mark, 1))
            : take(mark, escape.length, std::string_view(escape.bytes.data(), escape.count));
    if (!goes_on) return;
    at = mark + std::max<std::size_t>(escape.length, 1);
  }
}

}  // namespace

bool has_escape(std::string_view text, Layer layer) {
  for (std::size_t at = text.find(mark_of(layer)); at != std::string_view::npos;
       at = text.find(mark_of(layer), at + 1)) {
    if (escape_at(text.substr(at), layer).length != 0) return true;
  }
  return false;
}

void resolve(std::string_view text, Layer layer, std::string& out) {
  out.clear();
  for_each_run(text, layer, [&](std::size_t, std::size_t, std::string_view run) {
    out.append(run);
    return true;
  });
}

std::size_t offset_before(std::string_view text, Layer layer, std::size_t at) {
  std::size_t written = 0;
  std::size_t offset = text.size();
  for_each_run(text, layer, [&](std::size_t begin, std::size_t length, std::string_view run) {
    if (written + run.size() <= at) {
      written += run.size();
      return true;
    }
    const bool stands_for_itself = run.size() == length;
    offset = begin + (stands_for_itself ? at - written : 0);
    return false;
  });
  return offset;
}

}  // namespace remit::redaction
