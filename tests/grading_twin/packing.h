// Inputs as gzip and zstd have them, written by hand: nothing is made smaller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace remit::twin {

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };

/// `text` in stored blocks of one gzip member (RFC 1951, RFC 1952), in raw blocks of one zstd frame
/// without a checksum (RFC 8878), or as it is.
std::string packed(std::string_view text, Packing packing);

}  // namespace remit::twin
