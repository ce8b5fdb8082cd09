// JSON out: compact text, and the canonical form of RFC 8785.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "json/value.h"

namespace remit::json {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

// Quotation mark, reverse solidus and control characters, as RFC 8785 section 3.2.2.2 writes them.
void write_escaped(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 15U];
  }
}

// Number::toString of ECMA-262 over the shortest digits that read back as `value`.
void write_ecmascript(double value, std::string& out) {
  if (value == 0) {
    out += '0';
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value),
                                 std::chars_format::scientific);
  const std::string_view shortest(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  const std::size_t mark = shortest.find('e');
  std::string digits(1, shortest[0]);
  if (mark > 2) digits += shortest.substr(2, mark - 2);
  int exponent = 0;
  const char* from = shortest.data() + mark + 1;
  if (*from == '+') ++from;
  std::from_chars(from, shortest.data() + shortest.size(), exponent);

  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // ECMA-262's n: where the decimal point stands in the digits
  if (value < 0) out += '-';
  if (count <= point && point <= 21) {
    out += digits;
    out.append(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out.append(digits, 0, static_cast<std::size_t>(point));
    out += '.';
    out.append(digits, static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  } else {
    out += digits[0];
    if (count > 1) {
      out += '.';
      out.append(digits, 1);
    }
    out += exponent < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(exponent));
  }
}

// A double stays a double when it is read again: it keeps a fraction or an exponent.
void write_double(double value, std::string& out) {
  const std::size_t start = out.size();
  if (value == 0 && std::signbit(value)) out += '-';
  write_ecmascript(value, out);
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

// Order of the UTF-16 code units, without converting: it differs from byte order only where a
// supplementary character (lead byte F0 and up, a surrogate pair) meets U+E000 to U+FFFF.
bool utf16_less(std::string_view left, std::string_view right) {
  const std::size_t common = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto a = static_cast<unsigned char>(left[i]);
    const auto b = static_cast<unsigned char>(right[i]);
    if (a == b) continue;
    const bool crosses = a >= 0xee && b >= 0xee && (a >= 0xf0) != (b >= 0xf0);
    return crosses ? a >= 0xf0 : a < b;
  }
  return left.size() < right.size();
}

enum class Form : unsigned char { kCompact, kCanonical };

class Writer {
 public:
  Writer(Form form, std::string& out) : form_(form), out_(out) {}

  void write(const Value& value) {
    if (const bool* boolean = value.if_bool()) {
      out_ += *boolean ? "true" : "false";
    } else if (const std::int64_t* integer = value.if_integer()) {
      out_ += std::to_string(*integer);
    } else if (const double* number = value.if_double()) {
      write_number(*number);
    } else if (const std::string* text = value.if_string()) {
      write_string(*text, out_);
    } else if (const Array* array = value.if_array()) {
      write_array(*array);
    } else if (const Object* object = value.if_object()) {
      write_object(*object);
    } else {
      out_ += "null";
    }
  }

 private:
  void write_number(double number) {
    if (!std::isfinite(number)) {
      out_ += "null";  // as ECMAScript's JSON does; no parsed value is one
    } else if (form_ == Form::kCanonical) {
      write_ecmascript(number, out_);
    } else {
      write_double(number, out_);
    }
  }

  void write_array(const Array& array) {
    out_ += '[';
    for (const Value& item : array) {
      if (&item != array.data()) out_ += ',';
      write(item);
    }
    out_ += ']';
  }

  void write_object(const Object& object) {
    std::vector<const Member*> order;
    order.reserve(object.size());
    for (const Member& member : object.members()) order.push_back(&member);
    if (form_ == Form::kCanonical) {
      std::sort(order.begin(), order.end(), [](const Member* left, const Member* right) {
        return utf16_less(left->first, right->first);
      });
    }
    out_ += '{';
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) out_ += ',';
      write_string(order[i]->first, out_);
      out_ += ':';
      write(order[i]->second);
    }
    out_ += '}';
  }

  Form form_;
  std::string& out_;
};

}  // namespace

void write_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_plain(text[end])) ++end;
    out.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      write_escaped(text[at++], out);
    } else if (const std::size_t length = utf8_sequence_length(text.substr(at)); length > 0) {
      out.append(text, at, length);
      at += length;
    } else {
      out += "\xef\xbf\xbd";
      ++at;
    }
  }
  out += '"';
}

std::string write(const Value& value) {
  std::string out;
  Writer(Form::kCompact, out).write(value);
  return out;
}

std::string canonical(const Value& value) {
  std::string out;
  Writer(Form::kCanonical, out).write(value);
  return out;
}

}  // namespace remit::json
