// Admission, cancellation and draining of calls.
#include "gateway/live_calls.h"

#include <utility>
#include <vector>

namespace remit::gateway {

bool LiveCalls::take_token() {
  return !rate_ || rate_->take(clock_.monotonic_now());
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
