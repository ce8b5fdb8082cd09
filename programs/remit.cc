// remit: the one program. Builds the real world and hands it down.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
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

}  // namespace

int main(int argc, char** argv) {
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
                          .out_is_terminal = colours};
  if (const char* directory = std::getenv("TMPDIR")) world.scratch_directory = directory;
  return remit::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), world);
}
