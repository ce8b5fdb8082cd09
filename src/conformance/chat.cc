// Requests repeated within bounds, and answers of which nothing is believed that does not parse.
#include "conformance/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

using std::chrono::milliseconds;

// More in one answer than any bill has; and a sum of many stays a number.
constexpr std::int64_t kMostTokens = 1'000'000'000;

Error nonsense(std::string_view what) {
  return Error{ErrorCode::kInvalidInput, fmt::format("the planner's answer {}", what)};
}

bool is_worth_repeating(const Result<http::Response>& answer) {
  if (!answer) {
    const ErrorCode code = answer.error().code;
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded ||
           code == ErrorCode::kDataLoss;
  }
  return answer->status == 408 || answer->status == 429 || answer->status >= 500;
}

// Seconds, as numbers are written; a date is passed over.
std::optional<milliseconds> retry_after(const http::Response& response) {
  const std::string* text = response.headers.find("Retry-After");
  if (text == nullptr) return std::nullopt;
  std::int64_t seconds = 0;
  const char* const end = text->data() + text->size();
  const auto [last, error] = std::from_chars(text->data(), end, seconds);
  if (error == std::errc::result_out_of_range) return milliseconds::max();
  if (error != std::errc{} || last != end || seconds < 0) return std::nullopt;
  return milliseconds{std::min(seconds, std::int64_t{1'000'000}) * 1000};
}

Error status_error(int status) {
  return Error{ErrorCode::kFailedPrecondition,
               fmt::format("the planner's endpoint answers with the status {}", status)};
}

ChatCall call_of(const json::Value& item) {
  ChatCall out;
  out.id = text_of(item, "id");
  const json::Value* function = item.find("function");
  if (function != nullptr) out.name = text_of(*function, "name");
  Result<json::Value> arguments = json::parse(
      function == nullptr ? "" : text_of(*function, "arguments"), {.max_bytes = kMaxAnswerBytes});
  if (!arguments) {
    out.fault = "the arguments are no JSON: " + arguments.error().to_string();
  } else if (arguments->if_object() == nullptr) {
    out.fault = "the arguments are no JSON object";
  } else {
    out.arguments = std::move(*arguments->if_object());
  }
  return out;
}

// As we say it ourselves: nothing else of the endpoint's goes back to it.
json::Object message_of(const std::string& content, const std::vector<ChatCall>& calls,
                        const json::Array& written) {
  json::Object out{{"role", "assistant"}, {"content", content}};
  if (calls.empty()) return out;
  json::Array list;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const json::Value* function = written[i].find("function");
    list.emplace_back(json::Object{
        {"id", calls[i].id},
        {"type", "function"},
        {"function",
         json::Object{{"name", calls[i].name}, {"arguments", text_of(*function, "arguments")}}}});
  }
  out.set("tool_calls", std::move(list));
  return out;
}

}  // namespace

ChatCost& ChatCost::operator+=(const ChatCost& other) {
  requests += other.requests;
  retries += other.retries;
  rate_limited += other.rate_limited;
  prompt_tokens += other.prompt_tokens;
  completion_tokens += other.completion_tokens;
  answers_without_usage += other.answers_without_usage;
  waited += other.waited;
  return *this;
}

Chat::Chat(ChatOptions options, std::unique_ptr<http::Client> client, const Clock& clock)
    : options_(std::move(options)), client_(std::move(client)), clock_(clock) {}

Result<std::unique_ptr<Chat>> Chat::create(ChatOptions options, const Clock& clock) {
  if (!options.key.empty() && !options.url.is_secure && !options.url.is_loopback()) {
    return Error{ErrorCode::kInvalidInput, "a key goes to another machine by https only",
                 options.url.authority()};
  }
  http::ClientOptions of_client;
  of_client.limits.body_bytes = kMaxChatAnswerBytes;
  REMIT_TRY_ASSIGN(std::unique_ptr<http::Client> client, http::Client::create(of_client, clock));
  return std::unique_ptr<Chat>(new Chat(std::move(options), std::move(client), clock));
}

