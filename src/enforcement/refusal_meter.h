// How many refusals of strangers are recorded: up to a rate, beyond which they are only counted.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/token_bucket.h"

namespace remit::enforcement {

/// A token bucket of kRefusalsPerSecond and kRefusalBurst, and the count of what it turned away.
/// Thread-safe.
class RefusalMeter {
 public:
  /// Whether a refusal at `now` is recorded.
  bool admit(MonotonicTime now);

  /// Counts `events` that were not written. Returns how many to report in an `evidence.lost` now:
  /// the whole count if none was reported within the last second, else 0. So a flood is on record
  /// from its first loss, and costs one line a second.
  std::int64_t count_lost(std::int64_t events, MonotonicTime now);

  /// Everything counted and not reported yet; the count starts afresh.
  std::int64_t take_lost();

 private:
  Mutex mutex_;
  TokenBucket bucket_ REMIT_GUARDED_BY(mutex_){kRefusalsPerSecond, kRefusalBurst};
  std::int64_t lost_ REMIT_GUARDED_BY(mutex_) = 0;
  bool reported_ REMIT_GUARDED_BY(mutex_) = false;
  MonotonicTime reported_at_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::enforcement
