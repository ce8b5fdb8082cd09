// The forms that text may have in an event.
#include "enforcement/recorded_text.h"

#include <algorithm>

#include "base/limits.h"
#include "base/utf8.h"

namespace remit::enforcement {
namespace {

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == ':' || c == '-';
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxToolNameBytes &&
         std::all_of(text.begin(), text.end(), is_name_byte);
}

std::string recorded_name(std::string_view text, const DigestKey& key) {
  if (text.empty() || is_plain_name(text)) return std::string(text);
  return key.digest(text);
}

std::string recorded_text(std::string_view text, const DigestKey& key) {
  if (text.empty() || is_bounded_text(text)) return std::string(text);
  return key.digest(text);
}

bool is_bounded_text(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes &&
         std::none_of(text.begin(), text.end(), is_control) && !first_invalid_utf8(text);
}

std::string_view recorded_hex(std::string_view text, std::size_t digits) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != digits || !std::all_of(text.begin(), text.end(), is_digit)) return {};
  return text;
}

}  // namespace remit::enforcement
