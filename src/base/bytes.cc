// Hexadecimal and base 64.
#include "base/bytes.h"

#include <cstdint>

namespace remit {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int base64url_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  if (c == '_') return 63;
  return -1;
}

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  std::string out(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = static_cast<unsigned>(bytes[i]);
    out[2 * i] = kHex[value >> 4U];
    out[2 * i + 1] = kHex[value & 15U];
  }
  return out;
}

std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<std::byte>(high * 16 + low);
  }
  return out;
}

std::string to_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group =
          (group << 8U) | (i + j < bytes.size() ? static_cast<std::uint32_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool is_padding = i + j > bytes.size();
      out += is_padding ? '=' : kBase64[(group >> (18U - 6U * j)) & 63U];
    }
  }
  return out;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    std::size_t padding = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const char c = text[i + j];
      const bool may_pad = i + 4 == text.size() && j >= 2;
      if (c == '=' && may_pad) {
        ++padding;
        group <<= 6U;
        continue;
      }
      const std::size_t value = kBase64.find(c);
      if (value == std::string_view::npos || padding > 0) return std::nullopt;
      group = (group << 6U) | static_cast<std::uint32_t>(value);
    }
    for (std::size_t j = 0; j < 3 - padding; ++j) {
      out.push_back(static_cast<std::byte>((group >> (16U - 8U * j)) & 255U));
    }
  }
  if (to_base64(out) != text) return std::nullopt;  // left-over bits set: not canonical
  return out;
}

std::optional<std::vector<std::byte>> from_base64url(std::string_view text) {
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t held = 0;
  unsigned held_bits = 0;
  for (const char c : text) {
    const int value = base64url_value(c);
    if (value < 0) return std::nullopt;
    held = (held << 6U) | static_cast<std::uint32_t>(value);
    held_bits += 6;
    if (held_bits < 8) continue;
    held_bits -= 8;
    out.push_back(static_cast<std::byte>(held >> held_bits));
    held &= (1U << held_bits) - 1;
  }
  if (held_bits == 6 || held != 0) return std::nullopt;  // a lone character, or left-over bits set
  return out;
}

}  // namespace remit
