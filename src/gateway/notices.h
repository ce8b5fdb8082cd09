// Lines for the operator, on standard error.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "process/file_descriptor.h"

namespace remit::gateway {

/// Writes each notice as one line, `remit: TEXT`, control bytes made visible, cut at a length that
/// a pipe takes whole; one that finds no room is dropped. Outside text in it is quoted by the
/// caller. Thread-safe without a lock: the system keeps short writes apart.
class Notices {
 public:
  /// `fd` outlives it.
  explicit Notices(int fd)
      : own_(process::own_end_of_pipe(fd)), fd_(own_.is_open() ? own_.get() : fd) {}
  void say(std::string_view text) const;

 private:
  FileDescriptor own_;
  int fd_;
};

/// Counts something a peer may do without end, and says so at the first, second, fourth, eighth …
/// time only. Thread-safe.
class Tally {
 public:
  void count(const Notices& notices, std::string_view text);
  [[nodiscard]] std::uint64_t total() const { return count_.load(); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace remit::gateway
