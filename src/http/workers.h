// Threads for handlers that block: a fixed number, and a bounded wait before them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace remit::http {

/// Runs jobs in order of arrival. Thread-safe.
class Workers {
 public:
  explicit Workers(std::size_t max_waiting) : max_waiting_(max_waiting) {}
  ~Workers() { close(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts `count` threads. Errors: `unavailable` if the system gives no more.
  Status start(std::size_t count);
  /// False when all threads are busy and `max_waiting` jobs wait, or once closed.
  bool post(std::function<void()> job);
  /// Runs what was posted, then ends the threads. Idempotent; not from two threads at once.
  void close();

 private:
  void work();

  const std::size_t max_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ REMIT_GUARDED_BY(mutex_);
  std::size_t idle_ REMIT_GUARDED_BY(mutex_) = 0;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace remit::http
