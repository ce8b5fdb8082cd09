// Lines on their way to one peer: bounded, in order, written without a lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>

#include "base/limits.h"
#include "base/mutex.h"
#include "base/result.h"

namespace remit::gateway {

/// A queue of lines with a thread that writes them. A sender that finds the queue empty writes as
/// much as goes without waiting, which saves a switch of threads. Once a write failed or the peer
/// took nothing for `stall`, the outbox is broken and refuses everything; so is one whose thread
/// cannot be started, from the first. Thread-safe.
class Outbox {
 public:
  struct Options {
    std::size_t max_bytes = kMaxQueuedBytes;
    std::chrono::milliseconds stall = kPeerStall;
  };
  /// `fd` outlives the outbox.
  explicit Outbox(int fd) : Outbox(fd, Options{}) {}
  Outbox(int fd, Options options);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Queues `line`, waiting for room while the peer is slow. Errors: `unavailable` when broken or
  /// closed.
  Status send(std::string line);

  /// Queues `line` unless that makes more than `max_queued` bytes wait; never blocks. False if it
  /// was not queued.
  bool offer(std::string line, std::size_t max_queued = kMaxQueuedBytes);
  /// The same for a line that may be taken back by `tag`, which is not 0.
  bool offer_tagged(std::string line, std::int64_t tag);

  /// Takes a tagged line out of the queue. True if not one byte of it was written or ever will be.
  bool withdraw(std::int64_t tag);

  /// Whether `fd` is readable is looked at while the peer is slow: from then on it has `last_words`
  /// to take what is queued, after which the outbox is broken.
  void hurry_once_readable(int fd, std::chrono::milliseconds last_words);

  /// Refuses new lines, writes those queued for at most `flush`, and ends the thread. Idempotent.
  void close(std::chrono::milliseconds flush);

  [[nodiscard]] bool is_broken() const;

 private:
  void write_queued();
  bool write_bytes(std::string_view bytes);
  struct Line {
    std::string text;
    std::int64_t tag = 0;  // 0: none, or its first bytes are written
  };
  bool offer(Line line, std::size_t max_queued);
  void write_ahead(Line line);
  bool is_given_up(std::chrono::steady_clock::time_point last_progress);

  const int fd_;
  const Options options_;
  mutable Mutex mutex_;
  CondVar changed_;  // lines came, room came, or the state changed
  std::deque<Line> lines_ REMIT_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ REMIT_GUARDED_BY(mutex_) = 0;  // being written included
  bool is_writing_ REMIT_GUARDED_BY(mutex_) = false;
  bool is_broken_ REMIT_GUARDED_BY(mutex_) = false;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point give_up_ REMIT_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::time_point::max();
  int hurry_fd_ REMIT_GUARDED_BY(mutex_) = -1;
  std::chrono::milliseconds last_words_ REMIT_GUARDED_BY(mutex_){0};
  std::thread writer_;
};

}  // namespace remit::gateway