ChatCost Chat::take_cost() {
  return std::exchange(cost_, {});
}

Result<ChatAnswer> Chat::ask(const json::Array& messages, const json::Array& tools) {
  const json::Object request{
      {"model", options_.model}, {"messages", messages}, {"tools", tools}, {"tool_choice", "auto"}};
  REMIT_TRY_ASSIGN(const http::Response response, send_until_answered(json::write(request)));
  return read(response);
}

Result<http::Response> Chat::send_until_answered(const std::string& body) {
  http::ClientRequest request{.method = "POST",
                              .url = options_.url,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = body,
                              .deadline = {}};
  if (!options_.key.empty()) request.headers.set("Authorization", "Bearer " + options_.key);
  milliseconds pause = kFirstChatPause;
  is_away_ = false;
  for (int tries = 0;; ++tries) {
    request.deadline = clock_.monotonic_now() + options_.deadline;
    ++cost_.requests;
    Result<http::Response> answer = client_->send(request);
    if (answer && answer->status == 429) ++cost_.rate_limited;
    if (!is_worth_repeating(answer)) {
      if (answer && answer->status != 200) return status_error(answer->status);
      return answer;
    }
    const auto asked = answer ? retry_after(*answer) : std::nullopt;
    const milliseconds wait = asked.value_or(pause);
    const Error why = answer ? status_error(answer->status) : answer.error();
    if (tries == kMaxChatRetries || wait > kLongestChatPause) {
      is_away_ = true;
      return why;
    }
    if (options_.on_repeat) options_.on_repeat(why, wait);
    options_.rest(wait);
    cost_.waited += wait;
    ++cost_.retries;
    pause *= 2;
  }
}

Result<ChatAnswer> Chat::read(const http::Response& response) {
  const Result<json::Value> answer = json::parse(response.body, {.max_bytes = kMaxChatAnswerBytes});
  if (!answer) return nonsense("is no JSON");
  count_usage(*answer);
  const json::Value* message = answer->at_pointer("/choices/0/message");
  if (message == nullptr || message->if_object() == nullptr) return nonsense("holds no message");
  const json::Value* listed = message->find("tool_calls");
  static const json::Array kNone;
  const json::Array* items = listed == nullptr || listed->is_null() ? &kNone : listed->if_array();
  if (items == nullptr) return nonsense("has tool calls that are no list");
  if (items->size() > kMaxCallsOfAnswer) return nonsense("asks for too many calls at once");
  ChatAnswer out;
  for (const json::Value& item : *items) {
    ChatCall call = call_of(item);
    if (call.id.empty() || call.id.size() > kMaxChatNameBytes || call.name.empty() ||
        call.name.size() > kMaxChatNameBytes) {
      return nonsense("has a tool call without an id and a name");
    }
    out.calls.push_back(std::move(call));
  }
  std::string content = text_of(*message, "content");
  if (content.size() > kMaxAnswerBytes) return nonsense("is too long");
  out.message = message_of(content, out.calls, *items);
  return out;
}

void Chat::count_usage(const json::Value& answer) {
  const auto tokens = [&](const char* pointer) -> std::optional<std::int64_t> {
    const json::Value* value = answer.at_pointer(pointer);
    const std::int64_t* number = value == nullptr ? nullptr : value->if_integer();
    if (number == nullptr || *number < 0 || *number > kMostTokens) return std::nullopt;
    return *number;
  };
  const auto prompt = tokens("/usage/prompt_tokens");
  const auto completion = tokens("/usage/completion_tokens");
  if (!prompt || !completion) {
    ++cost_.answers_without_usage;
    return;
  }
  cost_.prompt_tokens += *prompt;
  cost_.completion_tokens += *completion;
}

}  // namespace remit::conformance
