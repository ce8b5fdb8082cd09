// Lines over pipes: bounded reading that can be woken, and writing with a deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remit::process {

/// What one look for a line gave.
enum class LineEvent : std::uint8_t {
  kError,    ///< the system refused to read; `message` says why
  kLine,     ///< `line`, without its `\n`
  kTooLong,  ///< a line over the bound: it is passed over and `line` is empty
  kCut,      ///< the stream ended within a line: `line` is what there was of it
  kEnd,      ///< the stream ended
  kWoken,    ///< the wake-up descriptor became readable
  kTimeout,  ///< nothing whole came in time
};

/// One look's outcome. `line` points into the reader until its next call.
struct LineRead {
  LineEvent event = LineEvent::kError;
  std::string_view line = {};
  std::string message = {};
};

/// Reads lines from a descriptor, none longer than `max_line_bytes`; of a longer one no more than
/// that is ever held. Does not own the descriptor. Not thread-safe.
class LineReader {
 public:
  /// `wake_fd` is polled beside `fd`; -1 for none.
  LineReader(int fd, std::size_t max_line_bytes, int wake_fd = -1)
      : fd_(fd), wake_fd_(wake_fd), max_line_bytes_(max_line_bytes) {}

  /// The next line; waits at most `timeout` (negative: for ever). A wake-up comes before lines that
  /// are not yet read, and after those that are.
  LineRead next(std::chrono::milliseconds timeout = std::chrono::milliseconds{-1});

 private:
  bool take_line(LineRead& out);
  LineRead end_of_stream();

  int fd_;
  int wake_fd_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t start_ = 0;    // of the line being looked for
  std::size_t scanned_ = 0;  // bytes from `start_` known to hold no `\n`
  bool skipping_ = false;    // within a line that was too long
  bool ended_ = false;
};

/// Writes all of `bytes` within `timeout`. Works on blocking descriptors too, without changing
/// them: those get at most a pipe's atomic size at a time, after a poll. Errors:
/// `deadline_exceeded`, `unavailable` (the reader is gone, or the system refused); then a prefix
/// may have been written. Call `ignore_broken_pipes` first.
Status write_all(int fd, std::string_view bytes, std::chrono::milliseconds timeout);

/// Waits until `fd` takes bytes again or its reader is gone; false when `timeout` ran out first.
bool wait_writable(int fd, std::chrono::milliseconds timeout);

/// Whether `fd` is readable or at its end, without waiting.
bool is_readable(int fd);

/// Whether every writer of the pipe or socket `fd` is gone, without waiting and though bytes may be
/// left to read. False for a file.
bool has_hung_up(int fd);

/// Writes what goes without waiting and returns how many bytes that was. Errors: `unavailable`.
Result<std::size_t> write_some(int fd, std::string_view bytes);

}  // namespace remit::process
