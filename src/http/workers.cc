// A fixed number of threads over one bounded queue.
#include "http/workers.h"

#include <system_error>
#include <utility>

namespace remit::http {

Status Workers::start(std::size_t count) {
  threads_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return Error{ErrorCode::kUnavailable, "the system gives no thread"};
    }
  }
  return {};
}

bool Workers::post(std::function<void()> job) {
  const MutexLock lock(mutex_);
  if (is_closing_ || jobs_.size() >= idle_ + max_waiting_) return false;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void Workers::close() {
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::work() {
  while (true) {
    std::function<void()> job;
    {
      const MutexLock lock(mutex_);
      ++idle_;
      while (jobs_.empty() && !is_closing_) changed_.wait(mutex_);
      --idle_;
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace remit::http
