// A client of three messages: initialize, initialized, tools/list.
#include "gateway/tool_listing.h"

#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "process/lines.h"

namespace remit::gateway {
namespace {

/// One request at a time over a child's pipes. What the server asks of us meanwhile is answered
/// with "method not found", so that it does not wait for ever.
class ListingClient {
 public:
  ListingClient(process::Child child, std::chrono::milliseconds timeout)
      : child_(std::move(child)),
        lines_(child_.output().get(), kMaxMcpLineBytes),
        timeout_(timeout) {}

  Result<json::Value> request(std::string_view method, json::Value params) {
    const std::int64_t id = ++last_id_;
    REMIT_TRY(send(json::Object{
        {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    for (int passed_over = 0; passed_over < kMaxOtherMessages; ++passed_over) {
      REMIT_TRY_ASSIGN(const json::Value message, next_message(method));
      const json::Value* its_id = message.find("id");
      if (message.find("method") != nullptr) {
        if (its_id != nullptr) REMIT_TRY(refuse(*its_id));
        continue;
      }
      if (its_id == nullptr || *its_id != json::Value(id)) continue;
      if (const json::Value* result = message.find("result")) return *result;
      const json::Value* text = message.at_pointer("/error/message");
      const std::string* words = text == nullptr ? nullptr : text->if_string();
      return Error{ErrorCode::kUnavailable, fmt::format("the server refuses {}: {}", method,
                                                        quoted(words == nullptr ? "" : *words))};
    }
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("the server sends messages and does not answer {}", method)};
  }

  Status notify(std::string_view method) {
    return send(json::Object{{"jsonrpc", "2.0"}, {"method", method}});
  }

  void stop() { child_.stop(std::chrono::seconds{2}); }

 private:
  static constexpr int kMaxOtherMessages = 1000;

  Status send(const json::Value& message) {
    return process::write_all(child_.input().get(), json::write(message) + "\n", timeout_);
  }

  Status refuse(const json::Value& id) {
    return send(
        json::Object{{"jsonrpc", "2.0"},
                     {"id", id},
                     {"error", json::Object{{"code", -32601}, {"message", "method not found"}}}});
  }

  Result<json::Value> next_message(std::string_view method) {
    const process::LineRead read = lines_.next(timeout_);
    switch (read.event) {
      case process::LineEvent::kLine:
        break;
      case process::LineEvent::kTimeout:
        return Error{
            ErrorCode::kDeadlineExceeded,
            fmt::format("the server did not answer {} within {} ms", method, timeout_.count())};
      case process::LineEvent::kTooLong:
        return Error{ErrorCode::kLimitExceeded,
                     fmt::format("the server sent a line over {} bytes", kMaxMcpLineBytes)};
      default:
        return Error{ErrorCode::kUnavailable,
                     fmt::format("the server ended before it answered {}", method)};
    }
    Result<json::Value> message = json::parse(read.line);
    if (message) return message;
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the server wrote a line that is not JSON ({}): {}",
                             message.error().to_string(), quoted(read.line))};
  }

  process::Child child_;
  process::LineReader lines_;
  std::chrono::milliseconds timeout_;
  std::int64_t last_id_ = 0;
};

Result<json::Value> read_pages(ListingClient& client) {
  REMIT_TRY(client.request(
      "initialize",
      json::Object{{"protocolVersion", "2025-11-25"},
                   {"capabilities", json::Object{}},
                   {"clientInfo", json::Object{{"name", "remit"}, {"version", "0.1.0"}}}}));
  REMIT_TRY(client.notify("notifications/initialized"));
  json::Array tools;
  json::Object params;
  while (true) {
    REMIT_TRY_ASSIGN(const json::Value page, client.request("tools/list", params));
    const json::Value* list = page.find("tools");
    if (list == nullptr || list->if_array() == nullptr) {
      return Error{ErrorCode::kInvalidInput, "the server's tools/list result has no \"tools\""};
    }
    const json::Array& items = *list->if_array();
    tools.insert(tools.end(), items.begin(), items.end());
    if (tools.size() > kMaxTools) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("the server has more than {} tools", kMaxTools)};
    }
    const json::Value* cursor = page.find("nextCursor");
    // A server that repeats its cursor would never come to an end.
    if (cursor == nullptr || cursor->is_null()) return json::Value(std::move(tools));
    const json::Value* last = params.find("cursor");
    if (items.empty() || (last != nullptr && *last == *cursor)) {
      return Error{ErrorCode::kInvalidInput, "the server's tools/list pages do not end"};
    }
    params.set("cursor", *cursor);
  }
}

}  // namespace

Result<json::Value> list_server_tools(const process::Command& command,
                                      std::chrono::milliseconds timeout) {
  process::ignore_broken_pipes();
  REMIT_TRY_ASSIGN(process::Child child, process::Child::start(command));
  ListingClient client(std::move(child), timeout);
  Result<json::Value> tools = read_pages(client);
  client.stop();
  return tools;
}

}  // namespace remit::gateway
