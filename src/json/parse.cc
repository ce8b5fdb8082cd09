// JSON in: one strict pass over the bytes that knows the place of every fault.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "base/utf8.h"
#include "json/value.h"

namespace remit::json {
namespace {

// The parser and the destructor of the tree recurse; no caller's limit goes beyond what any
// thread's stack holds.
constexpr std::size_t kMaxRecursion = 512;

Error invalid(std::size_t at, std::string message) {
  return Error{ErrorCode::kInvalidInput, std::move(message), fmt::format("byte {}", at)};
}

Error exceeded(std::size_t at, std::string message) {
  return Error{ErrorCode::kLimitExceeded, std::move(message), fmt::format("byte {}", at)};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The keys of one object so far. A few are compared one by one; beyond that a tree keeps hostile
// objects from costing the square of their size.
class SeenKeys {
 public:
  // False if `key` is already a member of `object`.
  bool add(const Object& object, const std::string& key) {
    constexpr std::size_t kFew = 16;
    if (object.size() < kFew) return object.find(key) == nullptr;
    if (tree_.empty()) {
      for (const Member& member : object.members()) tree_.insert(member.first);
    }
    return tree_.insert(key).second;
  }

 private:
  std::set<std::string> tree_;
};

class Parser {
 public:
  Parser(std::string_view text, const ParseLimits& limits)
      : text_(text),
        max_depth_(std::min(limits.max_depth, kMaxRecursion)),
        max_members_(limits.max_members) {}

  Result<Value> parse_text() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") return invalid(0, "a byte order mark");
    skip_space();
    REMIT_TRY_ASSIGN(Value value, parse_value(0));
    skip_space();
    if (at_ < text_.size()) return invalid(at_, "text after the end of the value");
    return value;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Whether the next byte is `c`; consumes it.
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  [[nodiscard]] Error unexpected(std::string_view wanted) const {
    if (at_ >= text_.size()) return invalid(at_, fmt::format("cut short: expected {}", wanted));
    return invalid(at_, fmt::format("expected {}", wanted));
  }

  Result<Value> parse_value(std::size_t depth) {
    switch (peek()) {
      case '{':
        return parse_object(depth + 1);
      case '[':
        return parse_array(depth + 1);
      case '"': {
        REMIT_TRY_ASSIGN(std::string text, parse_string());
        return Value(std::move(text));
      }
      case 't':
        return parse_literal("true", Value(true));
      case 'f':
        return parse_literal("false", Value(false));
      case 'n':
        return parse_literal("null", Value());
      default:
        return parse_number();
    }
  }

  Result<Value> parse_literal(std::string_view literal, Value value) {
    if (text_.substr(at_, literal.size()) != literal) return unexpected("a value");
    at_ += literal.size();
    return value;
  }

  Result<Value> parse_array(std::size_t depth) {
    if (depth > max_depth_) return too_deep();
    ++at_;
    Array array;
    skip_space();
    if (take(']')) return Value(std::move(array));
    while (true) {
      REMIT_TRY_ASSIGN(Value item, parse_value(depth));
      array.push_back(std::move(item));
      skip_space();
      if (take(']')) return Value(std::move(array));
      if (!take(',')) return unexpected("`,` or `]`");
      skip_space();
    }
  }

  Result<Value> parse_object(std::size_t depth) {
    if (depth > max_depth_) return too_deep();
    ++at_;
    Object object;
    SeenKeys seen;
    skip_space();
    if (take('}')) return Value(std::move(object));
    while (true) {
      const std::size_t key_at = at_;
      if (peek() != '"') return unexpected("a key");
      REMIT_TRY_ASSIGN(std::string key, parse_string());
      if (!seen.add(object, key)) {
        return invalid(key_at, fmt::format("duplicate key {}", quoted(key)));
      }
      if (object.size() == max_members_) {
        return exceeded(key_at, fmt::format("more than {} members in one object", max_members_));
      }
      skip_space();
      if (!take(':')) return unexpected("`:`");
      skip_space();
      REMIT_TRY_ASSIGN(Value value, parse_value(depth));
      object.members().emplace_back(std::move(key), std::move(value));
      skip_space();
      if (take('}')) return Value(std::move(object));
      if (!take(',')) return unexpected("`,` or `}`");
      skip_space();
    }
  }

  [[nodiscard]] Error too_deep() const {
    return exceeded(at_, fmt::format("nested deeper than {}", max_depth_));
  }

  Result<std::string> parse_string() {
    ++at_;
    std::string out;
    while (true) {
      const std::size_t start = at_;
      while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
      out.append(text_, start, at_ - start);
      if (at_ >= text_.size()) return unexpected("the end of a string");
      const char c = text_[at_];
      if (take('"')) return out;
      if (c == '\\') {
        REMIT_TRY(parse_escape(out));
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        return invalid(at_, "a control character in a string");
      }
      const std::size_t length = utf8_sequence_length(text_.substr(at_));
      if (length == 0) return invalid(at_, "invalid UTF-8");
      out.append(text_, at_, length);
      at_ += length;
    }
  }

  static bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  }

  Status parse_escape(std::string& out) {
    const std::size_t start = at_;
    ++at_;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char name = peek();
    if (name == 'u') return parse_unicode_escape(start, out);
    const std::size_t which = at_ < text_.size() ? kNames.find(name) : std::string_view::npos;
    if (which == std::string_view::npos) return invalid(start, "an unknown escape");
    out += kMeanings[which];
    ++at_;
    return {};
  }

  // Four hexadecimal digits after `\u`, at_ standing on the `u`; negative if they are not there.
  std::int32_t parse_code_unit() {
    if (text_.size() - at_ < 5) return -1;
    std::int32_t unit = 0;
    for (std::size_t i = 1; i <= 4; ++i) {
      const int digit = hex_digit(text_[at_ + i]);
      if (digit < 0) return -1;
      unit = unit * 16 + digit;
    }
    at_ += 5;
    return unit;
  }

  Status parse_unicode_escape(std::size_t start, std::string& out) {
    const std::int32_t unit = parse_code_unit();
    if (unit < 0) return invalid(start, "an unknown escape");
    auto code_point = static_cast<std::uint32_t>(unit);
    if (code_point >= 0xd800 && code_point < 0xe000) {
      const bool is_pair = code_point < 0xdc00 && text_.substr(at_, 2) == "\\u";
      if (!is_pair) return invalid(start, "a lone surrogate");
      ++at_;
      const std::int32_t low = parse_code_unit();
      if (low < 0xdc00 || low > 0xdfff) return invalid(start, "a lone surrogate");
      code_point =
          0x10000 + ((code_point - 0xd800) << 10U) + (static_cast<std::uint32_t>(low) - 0xdc00);
    }
    append_utf8(code_point, out);
    return {};
  }

  // At least one digit; false if there is none.
  bool take_digits() {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    return at_ > start;
  }

  Result<Value> parse_number() {
    const std::size_t start = at_;
    take('-');
    if (!is_digit(peek())) return unexpected(at_ == start ? "a value" : "a digit");
    if (!take('0')) take_digits();
    if (is_digit(peek())) return invalid(start, "a number with a leading zero");
    bool is_integer = true;
    if (take('.')) {
      is_integer = false;
      if (!take_digits()) return unexpected("a digit");
    }
    if (peek() == 'e' || peek() == 'E') {
      is_integer = false;
      ++at_;
      if (!take('+')) take('-');
      if (!take_digits()) return unexpected("a digit");
    }
    const std::string_view number = text_.substr(start, at_ - start);
    return is_integer ? integer_of(start, number) : double_of(start, number);
  }

  static Result<Value> integer_of(std::size_t start, std::string_view number) {
    std::int64_t value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc() || value > kMaxSafeInteger || value < -kMaxSafeInteger) {
      return invalid(start, "an integer beyond 2^53 - 1");
    }
    return Value(value);
  }

  static Result<Value> double_of(std::size_t start, std::string_view number) {
    double value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (read.ec != std::errc() || !std::isfinite(value)) {
      return invalid(start, "a number that a double cannot hold");
    }
    const double magnitude = std::fabs(value);
    constexpr double kFirstUnsafe = 9007199254740992.0;  // 2^53
    constexpr double kFirstWithExponent = 1e21;          // in ECMA-262's Number::toString
    if (magnitude >= kFirstUnsafe && magnitude < kFirstWithExponent) {
      return invalid(start, "an integer beyond 2^53 - 1");
    }
    return Value(value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t max_depth_;
  std::size_t max_members_;
};

}  // namespace

Result<Value> parse(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return exceeded(limits.max_bytes, fmt::format("larger than {} bytes", limits.max_bytes));
  }
  return Parser(text, limits).parse_text();
}

}  // namespace remit::json
