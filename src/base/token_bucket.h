// A rate as a bucket of tokens, for one or for many keys.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"

namespace remit {

/// So many a second, and so many at once. Full at first. Whoever takes gives the time; two may
/// bring theirs in the wrong order, and time that is counted is not counted again. Not thread-safe.
class TokenBucket {
 public:
  /// Both are above 0.
  TokenBucket(std::int64_t per_second, std::int64_t burst)
      : cost_(Duration{std::chrono::seconds{1}} / per_second), most_(cost_ * burst) {}
  /// A burst of a second's.
  explicit TokenBucket(std::int64_t per_second) : TokenBucket(per_second, per_second) {}

  /// Whether there was one left at `now`.
  bool take(MonotonicTime now) {
    saved_ = at(now);
    last_ = has_begun_ ? std::max(last_, now) : now;
    has_begun_ = true;
    if (saved_ < cost_) return false;
    saved_ -= cost_;
    return true;
  }
  /// Whether it is as if nothing had been taken.
  [[nodiscard]] bool is_full(MonotonicTime now) const { return at(now) >= most_; }

 private:
  [[nodiscard]] Duration at(MonotonicTime now) const {
    if (!has_begun_ || now - last_ >= most_) return most_;
    return now > last_ ? std::min(most_, saved_ + (now - last_)) : saved_;
  }

  Duration cost_;
  Duration most_;
  Duration saved_{0};  // unspent time; a token costs `cost_` of it
  bool has_begun_ = false;
  MonotonicTime last_;
};

/// A bucket for each of many keys. Thread-safe. At most `max_keys` are told apart: beyond that, new
/// ones share one bucket until those that are as good as new are forgotten, so that a flood of keys
/// costs neither memory nor those who were there before it.
class TokenBuckets {
 public:
  /// Of each key; `per_second` of 0 is no bound.
  TokenBuckets(std::int64_t per_second, std::size_t max_keys)
      : per_second_(per_second),
        max_keys_(max_keys),
        shared_(std::max<std::int64_t>(per_second, 1)) {}

  /// Whether `key` has one left at `now`.
  bool take(std::string_view key, MonotonicTime now);

 private:
  TokenBucket& bucket_of(std::string_view key, MonotonicTime now) REMIT_REQUIRES(mutex_);

  const std::int64_t per_second_;
  const std::size_t max_keys_;
  Mutex mutex_;
  std::map<std::string, TokenBucket, std::less<>> buckets_ REMIT_GUARDED_BY(mutex_);
  TokenBucket shared_ REMIT_GUARDED_BY(mutex_);
  bool has_swept_ REMIT_GUARDED_BY(mutex_) = false;
  MonotonicTime swept_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit
