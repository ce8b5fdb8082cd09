// Bounded line reading and writing with deadlines, by poll.
#include "process/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace remit::process {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kReadBytes = 64 * 1024;

// Milliseconds for poll until `deadline`, rounded up so that a wait never ends early; -1 for none.
int poll_timeout(SteadyClock::time_point deadline, bool forever) {
  if (forever) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

Error system_error(std::string_view what) {
  return Error{ErrorCode::kUnavailable, std::string(what) + ": " + std::strerror(errno)};
}

bool is_nonblocking(int fd) {
  return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

// How many bytes one write may have so that it cannot wait after poll said that there is room.
std::size_t chunk_bytes(std::size_t left, bool nonblocking) {
  return nonblocking ? left : std::min<std::size_t>(left, PIPE_BUF);
}

}  // namespace

bool LineReader::take_line(LineRead& out) {
  const std::size_t newline = buffer_.find('\n', start_ + scanned_);
  if (newline == std::string::npos) {
    scanned_ = buffer_.size() - start_;
    if (scanned_ <= max_line_bytes_) return false;
    // Too long already: forget what came and pass over the rest as it comes.
    buffer_.clear();
    start_ = 0;
    scanned_ = 0;
    const bool told = skipping_;
    skipping_ = true;
    if (told) return false;
    out = LineRead{.event = LineEvent::kTooLong};
    return true;
  }
  const std::size_t length = newline - start_;
  out.line = std::string_view(buffer_).substr(start_, length);
  start_ = newline + 1;
  scanned_ = 0;
  if (skipping_) {
    skipping_ = false;  // its end; the next line is a new one
    return take_line(out);
  }
  out.event = length > max_line_bytes_ ? LineEvent::kTooLong : LineEvent::kLine;
  if (out.event == LineEvent::kTooLong) out.line = {};
  return true;
}

LineRead LineReader::end_of_stream() {
  const bool cut = start_ < buffer_.size() && !skipping_;
  LineRead out{.event = LineEvent::kEnd};
  if (cut) {
    out.event = LineEvent::kCut;
    out.line = std::string_view(buffer_).substr(start_);
  }
  start_ = buffer_.size();
  scanned_ = 0;
  return out;
}

LineRead LineReader::next(std::chrono::milliseconds timeout) {
  const bool forever = timeout.count() < 0;
  const auto deadline = SteadyClock::now() + (forever ? std::chrono::milliseconds{0} : timeout);
  LineRead out;
  while (true) {
    if (take_line(out)) return out;
    if (ended_) return end_of_stream();
    if (start_ > 0) {
      buffer_.erase(0, start_);
      start_ = 0;
    }
    std::array<pollfd, 2> watched{pollfd{fd_, POLLIN, 0}, pollfd{wake_fd_, POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), poll_timeout(deadline, forever));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return LineRead{.message = system_error("cannot wait for input").message};
    if (ready == 0) return LineRead{.event = LineEvent::kTimeout};
    if (wake_fd_ >= 0 && watched[1].revents != 0) return LineRead{.event = LineEvent::kWoken};
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kReadBytes);
    const ssize_t got = ::read(fd_, buffer_.data() + had, kReadBytes);
    const int code = errno;
    buffer_.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) ended_ = true;
    if (got < 0 && code != EINTR && code != EAGAIN) {
      errno = code;
      return LineRead{.message = system_error("cannot read").message};
    }
  }
}

bool wait_writable(int fd, std::chrono::milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  while (true) {
    pollfd watched{fd, POLLOUT, 0};
    const int ready = ::poll(&watched, 1, poll_timeout(deadline, false));
    if (ready == 0) return false;
    if (ready > 0 || errno != EINTR) return true;  // an error shows at the next write
  }
}

bool is_readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

bool has_hung_up(int fd) {
  pollfd watched{fd, POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) > 0;
}

Result<std::size_t> write_some(int fd, std::string_view bytes) {
  const bool nonblocking = is_nonblocking(fd);
  std::size_t written = 0;
  while (written < bytes.size()) {
    pollfd watched{fd, POLLOUT, 0};
    const int ready = ::poll(&watched, 1, 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return system_error("cannot wait for output");
    if (ready == 0) return written;
    const std::size_t chunk = chunk_bytes(bytes.size() - written, nonblocking);
    const ssize_t count = ::write(fd, bytes.data() + written, chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return written;
    if (count < 0) return system_error("cannot write");
    written += static_cast<std::size_t>(count);
  }
  return written;
}

Status write_all(int fd, std::string_view bytes, std::chrono::milliseconds timeout) {
  const auto deadline = SteadyClock::now() + timeout;
  while (true) {
    auto written = write_some(fd, bytes);
    if (!written) return std::move(written).error();
    bytes.remove_prefix(*written);
    if (bytes.empty()) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (!wait_writable(fd, left)) {
      return Error{ErrorCode::kDeadlineExceeded, "the reader took nothing in time"};
    }
  }
}

}  // namespace remit::process
