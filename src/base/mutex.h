// Mutex with the annotations by which clang proves that guarded data is only touched under its
// lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define REMIT_ATTRIBUTE(x) __attribute__((x))
#else
#define REMIT_ATTRIBUTE(x)
#endif
#define REMIT_GUARDED_BY(mutex) REMIT_ATTRIBUTE(guarded_by(mutex))
#define REMIT_REQUIRES(...) REMIT_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REMIT_EXCLUDES(...) REMIT_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace remit {

/// std::mutex as a clang capability.
class REMIT_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() REMIT_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() REMIT_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class REMIT_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) REMIT_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() REMIT_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable for Mutex. Waits can wake without cause: loop on the condition.
class CondVar {
 public:
  void wait(Mutex& mutex) REMIT_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// Waits at most `span`; false when it ran out.
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds span) REMIT_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool woken = condition_.wait_for(lock, span) == std::cv_status::no_timeout;
    lock.release();
    return woken;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace remit
