// The machine's clocks.
#include "base/clock.h"

#include <ctime>

namespace remit {
namespace {

std::int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

WallTime SystemClock::wall_now() const {
  return WallTime{read_clock(CLOCK_REALTIME)};
}

MonotonicTime SystemClock::monotonic_now() const {
  return MonotonicTime{read_clock(CLOCK_MONOTONIC)};
}

}  // namespace remit
