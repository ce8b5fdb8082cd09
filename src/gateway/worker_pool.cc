// Threads on demand.
#include "gateway/worker_pool.h"

#include <utility>

#include "gateway/start_thread.h"

namespace remit::gateway {

void WorkerPool::close() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

bool WorkerPool::post(std::function<void()> job) {
  const MutexLock lock(mutex_);
  if (is_closing_) return false;
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && threads_.size() < max_threads_) {
    std::thread thread = start_thread([this] { work(); });
    if (thread.joinable()) {
      threads_.push_back(std::move(thread));
    } else if (threads_.empty()) {
      jobs_.pop_back();
      return false;
    }
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::work() {
  while (true) {
    std::function<void()> job;
    {
      MutexLock lock(mutex_);
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

}  // namespace remit::gateway
