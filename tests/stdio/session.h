// One `remit stdio` session against the fake server, for tests: its folder, its pipes, its
// evidence.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "gateway/run_stdio.h"
#include "json/value.h"
#include "process/file_descriptor.h"
#include "process/lines.h"
#include "tests/support/evidence_events.h"
#include "tests/support/test_folder.h"

namespace remit::testing {

inline constexpr std::chrono::milliseconds kPatience{30'000};

inline std::filesystem::path stdio_tests() {
  const char* root = std::getenv("REMIT_SOURCE_DIR");
  return std::filesystem::absolute(root == nullptr ? "." : root) / "tests" / "stdio";
}

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The world of tests/stdio/world, in a folder of its own.
class SessionFolder {
 public:
  struct Options {
    std::vector<std::string> flags = {};   ///< of the fake server
    std::vector<std::string> others = {};  ///< names of further servers, without flags
    std::string other_flag = {};           ///< but for this one
    std::string limits = {};               ///< members of `limits`
  };
  explicit SessionFolder(const Options& options) {
    const std::filesystem::path world = stdio_tests() / "world";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(world)) {
      if (!entry.is_regular_file()) continue;
      std::string text = text_of_file(entry.path());
      text = replaced(text, "@UPSTREAMS@", upstreams(options));
      text = replaced(text, "@LIMITS@", options.limits);
      folder_.put(entry.path().lexically_relative(world).string(), text);
    }
    folder_.put("digest.key", "0123456789abcdef0123456789abcdef");
    // The tests may run under any mask; what others may write is refused, and a key that they may
    // read.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      std::filesystem::permissions(
          entry.path(), std::filesystem::perms::group_all | std::filesystem::perms::others_all,
          std::filesystem::perm_options::remove);
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  void put(const std::string& name, const std::string& text) const { folder_.put(name, text); }

  /// Every line that reached the server.
  [[nodiscard]] std::vector<std::string> tap() const {
    std::istringstream lines(text_of_file(path("tap-fake")));
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }
  [[nodiscard]] std::vector<std::string> events() const {
    PosixFileSystem files;
    return evidence_lines(files, path("evidence"));
  }

 private:
  std::string upstreams(const Options& options) const {
    std::string out = upstream("fake", options.flags);
    for (const std::string& other : options.others)
      out += "\n" + upstream(other, options.other_flag.empty()
                                        ? std::vector<std::string>{}
                                        : std::vector<std::string>{options.other_flag});
    return out;
  }
  std::string upstream(const std::string& name, const std::vector<std::string>& flags) const {
    std::string words = "/usr/bin/env, python3, \"" + (stdio_tests() / "fake_server.py").string() +
                        "\", --tap, \"tap-" + name + "\"";
    for (const std::string& flag : flags) words += ", \"" + flag + "\"";
    return "  - {name: " + name + ", stdio: {command: [" + words + "]}}";
  }
  TestFolder folder_;
};

/// A gateway on a thread of the test, and the client's ends of its pipes.
class Session {
 public:
  /// `clock`, if there is one, is the gateway's in place of the machine's, and outlives the
  /// session.
  explicit Session(const SessionFolder& folder, std::string run_id = "run-1",
                   const gateway::Patience& patience = {}, const Clock* clock = nullptr) {
    auto in = process::make_pipe();
    auto out = process::make_pipe();
    auto notices = process::make_pipe();
    if (!in || !out || !notices) std::abort();
    to_gateway_ = std::move(in->write_end);
    gateway_in_ = std::move(in->read_end);
    from_gateway_ = std::move(out->read_end);
    gateway_out_ = std::move(out->write_end);
    notices_ = std::move(notices->read_end);
    gateway_notices_ = std::move(notices->write_end);
    reader_.emplace(from_gateway_.get(), kMaxMcpLineBytes);
    listener_ = std::thread([this] { listen(); });
    gateway::StdioRun run{.config_file = folder.path("remit.yaml"),
                          .run_id = std::move(run_id),
                          .case_id = "case-1",
                          .input_fd = gateway_in_.get(),
                          .output_fd = gateway_out_.get(),
                          .notice_fd = gateway_notices_.get(),
                          .patience = patience};
    if (clock == nullptr) clock = &clock_;
    gateway_ = std::thread([this, clock, run = std::move(run)] {
      problems_ = gateway::run_stdio(run, files_, *clock, random_);
      gateway_in_.close();
      gateway_out_.close();
      gateway_notices_.close();
    });
  }
  ~Session() { finish(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// False if the gateway is gone.
  bool send(const std::string& line) { return send_bytes(line + "\n"); }
  bool send_bytes(const std::string& bytes) {
    return process::write_all(to_gateway_.get(), bytes, kPatience).has_value();
  }
  /// The next line of the gateway; nothing if it ended, or said nothing in time.
  std::optional<std::string> receive() {
    const process::LineRead read = reader_->next(kPatience);
    if (read.event != process::LineEvent::kLine) return std::nullopt;
    return std::string(read.line);
  }
  /// Closes the client's writing end and waits for the orderly end; the lines that still came.
  std::vector<std::string> finish() {
    std::vector<std::string> out;
    to_gateway_.close();
    while (from_gateway_.is_open()) {
      auto line = receive();
      if (!line) break;
      out.push_back(*line);
    }
    if (gateway_.joinable()) gateway_.join();
    if (listener_.joinable()) listener_.join();
    return out;
  }
  /// The client closes its writing end and stays.
  void hang_up() { to_gateway_.close(); }
  /// The client goes without a word: it reads nothing more.
  void leave() {
    from_gateway_.close();
    to_gateway_.close();
  }
  /// After `finish`.
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] const std::string& notices() const { return notice_text_; }

 private:
  void listen() {
    process::LineReader reader(notices_.get(), 1 << 16);
    while (true) {
      const process::LineRead read = reader.next();
      if (read.event != process::LineEvent::kLine) return;
      notice_text_ += std::string(read.line) + "\n";
    }
  }

  PosixFileSystem files_;
  SystemClock clock_;
  SystemRandom random_;
  FileDescriptor to_gateway_, gateway_in_, from_gateway_, gateway_out_, notices_, gateway_notices_;
  std::optional<process::LineReader> reader_;
  std::vector<Error> problems_;
  std::string notice_text_;
  std::thread listener_;
  std::thread gateway_;
};

}  // namespace remit::testing
