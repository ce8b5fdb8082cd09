// Randomness, injected so that tests and the simulator own it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace remit {

/// A source of random bytes. Implementations are thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::byte> out) = 0;
};

/// The kernel's generator (getrandom). Aborts if the kernel refuses, since no id may ever be
/// guessable.
class SystemRandom final : public Random {
 public:
  void fill(std::span<std::byte> out) override;
};

/// 128 random bits as 26 characters of lower-case base 32 (RFC 4648 alphabet, no padding): what ids
/// are made of.
std::string random_id(Random& random);

}  // namespace remit
