// Time as the outside gives it: wall time for people, monotonic time for deadlines, and never the
// two mixed.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace remit {

using Duration = std::chrono::nanoseconds;

/// A point of wall-clock time: nanoseconds since 1970-01-01T00:00:00Z, leap seconds ignored. It may
/// step back; nothing is ordered by it.
struct WallTime {
  std::int64_t unix_ns = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

/// A point of a clock that never steps: nanoseconds since an unspecified start, equal only within
/// one process. Deadlines are made of these.
struct MonotonicTime {
  std::int64_t ns = 0;
  friend auto operator<=>(const MonotonicTime&, const MonotonicTime&) = default;
};

inline MonotonicTime operator+(MonotonicTime time, Duration span) {
  return MonotonicTime{time.ns + span.count()};
}
inline Duration operator-(MonotonicTime later, MonotonicTime earlier) {
  return Duration{later.ns - earlier.ns};
}

/// The source of time, injected so that tests own it. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
  [[nodiscard]] virtual MonotonicTime monotonic_now() const = 0;
};

/// The machine's clocks. Stateless.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const override;
  [[nodiscard]] MonotonicTime monotonic_now() const override;
};

}  // namespace remit
