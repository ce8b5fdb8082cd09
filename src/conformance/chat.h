// A planner behind an endpoint that speaks the chat completions of OpenAI, as many others do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "http/client.h"
#include "json/value.h"

namespace remit::conformance {

struct ChatOptions {
  http::Url url;      ///< of the completions themselves: `…/v1/chat/completions`
  std::string model;  ///< as the endpoint calls it
  std::string key;    ///< sent as a bearer token; empty for none; in no message and no report
  std::chrono::milliseconds deadline{};                 ///< of one request
  std::function<void(std::chrono::milliseconds)> rest;  ///< waits before a request is repeated
  /// Told why a request is repeated, and after how long a rest; may be empty.
  std::function<void(const Error& why, std::chrono::milliseconds)> on_repeat = {};
};

/// What asking cost. Tokens are the endpoint's own word.
struct ChatCost {
  std::int64_t requests = 0;  ///< sent, repeated ones as well
  std::int64_t retries = 0;
  std::int64_t rate_limited = 0;  ///< answers 429
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  std::int64_t answers_without_usage = 0;
  std::chrono::milliseconds waited{};  ///< before repeated requests

  ChatCost& operator+=(const ChatCost& other);
};

/// A tool that the planner wants called.
struct ChatCall {
  std::string id, name;
  json::Object arguments;
  std::string fault;  ///< why the arguments are none; then nothing is to be called
};

struct ChatAnswer {
  json::Object message;  ///< as it goes into the conversation
  std::vector<ChatCall> calls;
};

/// Asks one endpoint. Not thread-safe.
class Chat {
 public:
  /// `clock` outlives it. Errors: those of the client; `invalid_input` for a key that would go over
  /// a network in clear.
  static Result<std::unique_ptr<Chat>> create(ChatOptions options, const Clock& clock);

  /// The planner's next message. An endpoint that is busy or away (408, 429, 5xx, no connection, no
  /// answer in time) is asked again, kMaxChatRetries times, after what it asks for in seconds or a
  /// pause that doubles. Errors, none of which quotes the endpoint: `unavailable`,
  /// `deadline_exceeded`, `limit_exceeded`, `data_loss` for one that stays away;
  /// `failed_precondition` for another status; `invalid_input` for an answer that is no message.
  Result<ChatAnswer> ask(const json::Array& messages, const json::Array& tools);

  /// Whether the last `ask` failed because the endpoint stayed busy or away.
  [[nodiscard]] bool is_away() const { return is_away_; }

  /// What was asked since the last take.
  ChatCost take_cost();

 private:
  Chat(ChatOptions options, std::unique_ptr<http::Client> client, const Clock& clock);
  Result<http::Response> send_until_answered(const std::string& body);
  Result<ChatAnswer> read(const http::Response& response);
  void count_usage(const json::Value& answer);

  ChatOptions options_;
  std::unique_ptr<http::Client> client_;
  const Clock& clock_;
  ChatCost cost_;
  bool is_away_ = false;
};

}  // namespace remit::conformance
