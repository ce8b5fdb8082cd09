// Starting, waiting for and ending children by posix_spawn.
#include "process/child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
                     const std::string& directory) {
  int code = posix_spawn_file_actions_adddup2(&plan.actions, input.read_end.get(), STDIN_FILENO);
  if (code == 0) {
    code = posix_spawn_file_actions_adddup2(&plan.actions, output.write_end.get(), STDOUT_FILENO);
  }
  // What we were started with may not be close-on-exec; the child gets none of it.
  if (code == 0) {
    code = posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);
  }
  if (code == 0 && !directory.empty()) {
    code = posix_spawn_file_actions_addchdir_np(&plan.actions, directory.c_str());
  }
  return code;
}

int plan_attributes(SpawnPlan& plan) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  int code = posix_spawnattr_setsigmask(&plan.attributes, &none);
  if (code == 0) code = posix_spawnattr_setsigdefault(&plan.attributes, &all);
  if (code == 0) code = posix_spawnattr_setpgroup(&plan.attributes, 0);
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
  SpawnPlan plan;
  int code = plan_descriptors(plan, input, output, command.working_directory);
  if (code == 0) code = plan_attributes(plan);
  pid_t pid = -1;
  if (code == 0) {
    const auto arguments = pointers(command.arguments);
    const auto environment = pointers(command.environment);
    code = posix_spawnp(&pid, arguments.front(), &plan.actions, &plan.attributes, arguments.data(),
                        environment.data());
  }
  if (code != 0) return start_error(command.arguments.front(), code);
  return Child{pid, std::move(input.write_end), std::move(output.read_end)};
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      ended_(std::exchange(other.ended_, std::nullopt)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Child gone(std::move(*this));  // its destructor ends what we held
    pid_ = std::exchange(other.pid_, -1);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    ended_ = std::exchange(other.ended_, std::nullopt);
  }
  return *this;
}

Child::~Child() {
  if (pid_ <= 0 || ended_) return;
  signal_group(SIGKILL);
  reap();
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
  if (pid_ > 0 && !ended_) ::kill(-pid_, number);
}

ExitStatus Child::reap() {
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
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
  signal_group(SIGKILL);  // children of its own that it left behind
  return reap();
}

void Child::terminate() {
  signal_group(SIGTERM);
}

ExitStatus Child::stop(std::chrono::milliseconds grace) {
  REMIT_CHECK(pid_ > 0);
  if (ended_) return *ended_;
  input_.close();
  if (auto status = wait_for(grace)) return *status;
  terminate();
  if (auto status = wait_for(grace)) return *status;
  signal_group(SIGKILL);
  return reap();
}

}  // namespace remit::process
