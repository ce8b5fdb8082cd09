// remit: the one program. Builds the real world and hands it down.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "cli/world.h"

int main(int argc, char** argv) {
  // A closed pipe is an error that a write returns, never the end of a boundary.
  std::signal(SIGPIPE, SIG_IGN);
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
  return remit::cli::run_command_line(std::vector<std::string>(argv + 1, argv + argc), world);
}
