// The kernel's randomness and the ids made of it.
#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>

#include "base/check.h"

namespace remit {

void SystemRandom::fill(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    REMIT_CHECK(got > 0);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

std::string random_id(Random& random) {
  constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<std::byte, 16> bytes{};
  random.fill(bytes);
  std::string out;
  out.reserve(26);
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::byte byte : bytes) {
    bits = (bits << 8U) | static_cast<std::uint32_t>(byte);
    held += 8;
    while (held >= 5) {
      held -= 5;
      out += kAlphabet[(bits >> static_cast<unsigned>(held)) & 31U];
    }
  }
  out += kAlphabet[(bits << static_cast<unsigned>(5 - held)) & 31U];
  return out;
}

}  // namespace remit
