// Strings by their quotation marks, everything else byte by byte.
#include "trace/json_cursor.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace remit::trace {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{32} * 1024;  // its marks stay in the first cache

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

/// The code unit of four hexadecimal digits at `at`.
std::optional<std::uint32_t> code_unit(std::string_view text, std::size_t at) {
  const std::string_view digits = text.substr(std::min(at, text.size()), 4);
  std::uint32_t unit = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  const bool is_read =
      digits.size() == 4 && read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return is_read ? std::optional(unit) : std::nullopt;
}

/// Reads the `\u` escape whose digits begin at `at`, a pair of them for a surrogate, and moves
/// `at` behind it.
std::optional<std::uint32_t> code_point(std::string_view text, std::size_t& at) {
  const std::optional<std::uint32_t> unit = code_unit(text, at);
  at += 4;
  if (!unit || *unit < 0xd800 || *unit > 0xdfff) return unit;
  if (*unit > 0xdbff || text.substr(std::min(at, text.size()), 2) != "\\u") return std::nullopt;
  const std::optional<std::uint32_t> low = code_unit(text, at + 2);
  at += 6;
  if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
  return 0x10000 + ((*unit - 0xd800) << 10U) + (*low - 0xdc00);
}

}  // namespace

std::optional<std::string> plain_text(std::string_view raw) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    const std::size_t end = std::min(raw.find('\\', i), raw.size());
    out.append(raw, i, end - i);
    if (end == raw.size()) break;
    if (end + 1 == raw.size()) return std::nullopt;
    const char name = raw[end + 1];
    i = end + 2;
    if (name == 'u') {
      const std::optional<std::uint32_t> point = code_point(raw, i);
      if (!point) return std::nullopt;
      append_utf8(*point, out);
    } else if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      out += kMeanings[known];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

void JsonCursor::start(std::string_view text) {
  text_ = text;
  at_ = 0;
  scanned_ = 0;
  next_quote_ = 0;
  quote_count_ = 0;
  window_ = 0;
  has_controls_ = false;
  invalid_at_ = text_.npos;
  fault_ = "";
  fault_at_ = 0;
}

bool JsonCursor::fail(std::size_t at, const char* what) {
  fault_ = at >= text_.size() ? "the document is cut short" : what;
  fault_at_ = std::min(at, text_.size());
  return false;
}

bool JsonCursor::unescape_into(std::string_view& raw, std::string& plain) {
  std::optional<std::string> said = plain_text(raw);
  const auto at = static_cast<std::size_t>(raw.data() - text_.data());
  if (!said) return fail(at, "an unknown escape or a lone surrogate");
  plain = std::move(*said);
  raw = plain;
  return true;
}

// Looks for marks in the next window; one that was found and not used is kept. False at the end of
// the text.
bool JsonCursor::find_quotes() {
  const std::size_t from = behind_backslashes(scanned_);
  if (from == text_.size()) return fail(text_.size(), "");
  std::size_t end = std::min(from + kWindowBytes, text_.size());
  // A window ends where a mark's meaning and a character do not depend on what is in front of it.
  if (end < text_.size() && text_[end - 1] == '\\') {
    while (text_[end - 1] == '\\') --end;
  } else {
    constexpr int kMostContinued = 3;  // more of them are no character anyway
    for (int i = 0; i < kMostContinued && end < text_.size() && is_continuation(text_[end]); ++i) {
      ++end;
    }
  }
  const std::size_t kept = quote_count_ - next_quote_;
  const std::size_t size = end - from;
  if (quotes_.size() < size + kept + event::kScanPadding) {
    quotes_.resize(size + kept + event::kScanPadding);
  }
  // What is kept stands in front of the new window, so its offset is taken from the new base.
  for (std::size_t i = 0; i < kept; ++i) {
    quotes_[i] = quotes_[next_quote_ + i] + static_cast<std::uint32_t>(window_ - from);
  }
  window_ = from;
  const std::string_view window = text_.substr(from, size);
  const event::QuoteScan scan = find_quotes_(window, quotes_.data() + kept);
  if (!scan.is_ascii && invalid_at_ == text_.npos) {
    // Told when the cursor comes there: what stands in front of it can be read.
    if (const auto invalid = first_invalid_utf8(window)) invalid_at_ = from + *invalid;
  }
  has_controls_ = has_controls_ || scan.has_controls;
  next_quote_ = 0;
  quote_count_ = kept + scan.count;
  scanned_ = end;
  return true;
}

// Pairs of backslashes are no marks and change the meaning of none: a run of them, of whatever
// length, is passed over without a window. One without its pair stays.
std::size_t JsonCursor::behind_backslashes(std::size_t at) const {
  std::size_t end = at;
  while (end < text_.size() && text_[end] == '\\') ++end;
  return at + (end - at) / 2 * 2;
}

