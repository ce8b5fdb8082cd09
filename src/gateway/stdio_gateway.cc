// The client's side: its messages, its calls, its answers.
#include "gateway/stdio_gateway.h"

#include <utility>

#include "gateway/call_meta.h"
#include "gateway/peer_lines.h"
#include "gateway/server_call.h"
#include "process/lines.h"

namespace remit::gateway {
namespace {

using access::ReasonCode;
using std::chrono::milliseconds;

// How soon the wait for calls in flight sees a signal.
constexpr milliseconds kLookUp{50};

access::Credential whoever_started_us() {
  return access::Credential::local();
}

mcp::ErrorResponse error_for(const mcp::Request& request, int code, std::string message) {
  return {.id = request.id, .code = code, .message = std::move(message)};
}

// What is no act that could be allowed or denied; its refusal is not recorded.
bool is_ungoverned(std::string_view method) {
  return method == "ping" || method == "initialize" || method == "server/discover" ||
         method == "tools/list";
}

// The catalogue's name of what a request asks for; for evidence, where there is no call.
std::string asked_tool(const mcp::Request& request) {
  if (request.method != "tools/call") return "mcp:" + request.method;
  const json::Value* name = request.params.find("name");
  return name == nullptr || name->if_string() == nullptr ? "" : *name->if_string();
}

/// Closes a call when it goes.
class Closing {
 public:
  Closing(LiveCalls& calls, const mcp::RequestId& id) : calls_(calls), id_(id) {}
  ~Closing() { calls_.close(id_); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  LiveCalls& calls_;
  const mcp::RequestId& id_;
};

}  // namespace

StdioGateway::StdioGateway(GatewayParts parts, int output_fd)
    : parts_(std::move(parts)),
      calls_(parts_.limits.calls_per_second, parts_.clock),
      outbox_(output_fd),
      servers_({.listener = *this,
                .notices = parts_.notices,
                .clock = parts_.clock,
                .policy = parts_.policy,
                .answers = answers_}),
      workers_(kMaxCallsInFlight + kMaxUpstreams) {}

StdioGateway::~StdioGateway() {
  stop_.request_stop();
  calls_.stop_all();
  workers_.close();
  servers_.close(parts_.patience.server_end);
  outbox_.close(parts_.patience.server_end);
}

std::shared_ptr<const StdioGateway::ClientFacts> StdioGateway::client() const {
  const MutexLock lock(mutex_);
  return client_;
}

// A client that is gone is owed no answer; what its calls did is recorded all the same.
void StdioGateway::send(std::string line) {
  (void)outbox_.send(std::move(line));
}

void StdioGateway::send_error(mcp::ErrorResponse error) {
  // In revision 2025-06-18 an error without an id cannot be said.
  const auto facts = client();
  if (!error.id && facts != nullptr && facts->revision == mcp::Revision::k2025_06_18) return;
  send(mcp::error_line(error));
}

enforcement::Denial StdioGateway::refuse(ReasonCode reason, const std::string& tool) {
  enforcement::Denial denial = parts_.point.refuse({.reason = reason,
                                                    .route = parts_.route,
                                                    .tool = tool,
                                                    .credential = whoever_started_us(),
                                                    .run_id = parts_.run_id,
                                                    .case_id = parts_.case_id});
  // What comes faster than it may would drown the rest; lines that are no messages are counted.
  if (reason != ReasonCode::kLimitExceeded && !tool.empty()) say_denied(denial, tool);
  return denial;
}

// Every denial alike, whoever denied: what is not said here looks as if it had been allowed. What
// the answer makes alike stays alike, since a client may show this to its model (REQ-BD-128).
void StdioGateway::say_denied(const enforcement::Denial& denial, std::string_view tool) const {
  const std::string call = "call " + denial.invocation_id + " of " + quoted(tool) + " denied";
  if (denial.code == enforcement::kNotAvailableCode) {
    return parts_.notices.say(call + ": " + denial.code + "; `remit explain` tells why");
  }
  parts_.notices.say(call + ", " + std::string(access::reason_name(denial.reason)) +
                     (denial.detail.empty() ? "" : ": " + denial.detail) +
                     (denial.reason == ReasonCode::kMissingScope
                          ? "; scopes are given in " + parts_.scopes_from
                          : ""));
}

void StdioGateway::serve(int input_fd, const process::TerminationSignals& signals) {
  signals_ = &signals;
  input_fd_ = input_fd;
  outbox_.hurry_once_readable(signals.fd(), parts_.patience.last_words);
  read_peer_lines(input_fd, parts_.limits.body_bytes, signals.fd(),
                  {.line = [this](std::string_view line) { take_line(line); },
                   .too_long =
                       [this] {
                         take_fault({.code = mcp::kInvalidRequest,
                                     .message = "a line is longer than the bound of a message",
                                     .is_limit = true});
                       },
                   .cut = [this] { take_fault({.message = "the input ended within a message"}); },
                   .goes_on = {}});
  drain(signals);
}

void StdioGateway::drain(const process::TerminationSignals& signals) {
  const MonotonicTime deadline = parts_.clock.monotonic_now() + parts_.patience.drain;
  while (!calls_.wait_until_empty(kLookUp)) {
    // Left unread, so that whoever writes to a client that does not read sees it too.
    if (process::is_readable(signals.fd()) || parts_.clock.monotonic_now() >= deadline) break;
  }
  calls_.stop_all();
  if (!calls_.wait_until_empty(parts_.patience.last_words)) {
    parts_.notices.say("calls in flight do not end; waiting for them to be recorded");
  }
  stop_.request_stop();
  workers_.close();
}

void StdioGateway::take_line(std::string_view line) {
  auto parsed = mcp::parse_message(line, parts_.limits.body_bytes);
  if (const auto* fault = std::get_if<mcp::MessageFault>(&parsed)) return take_fault(*fault);
  auto& message = std::get<mcp::Message>(parsed);
  if (auto* request = std::get_if<mcp::Request>(&message)) {
    take_request(std::move(*request));
  } else if (auto* notification = std::get_if<mcp::Notification>(&message)) {
    take_notification(*notification);
  } else if (auto* result = std::get_if<mcp::ResultResponse>(&message)) {
    take_answer(result->id, R"("result":)" + json::write(json::Value{std::move(result->result)}));
  } else {
    const auto& error = std::get<mcp::ErrorResponse>(message);
    if (!error.id)
      return faulty_answers_.count(parts_.notices, "the client sent an error without an id");
    json::Object member{{"code", error.code}, {"message", error.message}};
    if (error.data) member.set("data", *error.data);
    take_answer(*error.id, R"("error":)" + json::write(json::Value{std::move(member)}));
  }
}

void StdioGateway::take_fault(const mcp::MessageFault& fault) {
  if (fault.is_response) {
    faulty_answers_.count(parts_.notices,
                          "the client sent an answer that is none: " + fault.message);
    if (!fault.id) return;
    return take_answer(*fault.id, R"("error":{"code":-32603,"message":"malformed answer"})");
  }
  refuse(fault.is_limit ? ReasonCode::kLimitExceeded : ReasonCode::kInvalidRequest, "");
  send_error({.id = fault.id, .code = fault.code, .message = fault.message});
}

// An answer of the client to a request that a server made and we passed on.
void StdioGateway::take_answer(const mcp::RequestId& id, std::string_view member) {
  const auto request = server_requests_.take(id);
  if (!request) {
    stray_answers_.count(parts_.notices, "the client answered a request that is not open");
    return;
  }
  request->upstream->post(payload_line(request->id, member));
}

void StdioGateway::take_notification(const mcp::Notification& notification) {
  if (notification.method == "notifications/cancelled") {
    const json::Value* given = notification.params.find("requestId");
    const auto id = given == nullptr ? std::nullopt : mcp::RequestId::from(*given);
    if (id) calls_.cancel(*id);
    return;
  }
  // The rest is of no use to anybody: progress of requests that we strip of their tokens, changed
  // roots that no server was told to expect.
  if (notification.method != "notifications/initialized") {
    client_notifications_.count(parts_.notices,
                                "the client sent a notification that is not passed on");
  }
}

void StdioGateway::refuse_version(const mcp::Request& request, const std::string& version) {
  if (!is_ungoverned(request.method)) refuse(ReasonCode::kInvalidRequest, asked_tool(request));
  json::Array supported;
  for (const mcp::Revision revision : mcp::kRevisions) {
    supported.emplace_back(mcp::revision_name(revision));
  }
  mcp::ErrorResponse error =
      error_for(request, mcp::kUnsupportedProtocolVersion, "Unsupported protocol version");
  error.data = json::Object{{"supported", std::move(supported)}, {"requested", version}};
  send_error(std::move(error));
}

void StdioGateway::take_request(mcp::Request request) {
  const std::string version = named_version(request.params);
  if (!version.empty() && !mcp::parse_revision(version)) return refuse_version(request, version);
  if (request.method == "ping") return send(mcp::result_line(request.id, "{}"));
  if (request.method == "initialize") return initialize(request);
  if (request.method == "server/discover") {
    // A probe for the newer era.
    return send_error(error_for(request, mcp::kMethodNotFound, "Method not found"));
  }
  const auto facts = client();
  if (facts == nullptr) {
    refuse(ReasonCode::kInvalidRequest, asked_tool(request));
    return send_error(error_for(request, mcp::kInvalidRequest, "initialize comes first"));
  }
  take_ready_request(std::move(request), *facts);
}

void StdioGateway::take_ready_request(mcp::Request request, const ClientFacts& facts) {
  const mcp::Method* method = mcp::find_method(mcp::Sender::kClient, mcp::MethodKind::kRequest,
                                               request.method, facts.revision);
  const bool is_known = method != nullptr && facts.offered.contains(method->capability);
  if (is_known && request.method == "tools/list") return list_tools(request);
  if (is_known && request.method == "logging/setLevel") return set_log_level(request);
  if (!admits_knock(request)) return;
  if (!is_known) {
    refuse(ReasonCode::kUnknownTool, "mcp:" + request.method);
    return send_error(error_for(request, mcp::kMethodNotFound, "Method not found"));
  }
  if (request.method == "tools/call") return call_tool(std::move(request));
  call_method(std::move(request));
}

// Comes before every refusal that is recorded by itself: a synced line for each of a flood of them
// would keep this thread from everything else.
bool StdioGateway::admits_knock(const mcp::Request& request) {
  switch (calls_.knock(request.id)) {
    case LiveCalls::Admission::kAdmitted:
      return true;
    case LiveCalls::Admission::kRepeated:
      // An answer under this id would be taken for the live call's.
      refuse(ReasonCode::kInvalidRequest, asked_tool(request));
      send_error({.id = std::nullopt,
                  .code = mcp::kInvalidRequest,
                  .message = "the id is that of a request in flight"});
      return false;
    case LiveCalls::Admission::kTooFast:
    case LiveCalls::Admission::kFull:
      break;
  }
  const std::string tool = asked_tool(request);
  const ReplyForm form = request.method == "tools/call" ? tool_reply_form(tool) : ReplyForm::kError;
  send(denial_line(request.id, refuse(ReasonCode::kLimitExceeded, tool), form));
  return false;
}

// How a denied `tools/call` of that name is answered.
ReplyForm StdioGateway::tool_reply_form(std::string_view name) const {
  const auto snapshot = parts_.policy.get();
  const policy::Tool* tool = snapshot == nullptr ? nullptr : snapshot->bundle->find_tool(name);
  const auto live = tool == nullptr ? nullptr : servers_.tools().find(*tool);
  return live != nullptr && live->has_output_schema ? ReplyForm::kToolText
                                                    : ReplyForm::kToolStructured;
}

void StdioGateway::call_tool(mcp::Request request) {
  const json::Value* name = request.params.find("name");
  json::Value* arguments = request.params.find("arguments");
  if (name == nullptr || name->if_string() == nullptr ||
      (arguments != nullptr && arguments->if_object() == nullptr)) {
    refuse(ReasonCode::kInvalidRequest, asked_tool(request));
    return send_error(error_for(request, mcp::kInvalidParams,
                                "tools/call needs a name, and arguments that are an object"));
  }
  const std::string tool = *name->if_string();
  if (is_method_entry(tool)) {
    // An entry of the catalogue, but not a tool: it is reached by its own method only.
    return send(denial_line(request.id, refuse(ReasonCode::kUnknownTool, tool),
                            ReplyForm::kToolStructured));
  }
  Proposal proposal{
      .id = request.id, .method = request.method, .tool = tool, .arguments = {}, .params = {}};
  if (arguments != nullptr) proposal.arguments = std::move(*arguments->if_object());
  proposal.params = std::move(request.params);
  start_call(std::move(proposal));
}

void StdioGateway::call_method(mcp::Request request) {
  const std::string tool = "mcp:" + request.method;
  const auto snapshot = parts_.policy.get();
  if (snapshot != nullptr && snapshot->bundle->find_tool(tool) == nullptr) {
    refuse(ReasonCode::kUnknownTool, tool);
    return send_error(error_for(request, mcp::kMethodNotFound, "Method not found"));
  }
  Proposal proposal{.id = request.id,
                    .method = request.method,
                    .tool = tool,
                    .arguments = request.params,
                    .params = {}};
  proposal.arguments.erase("_meta");
  proposal.params = std::move(request.params);
  start_call(std::move(proposal));
}

void StdioGateway::start_call(Proposal proposal) {
  ReplyForm form = ReplyForm::kError;
  if (proposal.method == "tools/call") {
    form = tool_reply_form(proposal.tool);
    const auto snapshot = parts_.policy.get();
    const policy::Tool* tool =
        snapshot == nullptr ? nullptr : snapshot->bundle->find_tool(proposal.tool);
    // What the server offers under this name is not what the catalogue names: it is no such tool.
    // While a change is open the call waits for the new list; see `run_call`.
    const bool is_changing = tool != nullptr &&
                             servers_.listings().is_ready(tool->upstream_server) &&
                             !servers_.listings().is_settled(tool->upstream_server);
    if (tool != nullptr && !is_changing && !servers_.is_offered(*tool)) {
      return send(denial_line(proposal.id, refuse(ReasonCode::kUnknownTool, proposal.tool), form));
    }
  }
  access::ProposedCall call{
      .route = parts_.route,
      .credential = whoever_started_us(),
      .tool = proposal.tool,
      .arguments_json = json::write(json::Value{std::move(proposal.arguments)}),
      .run_id = parts_.run_id,
      .case_id = parts_.case_id};
  const auto token = read_meta(proposal.params, call);
  if (!token) {
    refuse(ReasonCode::kInvalidRequest, proposal.tool);
    return send_error(
        {.id = proposal.id, .code = mcp::kInvalidParams, .message = token.error().message});
  }
  auto [admission, live_call] = calls_.admit(proposal.id, call.arguments_json.size());
  bool is_taken = admission == LiveCalls::Admission::kAdmitted;
  if (is_taken) {
    is_taken = workers_.post([this, live = std::move(live_call), call = std::move(call),
                              method = std::move(proposal.method), token = *token,
                              form] { run_call(live, call, method, token, form); });
    if (!is_taken) calls_.close(proposal.id);
  }
  if (is_taken) return;
  send(denial_line(proposal.id, refuse(ReasonCode::kLimitExceeded, proposal.tool), form));
}

// A call that meets a change of its server's list waits for the new one, within its time.
bool StdioGateway::wait_until_offered(const access::ProposedCall& proposed, const LiveCall& call) {
  const auto snapshot = parts_.policy.get();
  const policy::Tool* tool =
      snapshot == nullptr ? nullptr : snapshot->bundle->find_tool(proposed.tool);
  if (tool == nullptr) return true;  // the boundary says so
  return servers_.wait_until_offered(*tool, parts_.limits.call_timeout, call.stop.get_token());
}

void StdioGateway::run_call(const std::shared_ptr<LiveCall>& call,
                            const access::ProposedCall& proposed, const std::string& method,
                            const std::optional<mcp::RequestId>& progress_token, ReplyForm form) {
  std::string line;
  bool is_owed = false;
  {
    // Closed whatever happens, or its id would stay in use; and before the answer: whoever has read
    // that may use the id again.
    const Closing closing(calls_, call->id);
    try {
      line = answer_of(*call, proposed, method, progress_token, form);
    } catch (...) {
      // Out of memory, for one. How far it came is not known.
      line = payload_line(call->id, result_without_answer({}, form).payload);
    }
    is_owed = !call->is_cancelled;
  }
  if (is_owed) send(std::move(line));
}

std::string StdioGateway::answer_of(LiveCall& call, const access::ProposedCall& proposed,
                                    const std::string& method,
                                    const std::optional<mcp::RequestId>& progress_token,
                                    ReplyForm form) {
  // One that was to stop meanwhile is recorded as what it is: `invoke` does not enter the handler.
  if (!wait_until_offered(proposed, call) && !call.stop.stop_requested()) {
    return denial_line(call.id, refuse(ReasonCode::kUnknownTool, proposed.tool), form);
  }
  ServerCall handler(*this, {.method = method, .progress_token = progress_token, .form = form});
  enforcement::CallOutcome outcome = parts_.point.invoke(proposed, handler, call.stop.get_token());
  if (const auto* denial = std::get_if<enforcement::Denial>(&outcome)) {
    say_denied(*denial, proposed.tool);
    return denial_line(call.id, *denial, form);
  }
  auto& result = std::get<enforcement::HandlerResult>(outcome);
  if (result.payload.empty()) result = result_without_answer(result, form);
  return payload_line(call.id, result.payload);
}

}  // namespace remit::gateway
