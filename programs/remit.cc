// remit: the one program. Builds the real world and hands it down.
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "cli/command.h"
#include "cli/world.h"

namespace {

// A walk beneath a root holds a descriptor for each step and many calls may be in flight: the
// default of 1,024 would run out, and a log that cannot open its next segment refuses everything.
void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  // Refused, the limit stays as it was, which is enough for all but many deep paths at once.
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Takes the stack that the deepest calls need while there is memory: grown later, beside a heap
// that took the last of it, it would end the process by a signal and without a word (REQ-GR-117).
[[gnu::noinline]] void take_stack() {
  constexpr std::size_t kDeepest = 512 * 1024;
  constexpr std::size_t kPage = 4096;
  [[maybe_unused]] volatile char stack[kDeepest];
  for (std::size_t at = 0; at < kDeepest; at += kPage) stack[at] = 0;
}

// The width of the terminal that a descriptor is, 0 where it is none or one that cannot go back to
// the beginning of its line.
int columns_of(int descriptor) {
  constexpr int kUsual = 80;
  const char* kind = std::getenv("TERM");
  if (::isatty(descriptor) != 1 || kind == nullptr || std::string_view(kind) == "dumb") return 0;
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kUsual;
}

// Ends the process where an exception found nobody in its thread. Nothing is allocated: where
// memory ends, that is said and is no defect (REQ-GR-117).
[[noreturn]] void end_by_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    remit::cli::FdOutput err(2);
    (void)err.write(remit::cli::kOutOfMemory);
    ::_exit(remit::cli::kExitBadInput);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a defect, whose place the core shows
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_by_exception);
  take_stack();
  raise_descriptor_limit();
  // A closed pipe is an error that a write returns, never the end of a boundary.
  std::signal(SIGPIPE, SIG_IGN);
  // Likewise a file at the limit of its size (`ulimit -f`): such a log refuses, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  remit::PosixFileSystem files;
  const remit::SystemClock clock;
  remit::SystemRandom random;
  remit::cli::FdOutput out(1);
  remit::cli::FdOutput err(2);
  const bool colours = ::isatty(1) == 1 && std::getenv("NO_COLOR") == nullptr;
  remit::cli::World world{.files = files,
                          .clock = clock,
                          .random = random,
                          .out = out,
                          .err = err,
                          .out_is_terminal = colours,
                          .err_columns = columns_of(2)};
  if (const char* directory = std::getenv("TMPDIR")) world.scratch_directory = directory;
  return remit::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), world);
}
