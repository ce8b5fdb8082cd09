// Clocks that a test sets by hand.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace remit::testing {

/// Stands still until the test moves it. Starts at 2026-11-30T12:00:00Z. Thread-safe.
class FakeClock final : public Clock {
 public:
  static constexpr std::int64_t kStartUnixNs = 1'796'040'000'000'000'000;

  [[nodiscard]] WallTime wall_now() const override { return WallTime{unix_ns_.load()}; }
  [[nodiscard]] MonotonicTime monotonic_now() const override {
    return MonotonicTime{monotonic_ns_.load()};
  }

  /// Both clocks go on by `span`, as time does.
  void advance(Duration span) {
    unix_ns_ += span.count();
    monotonic_ns_ += span.count();
  }
  /// The wall clock is set, as an operator or NTP may do; the monotonic one does not notice.
  void set_wall(WallTime time) { unix_ns_ = time.unix_ns; }

 private:
  std::atomic<std::int64_t> unix_ns_{kStartUnixNs};
  std::atomic<std::int64_t> monotonic_ns_{1'000'000'000};
};

}  // namespace remit::testing
