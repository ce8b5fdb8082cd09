// Denials and answers as response members.
#include "gateway/replies.h"

#include <utility>

#include "gateway/live_tools.h"

namespace remit::gateway {
namespace {

using access::ReasonCode;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;

// An isError result whose text is `object`, so that a planner that reads only text sees it.
json::Object tool_error(json::Object object, ReplyForm form) {
  const std::string text = json::write(object);
  json::Object result{{"content", json::Array{json::Object{{"type", "text"}, {"text", text}}}},
                      {"isError", true}};
  if (form == ReplyForm::kToolStructured) result.set("structuredContent", std::move(object));
  return result;
}

std::string error_payload(std::int64_t code, std::string message, std::optional<json::Value> data) {
  json::Object error{{"code", code}, {"message", std::move(message)}};
  if (data) error.set("data", std::move(*data));
  return R"("error":)" + json::write(json::Value{std::move(error)});
}

std::string result_payload(json::Object result) {
  return R"("result":)" + json::write(json::Value{std::move(result)});
}

// A call that ran, or may have run, without a result of the server's.
struct Failure {
  HandlerOutcome outcome;
  const char* error_type;  // also the code that the caller gets
  const char* retry;
  const char* advice;
};

Failure failure_of(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kUnreachable:
      return {HandlerOutcome::kFailed, "server_unreachable", "later",
              "The tool's server takes no requests. Nothing was done."};
    case AnswerKind::kChanged:
      return {HandlerOutcome::kFailed, "tools_changed", "later",
              "The tool's server is changing its tools. Nothing was done."};
    case AnswerKind::kLate:
      return {HandlerOutcome::kFailed, "permit_expired", "later",
              "The call could not be recorded in time. Nothing was done."};
    case AnswerKind::kClaimLost:
      return {HandlerOutcome::kFailed, "claim_lost", "later",
              "The ledger could not note that the call begins. Nothing was done."};
    case AnswerKind::kMalformed:
      return {HandlerOutcome::kUnknown, "malformed_answer", "never",
              "The tool's server gave no valid answer. The call may have had its effect."};
    case AnswerKind::kTimedOut:
      return {HandlerOutcome::kUnknown, "deadline_exceeded", "never",
              "The tool did not answer in time. The call may have had its effect."};
    case AnswerKind::kCancelled:
      return {HandlerOutcome::kCancelled, "cancelled", "never",
              "The call was cancelled. Nothing was done."};
    case AnswerKind::kAbandoned:
      return {HandlerOutcome::kUnknown, "cancelled", "never",
              "The call was cancelled. It may have had its effect."};
    case AnswerKind::kEnded:
    case AnswerKind::kError:
    case AnswerKind::kResult:
      break;
  }
  return {HandlerOutcome::kUnknown, "server_ended", "never",
          "The tool's server ended before it answered. The call may have had its effect."};
}

std::string failure_payload(const Failure& failure, ReplyForm form) {
  const bool is_failed = failure.outcome == HandlerOutcome::kFailed;
  json::Object told{{"status", is_failed ? "failed" : "unknown"},
                    {"code", failure.error_type},
                    {"retry", failure.retry},
                    {"advice", failure.advice}};
  if (form == ReplyForm::kError) {
    return error_payload(mcp::kInternalError, failure.advice, json::Value{std::move(told)});
  }
  return result_payload(tool_error(std::move(told), form));
}

bool is_tool_error(const json::Object& result) {
  const json::Value* is_error = result.find("isError");
  return is_error != nullptr && is_error->if_bool() != nullptr && *is_error->if_bool();
}

std::string denial_payload(const enforcement::Denial& denial, ReplyForm form) {
  json::Object told = enforcement::denial_json(denial);
  switch (denial.reason) {
    case ReasonCode::kUnknownTool:
      return error_payload(mcp::kInvalidParams, denial.advice, json::Value{std::move(told)});
    case ReasonCode::kInvalidRequest:
      return error_payload(mcp::kInvalidRequest, denial.advice, json::Value{std::move(told)});
    case ReasonCode::kInvalidArguments:
      if (form != ReplyForm::kError) break;
      return error_payload(mcp::kInvalidParams, denial.advice, json::Value{std::move(told)});
    default:
      if (form != ReplyForm::kError) break;
      return error_payload(kDenied, denial.advice, json::Value{std::move(told)});
  }
  return result_payload(tool_error(std::move(told), form));
}

}  // namespace

std::string payload_line(const mcp::RequestId& id, std::string_view payload) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out.append(id.json()).append(",").append(payload).append("}\n");
  return out;
}

std::string denial_line(const mcp::RequestId& id, const enforcement::Denial& denial,
                        ReplyForm form) {
  return payload_line(id, denial_payload(denial, form));
}

HandlerResult handler_result(Answer answer, ReplyForm form) {
  if (answer.kind == AnswerKind::kResult) {
    const bool is_error = form != ReplyForm::kError && is_tool_error(answer.result);
    strip_own_meta(answer.result);
    return {.outcome = is_error ? HandlerOutcome::kFailed : HandlerOutcome::kSucceeded,
            .payload = result_payload(std::move(answer.result)),
            .error_type = is_error ? "tool_error" : ""};
  }
  if (answer.kind == AnswerKind::kError) {
    return {.outcome = HandlerOutcome::kFailed,
            .payload = error_payload(answer.error.code, std::move(answer.error.message),
                                     std::move(answer.error.data)),
            .error_type = "server_error"};
  }
  const Failure failure = failure_of(answer.kind);
  return {.outcome = failure.outcome,
          .payload = failure_payload(failure, form),
          .error_type = failure.error_type};
}

HandlerResult result_without_answer(const HandlerResult& result, ReplyForm form) {
  AnswerKind kind = AnswerKind::kMalformed;
  if (result.outcome == HandlerOutcome::kCancelled) kind = AnswerKind::kCancelled;
  if (result.outcome == HandlerOutcome::kFailed) {
    kind =
        result.error_type == enforcement::kClaimLost ? AnswerKind::kClaimLost : AnswerKind::kLate;
  }
  return handler_result({.kind = kind}, form);
}

}  // namespace remit::gateway
