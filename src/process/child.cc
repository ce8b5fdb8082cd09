// Starting, waiting for and ending children by posix_spawn, each in the group of its keeper.
#include "process/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/check.h"

namespace remit::process {
namespace {

// Owns what posix_spawn wants set up, so that every return frees it.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

int plan_descriptors(SpawnPlan& plan, const Pipe& input, const Pipe& output,
                     const Command& command) {
  int code = posix_spawn_file_actions_adddup2(&plan.actions, input.read_end.get(), STDIN_FILENO);
  if (code == 0 && command.is_output_discarded) {
    code = posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else if (code == 0) {
    code = posix_spawn_file_actions_adddup2(&plan.actions, output.write_end.get(), STDOUT_FILENO);
  }
  // What we were started with may not be close-on-exec; the child gets none of it.
  if (code == 0) {
    code = posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);
  }
  if (code == 0 && !command.working_directory.empty()) {
    code = posix_spawn_file_actions_addchdir_np(&plan.actions, command.working_directory.c_str());
  }
  return code;
}

int plan_attributes(SpawnPlan& plan, pid_t group) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  int code = posix_spawnattr_setsigmask(&plan.attributes, &none);
  if (code == 0) code = posix_spawnattr_setsigdefault(&plan.attributes, &all);
  if (code == 0) code = posix_spawnattr_setpgroup(&plan.attributes, group);
  if (code == 0) {
    code = posix_spawnattr_setflags(
        &plan.attributes,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  }
  return code;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  // posix_spawn takes char* for history's sake and does not write.
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool has_nul(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.find('\0') != std::string::npos; });
}

// The keeper's whole life, in a fork of a process with threads: nothing but system calls.
[[noreturn]] void keep_group(int lifeline) {
  ::setpgid(0, 0);
  // Nothing of ours is held open here: not a pipe whose end somebody waits for, not the log's lock.
  ::dup2(lifeline, STDIN_FILENO);
  ::close_range(STDOUT_FILENO, ~0U, 0);
  char byte = 0;
  if (::write(STDIN_FILENO, &byte, 1) != 1) ::_exit(1);
  while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

pid_t reap_pid(pid_t pid, int& status) {
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  return reaped;
}

Error start_error(const std::string& program, int code) {
  const bool missing = code == ENOENT;
  return Error{missing ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
               "cannot start " + quoted(program) + ": " + std::strerror(code)};
}

}  // namespace

std::vector<std::string> pick_environment(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr) out.push_back(name + "=" + value);
  }
  return out;
}

const std::vector<std::string>& harmless_variables() {
  static const std::vector<std::string> kNames{"PATH", "HOME",   "LANG", "LC_ALL", "LC_CTYPE",
                                               "TZ",   "TMPDIR", "USER", "LOGNAME"};
  return kNames;
}

std::string ExitStatus::to_string() const {
  return (signalled ? "was ended by signal " : "exited with status ") + std::to_string(code);
}

Result<Child> Child::start(const Command& command) {
  if (command.arguments.empty() || command.arguments.front().empty()) {
    return Error{ErrorCode::kInvalidInput, "a command needs a program"};
  }
  if (has_nul(command.arguments) || has_nul(command.environment)) {
    return Error{ErrorCode::kInvalidInput, "a command cannot hold a NUL byte"};
  }
  ignore_broken_pipes();
  REMIT_TRY_ASSIGN(Pipe input, make_pipe());
  REMIT_TRY_ASSIGN(Pipe output, make_pipe());
  REMIT_TRY(set_nonblocking(input.write_end.get()));
  // First of the group, so that there is no moment in which we could end and the child not.
  REMIT_TRY_ASSIGN(Keeper keeper, start_keeper());
  SpawnPlan plan;
  int code = plan_descriptors(plan, input, output, command);
  if (code == 0) code = plan_attributes(plan, keeper.pid);
  pid_t pid = -1;
  if (code == 0) {
    const auto arguments = pointers(command.arguments);
    const auto environment = pointers(command.environment);
    code = posix_spawnp(&pid, arguments.front(), &plan.actions, &plan.attributes, arguments.data(),
                        environment.data());
  }
  if (code != 0) {
    end_group(std::move(keeper));
    return start_error(command.arguments.front(), code);
  }
  return Child{pid, std::move(keeper), std::move(input.write_end), std::move(output.read_end)};
}

