// Pipes, a way to wake a poll, and termination signals, as descriptors.
#pragma once

#include <csignal>
#include <utility>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace remit::process {

/// The two ends of a pipe, both close-on-exec.
struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Makes a pipe. Errors: `unavailable` when the system has no descriptors left.
Result<Pipe> make_pipe();

/// Makes writes to `fd` return instead of waiting. Only for descriptors whose other holders do not
/// mind: the flag belongs to the open file, not to the number. Errors: `unavailable`.
Status set_nonblocking(int fd);

/// A descriptor of our own for the writing end of the pipe `fd`, which never waits and leaves the
/// flags of the other holders of `fd` alone; none where `fd` is no pipe.
FileDescriptor own_end_of_pipe(int fd);

/// Wakes threads that poll `fd()`; once notified it stays readable. `notify` may be called from any
/// thread and from a signal handler.
class Wakeup {
 public:
  /// Errors: `unavailable` when the system has no descriptors left.
  static Result<Wakeup> make();
  void notify() const;
  [[nodiscard]] int fd() const { return event_.get(); }

 private:
  explicit Wakeup(FileDescriptor event) : event_(std::move(event)) {}
  FileDescriptor event_;
};

/// Holds back SIGTERM, SIGINT and SIGHUP from this thread, and from every thread made while it
/// lives, so that they can be polled for. Make it before other threads.
class TerminationSignals {
 public:
  /// Errors: `unavailable`.
  static Result<TerminationSignals> take();
  TerminationSignals(TerminationSignals&&) noexcept = default;
  TerminationSignals& operator=(TerminationSignals&&) = delete;
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;
  /// Takes the signals that came and gives this thread its old mask back: whoever held them back
  /// has acted on them, and they must not end the process once more.
  ~TerminationSignals();

  /// Readable once such a signal came.
  [[nodiscard]] int fd() const { return signals_.get(); }
  /// Takes one signal that came, without waiting; false if none did.
  [[nodiscard]] bool read_one() const;

 private:
  explicit TerminationSignals(FileDescriptor signals) : signals_(std::move(signals)) {}
  FileDescriptor signals_;
  sigset_t former_mask_{};
};

/// Lets a write to a closed pipe return an error instead of ending the process. Idempotent;
/// process-wide. Children are started with the default again.
void ignore_broken_pipes();

}  // namespace remit::process
