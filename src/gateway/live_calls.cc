// Admission, cancellation and draining of calls.
#include "gateway/live_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace remit::gateway {

bool LiveCalls::take_token() {
  if (calls_per_second_ == 0) return true;
  constexpr Duration kSecond = std::chrono::seconds{1};
  const Duration cost = kSecond / calls_per_second_;
  const MonotonicTime now = clock_.monotonic_now();
  saved_ = has_started_ ? std::min(kSecond, saved_ + (now - last_)) : kSecond;
  has_started_ = true;
  last_ = now;
  if (saved_ < cost) return false;
  saved_ -= cost;
  return true;
}

LiveCalls::Admission LiveCalls::knock(const mcp::RequestId& id) {
  const MutexLock lock(mutex_);
  if (calls_.contains(id)) return Admission::kRepeated;
  return take_token() ? Admission::kAdmitted : Admission::kTooFast;
}

LiveCalls::Admitted LiveCalls::admit(const mcp::RequestId& id, std::size_t bytes) {
  const MutexLock lock(mutex_);
  if (calls_.contains(id)) return {Admission::kRepeated};
  if (calls_.size() >= kMaxCallsInFlight) return {Admission::kFull};
  if (!calls_.empty() && bytes_ + bytes > kMaxCallBytesInFlight) return {Admission::kFull};
  auto call = std::make_shared<LiveCall>(id, bytes);
  bytes_ += bytes;
  calls_.emplace(id, call);
  return {Admission::kAdmitted, std::move(call)};
}

void LiveCalls::close(const mcp::RequestId& id) {
  const MutexLock lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  bytes_ -= found->second->bytes;
  calls_.erase(found);
  if (calls_.empty()) closed_.notify_all();
}

bool LiveCalls::cancel(const mcp::RequestId& id) {
  std::shared_ptr<LiveCall> call;
  {
    const MutexLock lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return false;
    call = found->second;
  }
  call->is_cancelled = true;
  call->stop.request_stop();  // runs what the call has registered: not under our lock
  return true;
}

void LiveCalls::stop_all() {
  std::vector<std::shared_ptr<LiveCall>> calls;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, call] : calls_) calls.push_back(call);
  }
  for (const auto& call : calls) call->stop.request_stop();
}

bool LiveCalls::wait_until_empty(std::chrono::milliseconds span) {
  const MonotonicTime deadline = clock_.monotonic_now() + span;
  MutexLock lock(mutex_);
  while (!calls_.empty()) {
    const Duration left = deadline - clock_.monotonic_now();
    if (left.count() <= 0) return false;
    closed_.wait_for(mutex_, left);
  }
  return true;
}

}  // namespace remit::gateway
