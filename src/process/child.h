// A child process with pipes on its standard input and output, in a process group of its own that
// does not outlive us.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/file_descriptor.h"

namespace remit::process {

/// What to start. The child sees these arguments and this environment and nothing else of ours but
/// standard error, which it shares.
struct Command {
  std::vector<std::string> arguments;    ///< the first is looked up on our PATH
  std::vector<std::string> environment;  ///< `NAME=value`, the whole of it
  std::string working_directory = {};    ///< empty: ours
  bool is_output_discarded = false;      ///< what it prints goes nowhere; `output` is at its end
};

/// `NAME=value` for each of `names` that our own environment has, in order.
std::vector<std::string> pick_environment(const std::vector<std::string>& names);

/// The variables that a program needs to run at all and that carry no secret: PATH, HOME, the
/// locale, the time zone, the temporary directory, the user's name.
const std::vector<std::string>& harmless_variables();

/// How a child ended.
struct ExitStatus {
  bool signalled = false;
  int code = 0;  ///< the exit status, or the signal's number

  /// `exited with status 3`, `was ended by signal 9`.
  [[nodiscard]] std::string to_string() const;
};

/// A running or ended child. Movable. The destructor ends the child and its whole process group by
/// SIGKILL and reaps it, so none is left behind. Nor is any when this process is ended by SIGKILL:
/// the group's first member is a keeper, a fork of ours that waits for our end and then kills the
/// group. (A signal upon a parent's death would reach the child alone, and come with the end of the
/// thread that started it.) What leaves the group, by setsid say, is beyond all of that. Not
/// thread-safe, but `input` and `output` may be used by a thread each while a third waits.
class Child {
 public:
  /// Starts `command`. No descriptor of ours beyond the three standard ones reaches it; signals
  /// are as by default. Errors: `not_found` (no such program), `invalid_input` (no arguments, or a
  /// NUL in one), `unavailable`.
  static Result<Child> start(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Our end of its standard input: non-blocking.
  [[nodiscard]] FileDescriptor& input() { return input_; }
  /// Our end of its standard output.
  [[nodiscard]] FileDescriptor& output() { return output_; }

  /// How it ended, waiting at most `timeout`; nothing if it still runs.
  std::optional<ExitStatus> wait_for(std::chrono::milliseconds timeout);

  /// Sends SIGTERM to the group. Nothing if the child was reaped.
  void terminate();

  /// The orderly end: closes its input and gives it `grace` to end by itself, then SIGTERM and
  /// `grace` again, then SIGKILL. What else is in its group is killed in any case.
  ExitStatus stop(std::chrono::milliseconds grace);

  /// The end of what does not read its input, a server say: SIGTERM at once and `grace`, then
  /// SIGKILL. What else is in its group is killed in any case.
  ExitStatus stop_by_signal(std::chrono::milliseconds grace);

 private:
  /// The process that ends the group when we end. Its number is the group's.
  struct Keeper {
    pid_t pid = -1;
    FileDescriptor lifeline;  ///< closed by our end, whatever ends us
  };
  static Result<Keeper> start_keeper();
  static void end_group(Keeper keeper);

  Child(pid_t pid, Keeper keeper, FileDescriptor input, FileDescriptor output)
      : pid_(pid),
        keeper_(std::move(keeper)),
        input_(std::move(input)),
        output_(std::move(output)) {}
  bool has_ended_within(std::chrono::milliseconds timeout) const;
  void signal_group(int number) const;
  ExitStatus end();

  pid_t pid_ = -1;
  Keeper keeper_;
  FileDescriptor input_;
  FileDescriptor output_;
  std::optional<ExitStatus> ended_;
};

}  // namespace remit::process
