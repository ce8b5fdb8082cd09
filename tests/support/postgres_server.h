// A PostgreSQL server of its own for a test: a Unix socket in a temporary folder, nothing on the
// network, gone with the test.
#pragma once

#include <glob.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "database/postgres_database.h"

namespace remit::testing {

/// PostgreSQL refuses to run as root: then it runs as `nobody`.
class PostgresServer {
 public:
  /// Null, and a word on standard output, where PostgreSQL is not installed.
  static std::unique_ptr<PostgresServer> start() {
    const std::string programs = programs_folder();
    if (programs.empty()) {
      std::puts("not run: PostgreSQL is not installed (scripts/setup installs it)");
      return nullptr;
    }
    auto server = std::unique_ptr<PostgresServer>(new PostgresServer(programs));
    if (!server->make() || !server->run()) std::abort();
    return server;
  }
  ~PostgresServer() {
    stop(SIGQUIT);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// A connection string for a schema of that name, made if it is not there yet.
  std::string schema(const std::string& name) {
    const auto database = database::PostgresDatabase::open(base(), clock_);
    if (!database || !(*database)->run("create schema if not exists " + name, {},
                                       {.deadline = clock_.monotonic_now() + kPatience})) {
      std::abort();
    }
    return base() + " options=-csearch_path=" + name;
  }
  /// One that no other call gets.
  std::string new_schema() { return schema("s" + std::to_string(++schemas_)); }

  /// Ends the server at once, as the loss of its machine would: the processes that serve the
  /// connections as well, which outlive the server's own process for a moment and could still
  /// answer, and even commit.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGSTOP);  // so that it starts no process meanwhile
    ::waitpid(pid_, nullptr, WUNTRACED);
    const std::vector<pid_t> children = children_of(pid_);
    for (const pid_t child : children) ::kill(child, SIGKILL);
    stop(SIGKILL);
    for (const pid_t child : children) {
      while (parent_of(child) > 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  /// Lets every process of the server stand still, as a machine without memory does, and go on.
  void stand_still() { signal_all(SIGSTOP); }
  void go_on() { signal_all(SIGCONT); }
  /// Brings it back with what it had made durable.
  void restart() {
    if (!run()) std::abort();
  }

 private:
  static constexpr std::chrono::seconds kPatience{30};

  explicit PostgresServer(std::string programs) : programs_(std::move(programs)) {}

  static std::string programs_folder() {
    glob_t found{};
    std::string out;
    if (::glob("/usr/lib/postgresql/*/bin/initdb", 0, nullptr, &found) == 0 && found.gl_pathc > 0) {
      out = std::filesystem::path(found.gl_pathv[found.gl_pathc - 1]).parent_path().string();
    }
    ::globfree(&found);
    return out;
  }

  [[nodiscard]] std::string base() const {
    return "host=" + folder_ + " port=5432 user=app dbname=postgres";
  }

  bool make() {
    char pattern[] = "/tmp/remit-pg.XXXXXX";  // a socket's path has to be short
    if (::mkdtemp(pattern) == nullptr) return false;
    folder_ = pattern;
    if (::geteuid() == 0 && ::chown(folder_.c_str(), kNobody, kNobody) != 0) return false;
    int status = 0;
    const pid_t child = spawn({programs_ + "/initdb", "-D", folder_ + "/d", "-A", "trust", "-U",
                               "app", "--no-sync", "--locale=C", "-E", "UTF8"});
    return ::waitpid(child, &status, 0) == child && status == 0;
  }

  bool run() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      pid_ =
          spawn({programs_ + "/postgres", "-D", folder_ + "/d", "-k", folder_, "-p", "5432", "-c",
                 "listen_addresses=", "-c", "max_connections=60", "-c", "shared_buffers=16MB"});
      while (is_running()) {
        const auto database = database::PostgresDatabase::open(base(), clock_);
        if (database &&
            (*database)->run("select 1", {}, {.deadline = clock_.monotonic_now() + kPatience})) {
          return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
      // What a killed server left behind takes a moment to go.
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    return false;
  }

  bool is_running() {
    if (pid_ <= 0) return false;
    if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
    pid_ = -1;
    return false;
  }

  /// Of a process that is gone, or that is dead and only waits to be noticed: 0.
  static pid_t parent_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_ends = text.rfind(')');
    char state = 'Z';
    int parent = 0;
    if (name_ends == std::string::npos ||
        std::sscanf(text.c_str() + name_ends + 1, " %c %d", &state, &parent) != 2 || state == 'Z') {
      return 0;
    }
    return parent;
  }

  static std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> out;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t each = std::atoi(entry.path().filename().c_str());
      if (each > 0 && parent_of(each) == process) out.push_back(each);
    }
    return out;
  }

  void stop(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  void signal_all(int signal) const {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    for (const pid_t child : children_of(pid_)) ::kill(child, signal);
  }

  [[nodiscard]] pid_t spawn(const std::vector<std::string>& words) const {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const std::string log = folder_ + "/log";
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      ::_exit(126);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (std::freopen(log.c_str(), "a", stdout) == nullptr ||
        std::freopen(log.c_str(), "a", stderr) == nullptr || ::chdir("/") != 0) {
      ::_exit(126);
    }
    ::execv(argv.front(), argv.data());
    ::_exit(127);
  }

  static constexpr unsigned kNobody = 65534;
  const std::string programs_;
  std::string folder_;
  SystemClock clock_;
  pid_t pid_ = -1;
  std::atomic<int> schemas_{0};
};

}  // namespace remit::testing
