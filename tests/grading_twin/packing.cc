// Writing gzip and zstd without a library.
#include "packing.h"

#include <algorithm>
#include <cstddef>

namespace remit::twin {
namespace {

constexpr std::size_t kBlockBytes = 65'535;

void append_little_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

// The CRC-32 of RFC 1952, bit by bit.
std::uint32_t crc_of(std::string_view text) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::string gzip_of(std::string_view text) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string_view rest = text;
  do {
    const std::string_view block = rest.substr(0, kBlockBytes);
    rest.remove_prefix(block.size());
    out += rest.empty() ? '\x01' : '\0';
    append_little_endian(out, block.size(), 2);
    append_little_endian(out, ~block.size() & 0xffffU, 2);
    out += block;
  } while (!rest.empty());
  append_little_endian(out, crc_of(text), 4);
  append_little_endian(out, text.size(), 4);
  return out;
}

std::string zstd_of(std::string_view text) {
  std::string out("\x28\xb5\x2f\xfd\0\x58", 6);  // a window of 2 MiB
  std::string_view rest = text;
  do {
    const std::string_view block = rest.substr(0, kBlockBytes);
    rest.remove_prefix(block.size());
    append_little_endian(out, block.size() << 3U | (rest.empty() ? 1U : 0U), 3);
    out += block;
  } while (!rest.empty());
  return out;
}

}  // namespace

std::string packed(std::string_view text, Packing packing) {
  if (packing == Packing::kGzip) return gzip_of(text);
  return packing == Packing::kZstd ? zstd_of(text) : std::string(text);
}

}  // namespace remit::twin
