// A synchronous MCP client on two descriptors: one request, one answer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "json/value.h"
#include "process/lines.h"

namespace remit::examples {

/// Talks to whatever serves MCP on the other ends. Not thread-safe.
class McpClient {
 public:
  /// Writes to `input_fd` and reads from `output_fd`; both outlive it.
  McpClient(int input_fd, int output_fd)
      : input_fd_(input_fd), lines_(output_fd, kMaxMcpLineBytes) {}

  Status shake_hands() {
    REMIT_TRY(request(
        "initialize",
        json::Object{{"protocolVersion", "2025-11-25"},
                     {"capabilities", json::Object{}},
                     {"clientInfo", json::Object{{"name", "planner"}, {"version", "1.0.0"}}}}));
    return send(json::Object{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }

  /// The result, or the error's object. Errors: `unavailable` without an answer.
  Result<json::Value> request(std::string_view method, json::Value params) {
    const std::int64_t id = ++last_id_;
    REMIT_TRY(send(json::Object{
        {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    while (true) {
      const process::LineRead read = lines_.next(kPatience);
      if (read.event != process::LineEvent::kLine) {
        return Error{ErrorCode::kUnavailable, "the server gave no answer", std::string(method)};
      }
      REMIT_TRY_ASSIGN(const json::Value message, json::parse(read.line));
      const json::Value* answered = message.find("id");
      if (answered == nullptr || *answered != json::Value(id)) continue;
      if (const json::Value* error = message.find("error")) return *error;
      const json::Value* result = message.find("result");
      return result == nullptr ? json::Value{} : *result;
    }
  }

 private:
  static constexpr std::chrono::seconds kPatience{30};

  Status send(const json::Value& message) {
    return process::write_all(input_fd_, json::write(message) + "\n", kPatience);
  }

  int input_fd_;
  process::LineReader lines_;
  std::int64_t last_id_ = 0;
};

}  // namespace remit::examples
