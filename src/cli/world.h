// The outside world as commands see it: built by main, replaced by tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"

namespace remit::cli {

/// Where text for people goes.
class Output {
 public:
  virtual ~Output() = default;
  /// Writes all of `text`. Errors: `unavailable` (closed pipe, full disk).
  virtual Status write(std::string_view text) = 0;
};

/// Writes to a file descriptor that outlives it.
class FdOutput final : public Output {
 public:
  explicit FdOutput(int fd) : fd_(fd) {}
  Status write(std::string_view text) override;

 private:
  int fd_;
};

/// What a command works with. All outlive the run.
struct World {
  FileSystem& files;
  const Clock& clock;
  Random& random;
  Output& out;
  Output& err;
  int input_fd = 0;              ///< for `stdio` and for events from standard input
  int output_fd = 1;             ///< for `stdio`, whose output is a protocol
  bool out_is_terminal = false;  ///< colours may be written to `out`
  int err_columns = 0;           ///< width of the terminal that `err` is; 0 where it is none
  /// Where files go that are gone with the process; empty for where the system keeps such files.
  std::string scratch_directory = {};

  /// The same world with other files, which outlive it.
  [[nodiscard]] World with(FileSystem& other) const {
    return {.files = other,
            .clock = clock,
            .random = random,
            .out = out,
            .err = err,
            .input_fd = input_fd,
            .output_fd = output_fd,
            .out_is_terminal = out_is_terminal,
            .err_columns = err_columns,
            .scratch_directory = scratch_directory};
  }
};

/// Runs one command line (the words after the program's name) and returns the exit code. Whatever
/// could not be written to `out` makes the code kExitCannotWrite, never 0. Where memory ends, that
/// is said and the code is kExitBadInput (REQ-GR-117).
int run_command_line(const std::vector<std::string>& words, World& world);

/// What is said where memory ends.
inline constexpr std::string_view kOutOfMemory = "remit: not enough memory to finish\n";

/// Writes `text` to `out` and returns `exit_code`, or kExitCannotWrite when it could not be
/// written.
int print(World& world, std::string_view text, int exit_code);

/// `remit: MESSAGE` on the error output.
void complain(World& world, const Error& error);

}  // namespace remit::cli
