// The token bucket in front of the log.
#include "enforcement/refusal_meter.h"

#include <algorithm>
#include <utility>

namespace remit::enforcement {
namespace {

constexpr Duration kTokenPrice = Duration{std::chrono::seconds{1}} / kRefusalsPerSecond;
constexpr Duration kFull = kTokenPrice * kRefusalBurst;
constexpr Duration kReportInterval = std::chrono::seconds{1};

}  // namespace

bool RefusalMeter::admit(MonotonicTime now) {
  const MutexLock lock(mutex_);
  if (!started_) {
    started_ = true;
    saved_ = kFull;
    last_ = now;
  }
  // Two callers may bring their readings in the wrong order; time that is already counted is not
  // counted again.
  if (now > last_) {
    saved_ = std::min(kFull, saved_ + std::min(kFull, now - last_));
    last_ = now;
  }
  if (saved_ < kTokenPrice) return false;
  saved_ -= kTokenPrice;
  return true;
}

std::int64_t RefusalMeter::count_lost(std::int64_t events, MonotonicTime now) {
  const MutexLock lock(mutex_);
  lost_ += events;
  if (reported_ && now - reported_at_ < kReportInterval) return 0;
  reported_ = true;
  reported_at_ = now;
  return std::exchange(lost_, 0);
}

std::int64_t RefusalMeter::take_lost() {
  const MutexLock lock(mutex_);
  return std::exchange(lost_, 0);
}

}  // namespace remit::enforcement
