// Threads for calls in flight: as many as are needed at once, up to a bound.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace remit::gateway {

/// Runs jobs on threads that it makes when all others are busy, at most `max_threads`; beyond that
/// jobs wait in order. Whoever posts bounds how many there are. Jobs may block. Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(std::size_t max_threads) : max_threads_(max_threads) {}
  ~WorkerPool() { close(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// False once closed, or if there is no thread at all and the system gives none; the job is then
  /// dropped. Where it gives no more, the job waits for one that is there.
  bool post(std::function<void()> job);

  /// Runs what was posted, then ends the threads. Idempotent; not from two threads at once.
  void close();

 private:
  void work();

  const std::size_t max_threads_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ REMIT_GUARDED_BY(mutex_);
  std::size_t idle_ REMIT_GUARDED_BY(mutex_) = 0;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::gateway