bool JsonCursor::enter(char bracket, const char* what) {
  skip_space();
  if (peek() != bracket) return fail(at_, what);
  ++at_;
  return true;
}

bool JsonCursor::string(std::string_view& raw) {
  skip_space();
  if (peek() != '"') return fail(at_, "expected a string");
  while (quote_count_ - next_quote_ < 2) {
    if (!find_quotes()) return false;
  }
  const std::size_t begin = at_ + 1;
  const std::uint32_t close = quotes_[next_quote_ + 1];
  next_quote_ += 2;
  // Offsets are taken modulo 2^32: a mark in front of the window has a negative one.
  const std::size_t end = static_cast<std::uint32_t>(window_ + close);
  if (end > invalid_at_) return fail(invalid_at_, "invalid UTF-8");
  if (has_controls_) {
    const std::size_t control = control_in(begin, end);
    if (control < end) return fail(control, "a control character in a string");
  }
  raw = text_.substr(begin, end - begin);
  at_ = end + 1;
  return true;
}

std::size_t JsonCursor::control_in(std::size_t begin, std::size_t end) const {
  const auto first = text_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = text_.begin() + static_cast<std::ptrdiff_t>(end);
  return static_cast<std::size_t>(
      std::find_if(first, last, [](char c) { return static_cast<unsigned char>(c) < 0x20; }) -
      text_.begin());
}

bool JsonCursor::digits() {
  if (!is_digit(peek())) return fail(at_, "expected a digit");
  while (is_digit(peek())) ++at_;
  return true;
}

bool JsonCursor::number() {
  const std::size_t start = at_;
  if (peek() == '-') ++at_;
  const bool begins_with_zero = peek() == '0';
  const std::size_t first_digit = at_;
  if (!digits()) return false;
  if (begins_with_zero && at_ > first_digit + 1) return fail(start, "a number with a leading zero");
  if (peek() == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (peek() != 'e' && peek() != 'E') return true;
  ++at_;
  if (peek() == '+' || peek() == '-') ++at_;
  return digits();
}

bool JsonCursor::scalar(std::string_view& raw) {
  skip_space();
  const std::size_t start = at_;
  if (peek() == '-' || is_digit(peek())) {
    if (!number()) return false;
  } else {
    const std::string_view literal = peek() == 't' ? "true" : peek() == 'f' ? "false" : "null";
    if (text_.substr(at_, literal.size()) != literal) {
      const bool is_cut = literal.starts_with(text_.substr(at_));
      return fail(is_cut ? text_.size() : at_, "expected a value");
    }
    at_ += literal.size();
  }
  raw = text_.substr(start, at_ - start);
  return true;
}

bool JsonCursor::skip() {
  skip_space();
  std::string_view ignored;
  const char first = peek();
  if (first == '"') return string(ignored);
  if (first == '{' || first == '[') return skip_nested();
  return scalar(ignored);
}

bool JsonCursor::skip_key() {
  std::string_view key;
  return string(key) && expect(':', "expected `:`");
}

// Passes over an object or array; one bit for each open bracket says which it is.
bool JsonCursor::skip_nested() {
  std::uint64_t is_object = 0;
  unsigned depth = 0;
  for (;;) {
    skip_space();
    const char first = peek();
    bool is_closed = false;
    if (first == '{' || first == '[') {
      if (++depth > 64) return fail(at_, "more than 64 levels of nesting");
      is_object = (is_object << 1U) | (first == '{' ? 1U : 0U);
      ++at_;
      skip_space();
      is_closed = peek() == (first == '{' ? '}' : ']');
      if (!is_closed) {
        if (first == '{' && !skip_key()) return false;
        continue;
      }
    } else if (std::string_view ignored; !(first == '"' ? string(ignored) : scalar(ignored))) {
      return false;
    }
    for (;;) {  // behind a value, or at the bracket that closes an empty one
      if (!is_closed) skip_space();
      const bool in_object = (is_object & 1U) != 0;
      if (peek() == (in_object ? '}' : ']')) {
        ++at_;
        is_object >>= 1U;
        if (--depth == 0) return true;
        is_closed = false;
        continue;
      }
      if (!expect(',', in_object ? "expected `,` or `}`" : "expected `,` or `]`")) return false;
      if (in_object && !skip_key()) return false;
      break;
    }
  }
}

bool JsonCursor::end() {
  skip_space();
  return at_ == text_.size() || fail(at_, "text behind the end of the document");
}

}  // namespace remit::trace