Result<Child::Keeper> Child::start_keeper() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return start_error("a process", errno);
  }
  FileDescriptor lifeline{ends[0]};
  FileDescriptor far_end{ends[1]};
  // A keeper that a signal to the group could end would be none; SIGKILL is meant to.
  sigset_t all;
  sigset_t former;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  const pid_t pid = ::fork();
  if (pid == 0) keep_group(far_end.get());
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (pid < 0) return start_error("a process", error);
  far_end.close();
  // One byte says that the group is there and that the fork holds nothing of ours any more.
  char byte = 0;
  ssize_t got = -1;
  do {
    got = ::read(lifeline.get(), &byte, 1);
  } while (got < 0 && errno == EINTR);
  Keeper keeper{pid, std::move(lifeline)};
  if (got == 1) return keeper;
  end_group(std::move(keeper));
  return start_error("a process", ECHILD);
}

void Child::end_group(Keeper keeper) {
  ::kill(-keeper.pid, SIGKILL);
  ::kill(keeper.pid, SIGKILL);  // one that did not get as far as to its group
  int status = 0;
  reap_pid(keeper.pid, status);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      keeper_(std::move(other.keeper_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      ended_(std::exchange(other.ended_, std::nullopt)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Child gone(std::move(*this));  // its destructor ends what we held
    pid_ = std::exchange(other.pid_, -1);
    keeper_ = std::move(other.keeper_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    ended_ = std::exchange(other.ended_, std::nullopt);
  }
  return *this;
}

Child::~Child() {
  if (pid_ > 0 && !ended_) end();
}

bool Child::has_ended_within(std::chrono::milliseconds timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::chrono::milliseconds pause{1};
  while (true) {
    siginfo_t info{};
    // WNOWAIT leaves the child unreaped, so that its number cannot be given to another process
    // while we still send signals to it.
    const int code = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (code == 0 && info.si_pid == pid_) return true;
    if (code != 0 && errno != EINTR) return true;  // no such child: nothing to wait for
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{16});
  }
}

void Child::signal_group(int number) const {
  // The unreaped keeper has the number, which so can be no other group's.
  if (pid_ > 0 && !ended_) ::kill(-keeper_.pid, number);
}

// Kills what there is of the group, children of its own that it left behind among them.
ExitStatus Child::end() {
  signal_group(SIGKILL);
  int status = 0;
  const pid_t reaped = reap_pid(pid_, status);
  end_group(std::move(keeper_));
  ExitStatus out;
  out.signalled = reaped > 0 && WIFSIGNALED(status);
  out.code = out.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  ended_ = out;
  return out;
}

std::optional<ExitStatus> Child::wait_for(std::chrono::milliseconds timeout) {
  REMIT_CHECK(pid_ > 0);
  if (ended_) return ended_;
  if (!has_ended_within(timeout)) return std::nullopt;
  return end();
}

void Child::terminate() {
  signal_group(SIGTERM);
}

ExitStatus Child::stop(std::chrono::milliseconds grace) {
  REMIT_CHECK(pid_ > 0);
  if (ended_) return *ended_;
  input_.close();
  if (auto status = wait_for(grace)) return *status;
  return stop_by_signal(grace);
}

ExitStatus Child::stop_by_signal(std::chrono::milliseconds grace) {
  REMIT_CHECK(pid_ > 0);
  if (ended_) return *ended_;
  terminate();
  if (auto status = wait_for(grace)) return *status;
  return end();
}

}  // namespace remit::process
