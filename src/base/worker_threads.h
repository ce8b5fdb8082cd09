// Threads for work that blocks: as many as are needed at once, up to a bound.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace remit {

/// Runs jobs in order of arrival on threads that it makes when all others are busy, at most
/// `max_threads`; beyond that jobs wait, at most `max_waiting` of them. Jobs may block. One that
/// ends by an exception is over, and costs no thread. Thread-safe.
class WorkerThreads {
 public:
  explicit WorkerThreads(std::size_t max_threads,
                         std::size_t max_waiting = std::numeric_limits<std::size_t>::max())
      : max_threads_(max_threads), max_waiting_(max_waiting) {}
  ~WorkerThreads() { close(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Makes all threads now, for whoever wants to know at once that the system has them. Errors:
  /// `unavailable` if it gives no more.
  Status start();

  /// False once closed, where too many wait, or if there is no thread at all and the system gives
  /// none; the job is then dropped. Where it gives no more, the job waits for one that is there.
  bool post(std::function<void()> job);

  /// Runs what was posted, then ends the threads. Idempotent; not from two threads at once.
  void close();

 private:
  bool add_thread() REMIT_REQUIRES(mutex_);
  void work();

  const std::size_t max_threads_;
  const std::size_t max_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ REMIT_GUARDED_BY(mutex_);
  std::size_t idle_ REMIT_GUARDED_BY(mutex_) = 0;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit
