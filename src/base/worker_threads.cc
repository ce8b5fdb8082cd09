// Threads on demand.
#include "base/worker_threads.h"

#include <utility>

#include "base/check.h"
#include "base/start_thread.h"

namespace remit {

bool WorkerThreads::add_thread() {
  std::thread thread = start_thread([this] { work(); });
  if (!thread.joinable()) return false;
  threads_.push_back(std::move(thread));
  return true;
}

Status WorkerThreads::start() {
  const MutexLock lock(mutex_);
  threads_.reserve(max_threads_);
  while (threads_.size() < max_threads_) {
    if (!add_thread()) return Error{ErrorCode::kUnavailable, "the system gives no thread"};
  }
  return {};
}

void WorkerThreads::close() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

bool WorkerThreads::post(std::function<void()> job) {
  const MutexLock lock(mutex_);
  if (is_closing_) return false;
  const std::size_t free = idle_ + (max_threads_ - threads_.size());
  if (jobs_.size() >= free && jobs_.size() - free >= max_waiting_) return false;
  threads_.reserve(max_threads_);  // so that a thread that was made is kept, whatever happens
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && threads_.size() < max_threads_ && !add_thread() && threads_.empty()) {
    jobs_.pop_back();
    return false;
  }
  changed_.notify_one();
  return true;
}

void WorkerThreads::work() {
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
    try {
      job();
      job = nullptr;
    } catch (...) {  // NOLINT(bugprone-empty-catch): whoever waits for a job sees that it is gone
    }
  }
}

}  // namespace remit
