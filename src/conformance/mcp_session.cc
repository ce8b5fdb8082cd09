// Messages out, messages in, and the spy in between.
#include "conformance/mcp_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "process/file_descriptor.h"

namespace remit::conformance {
namespace {

constexpr int kMaxPages = 100;  // of a list of tools

}  // namespace

McpSession::McpSession(process::Child child, Spy& spy, const Clock& clock,
                       std::chrono::milliseconds deadline)
    : child_(std::move(child)),
      reader_(child_.output().get(), kMaxMcpLineBytes, spy.fd()),
      spy_(spy),
      clock_(clock),
      deadline_(deadline) {}

McpSession::~McpSession() {
  // Whatever it still asks of the tool is served, so that an executor which waits for it can end.
  child_.input().close();
  const MonotonicTime until = clock_.monotonic_now() + deadline_;
  while (clock_.monotonic_now() < until && next_line(until)) {
  }
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_.monotonic_now());
  child_.wait_for(std::max(left, kDriverGrace));
  child_.stop(kDriverGrace);
}

Result<std::unique_ptr<McpSession>> McpSession::start(const process::Command& command, Spy& spy,
                                                      const Clock& clock,
                                                      std::chrono::milliseconds deadline) {
  process::ignore_broken_pipes();
  REMIT_TRY_ASSIGN(process::Child child, process::Child::start(command));
  std::unique_ptr<McpSession> out(new McpSession(std::move(child), spy, clock, deadline));
  REMIT_TRY(out->shake_hands());
  REMIT_TRY(out->list_tools());
  return out;
}

Status McpSession::shake_hands() {
  const json::Object client{{"name", "remit-conform"}, {"version", "1"}};
  REMIT_TRY_ASSIGN(const McpAnswer answer,
                   ask("initialize", {{"protocolVersion", mcp::revision_name(mcp::kNewestRevision)},
                                      {"capabilities", json::Object{}},
                                      {"clientInfo", client}}));
  if (const auto* refused = std::get_if<mcp::ErrorResponse>(&answer)) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("the executor refuses the handshake: {}", quoted(refused->message))};
  }
  return send(mcp::notification_line("notifications/initialized", ""));
}

Status McpSession::list_tools() {
  std::string cursor;
  for (int page = 0; page < kMaxPages; ++page) {
    REMIT_TRY_ASSIGN(
        const McpAnswer answer,
        ask("tools/list", cursor.empty() ? json::Object{} : json::Object{{"cursor", cursor}}));
    // Who shows no list may be called all the same.
    const auto* listed = std::get_if<mcp::ResultResponse>(&answer);
    if (listed == nullptr) return {};
    const json::Value* next = listed->result.find("nextCursor");
    if (next == nullptr || next->if_string() == nullptr) return {};
    cursor = *next->if_string();
  }
  return Error{ErrorCode::kLimitExceeded,
               fmt::format("the executor's list of tools has more than {} pages", kMaxPages)};
}

Status McpSession::send(const std::string& line) {
  Status sent = process::write_all(child_.input().get(), line, deadline_);
  if (!sent && sent.error().code == ErrorCode::kUnavailable) return ended();
  return sent;
}

Result<McpAnswer> McpSession::ask(std::string_view method, const json::Object& params) {
  const mcp::RequestId id(++last_id_);
  const MonotonicTime until = clock_.monotonic_now() + deadline_;
  REMIT_TRY(send(mcp::request_line(id, method, params.empty() ? "" : json::write(params))));
  for (bool is_first = true;; is_first = false) {
    // What it writes besides buys it no time: a line that stands there is read without waiting.
    if (!is_first && clock_.monotonic_now() >= until) return too_late();
    REMIT_TRY_ASSIGN(const std::string line, next_line(until));
    auto parsed = mcp::parse_message(line);
    if (const auto* fault = std::get_if<mcp::MessageFault>(&parsed)) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("the executor wrote {}, which is no message of MCP ({})",
                               quoted(line), fault->message)};
    }
    auto& message = std::get<mcp::Message>(parsed);
    if (const auto* request = std::get_if<mcp::Request>(&message)) {
      REMIT_TRY(send(request->method == "ping"
                         ? mcp::result_line(request->id, "{}")
                         : mcp::error_line({.id = request->id,
                                            .code = mcp::kMethodNotFound,
                                            .message = "the client has no such method"})));
    } else if (auto* result = std::get_if<mcp::ResultResponse>(&message)) {
      if (result->id == id) return McpAnswer(std::move(*result));
      return Error{ErrorCode::kInvalidInput, "the executor answered what was not asked"};
    } else if (auto* error = std::get_if<mcp::ErrorResponse>(&message)) {
      if (error->id && *error->id == id) return McpAnswer(std::move(*error));
      return Error{ErrorCode::kInvalidInput, "the executor answered what was not asked"};
    }
  }
}

Result<std::string> McpSession::next_line(MonotonicTime until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - clock_.monotonic_now());
    const process::LineRead read = reader_.next(std::max(left, std::chrono::milliseconds{0}));
    switch (read.event) {
      case process::LineEvent::kLine:
        // What the executor did before it answered stands in the socket by now.
        spy_.serve();
        return std::string(read.line);
      case process::LineEvent::kWoken:
        spy_.serve();
        if (spy_.has_fault()) return Error{ErrorCode::kUnavailable, "the spy has failed"};
        if (left.count() > 0) continue;
        [[fallthrough]];
      case process::LineEvent::kTimeout:
        return too_late();
      case process::LineEvent::kTooLong:
        return Error{
            ErrorCode::kInvalidInput,
            fmt::format("the executor wrote a line of more than {} bytes", kMaxMcpLineBytes)};
      case process::LineEvent::kCut:
      case process::LineEvent::kEnd:
        return ended();
      case process::LineEvent::kError:
        return Error{ErrorCode::kUnavailable, read.message};
    }
  }
}

Error McpSession::too_late() const {
  return Error{ErrorCode::kDeadlineExceeded,
               fmt::format("the executor did not answer within {} ms", deadline_.count())};
}

Error McpSession::ended() {
  const std::optional<process::ExitStatus> status = child_.wait_for(kDriverGrace);
  return Error{ErrorCode::kUnavailable, status ? fmt::format("the executor {}", status->to_string())
                                               : std::string("the executor closed its output")};
}

}  // namespace remit::conformance
