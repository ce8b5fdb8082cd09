// The token bucket in front of the log.
#include "enforcement/refusal_meter.h"

#include <utility>

namespace remit::enforcement {
namespace {

constexpr Duration kReportInterval = std::chrono::seconds{1};

}  // namespace

bool RefusalMeter::admit(MonotonicTime now) {
  const MutexLock lock(mutex_);
  return bucket_.take(now);
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
