// Bytes as text: hexadecimal and base 64.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remit {

/// The bytes of `text`, without a copy.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

/// Lower-case hexadecimal.
std::string to_hex(std::span<const std::byte> bytes);

/// Reads lower- or upper-case hexadecimal; nothing on an odd length or another character.
std::optional<std::vector<std::byte>> from_hex(std::string_view text);

/// Standard base 64 with padding (RFC 4648 section 4).
std::string to_base64(std::span<const std::byte> bytes);

/// Reads standard base 64 with padding, canonical only; nothing on anything else.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

/// Reads the base 64 of URLs and tokens without padding (RFC 4648 section 5, RFC 7515 section 2),
/// canonical only, so that no two texts are the same bytes; nothing on anything else.
std::optional<std::vector<std::byte>> from_base64url(std::string_view text);

}  // namespace remit
