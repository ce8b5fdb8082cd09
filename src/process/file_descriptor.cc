// Pipes, wake-ups and termination signals on Linux.
#include "process/file_descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>

namespace remit::process {
namespace {

Error system_error(std::string_view what) {
  return Error{ErrorCode::kUnavailable, std::string(what) + ": " + std::strerror(errno)};
}

sigset_t termination_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  return Pipe{FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

Status set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return system_error("cannot make a descriptor non-blocking");
  }
  return {};
}

FileDescriptor own_end_of_pipe(int fd) {
  struct stat found{};
  if (::fstat(fd, &found) != 0 || !S_ISFIFO(found.st_mode)) return FileDescriptor{};
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  return FileDescriptor{::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
}

Result<Wakeup> Wakeup::make() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return system_error("cannot make an event descriptor");
  return Wakeup{FileDescriptor{fd}};
}

void Wakeup::notify() const {
  const std::uint64_t one = 1;
  // A full counter (EAGAIN) is readable already, which is all that is wanted.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

Result<TerminationSignals> TerminationSignals::take() {
  const sigset_t set = termination_set();
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return system_error("cannot make a signal descriptor");
  TerminationSignals signals{FileDescriptor{fd}};
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &set, &signals.former_mask_); code != 0) {
    errno = code;
    return system_error("cannot hold back signals");
  }
  return signals;
}

TerminationSignals::~TerminationSignals() {
  if (!signals_.is_open()) return;
  while (read_one()) {
  }
  ::pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

bool TerminationSignals::read_one() const {
  signalfd_siginfo info{};
  return ::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace remit::process
