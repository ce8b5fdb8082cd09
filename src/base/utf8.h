// UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace remit {

/// The length in bytes (1 to 4) of the well-formed sequence at the start of `text`; 0 if there is
/// none.
std::size_t utf8_sequence_length(std::string_view text);

/// The byte offset of the first ill-formed sequence, or nothing if `text` is well-formed.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Appends a code point of at most U+10FFFF that is no surrogate.
void append_utf8(std::uint32_t code_point, std::string& out);

}  // namespace remit
