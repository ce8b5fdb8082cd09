// Randomness that is the same in every run of a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mutex.h"
#include "base/random.h"

namespace remit::testing {

/// SplitMix64 from a seed: equal seeds give equal bytes. Thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed = 1) : state_(seed) {}

  void fill(std::span<std::byte> out) override {
    const MutexLock lock(mutex_);
    for (std::byte& byte : out) byte = static_cast<std::byte>(next() >> 56U);
  }
  /// A number from 0 to `below` - 1.
  std::uint64_t number(std::uint64_t below) {
    const MutexLock lock(mutex_);
    return next() % below;
  }

 private:
  std::uint64_t next() REMIT_REQUIRES(mutex_) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  Mutex mutex_;
  std::uint64_t state_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::testing
