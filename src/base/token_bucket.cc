// Keys come and go; a sweep a second is enough, since a bucket is full again in that time.
#include "base/token_bucket.h"

namespace remit {

bool TokenBuckets::take(std::string_view key, MonotonicTime now) {
  if (per_second_ == 0) return true;
  const MutexLock lock(mutex_);
  return bucket_of(key, now).take(now);
}

TokenBucket& TokenBuckets::bucket_of(std::string_view key, MonotonicTime now) {
  if (const auto found = buckets_.find(key); found != buckets_.end()) return found->second;
  const bool may_sweep = !has_swept_ || now - swept_ >= Duration{std::chrono::seconds{1}};
  if (buckets_.size() >= max_keys_ && may_sweep) {
    has_swept_ = true;
    swept_ = now;
    std::erase_if(buckets_, [&](const auto& each) { return each.second.is_full(now); });
  }
  if (buckets_.size() >= max_keys_) return shared_;
  return buckets_.emplace(key, TokenBucket(per_second_)).first->second;
}

}  // namespace remit
