// Requests as calls, and answers as outcomes.
#include "adapter/http_adapter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "adapter/denial_response.h"
#include "adapter/trace_parent.h"
#include "base/limits.h"
#include "http/url.h"

namespace remit::adapter {
namespace {

using access::ReasonCode;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;

constexpr std::array<std::string_view, 4> kCredentials = {"Authorization", "Cookie",
                                                          "Proxy-Authorization", "X-Api-Key"};

// What the caller presents. A scheme that nobody here verifies is a credential all the same, and
// never taken for none.
access::Credential credential_of(const http::Request& request) {
  const std::string* header = request.headers.find("Authorization");
  if (header == nullptr) return {};
  const std::size_t space = header->find(' ');
  // A lone word is a scheme without anything (RFC 9110 section 11.4), were it a good token.
  if (space == std::string::npos) return access::Credential::bearer({});
  if (http::equal_names(std::string_view(*header).substr(0, space), "Bearer")) {
    const std::size_t token = std::min(header->find_first_not_of(' ', space), header->size());
    return access::Credential::bearer(header->substr(token));
  }
  return access::Credential::bearer(*header);
}

// A granted call as a request to the old handler, and its answer.
class OldHandlerCall final : public enforcement::ToolHandler {
 public:
  OldHandlerCall(const Endpoint& endpoint, http::Headers passed, http::Handler& old)
      : endpoint_(endpoint), passed_(std::move(passed)), old_(old) {}

  HandlerResult run(const enforcement::GrantedCall& call) override {
    const json::Object* arguments = call.arguments().if_object();
    Result<http::Request> request =
        request_of(endpoint_, arguments == nullptr ? json::Object{} : *arguments);
    if (!request) return {.outcome = HandlerOutcome::kFailed, .error_type = "unwritable_request"};
    for (const http::Field& field : passed_.fields()) request->headers.set(field.name, field.value);
    request->headers.set("Remit-Invocation-Id", call.invocation_id());
    if (!call.resources().empty()) {
      const std::string& revision = call.resources().front().revision;
      if (!revision.empty() && http::is_field_value(revision)) {
        request->headers.set("Remit-Resource-Revision", revision);
      }
    }
    http::Response response = old_.handle(*request, call.stop());
    // What it would stream is not over when this returns, and its outcome could not be told.
    if (response.stream != nullptr) {
      response.stream->finish();
      return {.error_type = "streamed_response"};
    }
    response_ = std::move(response);
    const int status = response_->status;
    if (status < 400) return {.outcome = HandlerOutcome::kSucceeded};
    // A handler that broke may have had its effect before; one that refused has not.
    return {.outcome = status < 500 ? HandlerOutcome::kFailed : HandlerOutcome::kUnknown,
            .error_type = "http_" + std::to_string(status)};
  }

  /// What the old handler answered, if it was entered and came to an end.
  std::optional<http::Response>& response() { return response_; }

 private:
  const Endpoint& endpoint_;
  const http::Headers passed_;
  http::Handler& old_;
  std::optional<http::Response> response_;
};

// Of a call that was allowed and has no answer of the old handler's.
http::Response response_without_answer(const HandlerResult& result) {
  if (result.outcome == HandlerOutcome::kUnknown) {
    return outcome_response(500, result.outcome, enforcement::Retry::kNever);
  }
  const bool is_ours = result.error_type == "unwritable_request";
  return outcome_response(is_ours ? 500 : 503, result.outcome,
                          is_ours ? enforcement::Retry::kNever : enforcement::Retry::kLater);
}

}  // namespace

Result<std::unique_ptr<HttpAdapter>> HttpAdapter::create(HttpAdapterOptions options,
                                                         enforcement::EnforcementPoint& boundary,
                                                         http::Handler& old, const Clock& clock) {
  for (const std::string& name : options.passed_headers) {
    for (const std::string_view credential : kCredentials) {
      if (!http::equal_names(name, credential)) continue;
      return Error{ErrorCode::kInvalidInput,
                   "the header " + quoted(name) + " is the caller's credential and does not go on"};
    }
  }
  if (!fits_quotes(options.challenge.realm)) {
    return Error{ErrorCode::kInvalidInput, "the realm " + quoted(options.challenge.realm) +
                                               " cannot stand between quotation marks"};
  }
  if (const std::string& metadata = options.challenge.resource_metadata; !metadata.empty()) {
    REMIT_TRY_ASSIGN(const http::Url url, http::Url::parse(metadata));
    if (!url.is_secure && !url.is_loopback()) {
      return Error{ErrorCode::kInvalidInput,
                   "whoever could change the metadata on its way could choose who signs tokens: " +
                       quoted(metadata, 128) + " is no https:// address"};
    }
  }
  REMIT_TRY_ASSIGN(EndpointTable table, EndpointTable::create(options.endpoints));
  return std::unique_ptr<HttpAdapter>(
      new HttpAdapter(std::move(options), std::move(table), boundary, old, clock));
}

enforcement::TransportRefusal HttpAdapter::refusal_of(const http::Request& request,
                                                      const std::string& tool,
                                                      ReasonCode reason) const {
  TraceParent trace = trace_parent_of(request);
  return {.reason = reason,
          .route = options_.route,
          .tool = tool,
          .credential = credential_of(request),
          .run_id = options_.run_id,
          .case_id = options_.case_id,
          .trace_id = std::move(trace.trace_id),
          .span_id = std::move(trace.span_id)};
}

http::Response HttpAdapter::handle(const http::Request& request, std::stop_token stop) {
  const EndpointTable::Match match = table_.find(request);
  // What matches no endpoint is named as it was asked for; a record makes a digest of it.
  const std::string tool = match.endpoint == nullptr
                               ? request.method + " " + std::string(request.path())
                               : match.endpoint->tool;
  const auto refused = [&](ReasonCode reason) {
    return denial_response(boundary_.refuse(refusal_of(request, tool, reason)), options_.challenge);
  };
  if (!addresses_.take(request.peer, clock_.monotonic_now())) {
    return refused(ReasonCode::kLimitExceeded);
  }
  if (match.endpoint == nullptr) return refused(ReasonCode::kUnknownTool);
  Result<std::string> arguments = arguments_of(request, match);
  if (!arguments) return refused(ReasonCode::kInvalidRequest);

  access::ProposedCall call;
  call.route = options_.route;
  call.credential = credential_of(request);
  call.tool = tool;
  call.arguments_json = *std::move(arguments);
  if (const std::string* key = request.headers.find("Idempotency-Key")) {
    // One that is there and no key is not taken for none.
    if (key->empty() || key->size() > kMaxIdBytes) return refused(ReasonCode::kInvalidRequest);
    call.idempotency_key = *key;
  }
  call.run_id = options_.run_id;
  call.case_id = options_.case_id;
  TraceParent trace = trace_parent_of(request);
  call.trace_id = std::move(trace.trace_id);
  call.span_id = std::move(trace.span_id);
  http::Headers passed;
  for (const std::string& name : options_.passed_headers) {
    if (const std::string* value = request.headers.find(name)) passed.set(name, *value);
  }
  OldHandlerCall old(*match.endpoint, std::move(passed), old_);
  const enforcement::CallOutcome outcome = boundary_.invoke(call, old, std::move(stop));
  if (const auto* denial = std::get_if<enforcement::Denial>(&outcome)) {
    return denial_response(*denial, options_.challenge);
  }
  if (old.response()) return std::move(*old.response());
  return response_without_answer(std::get<HandlerResult>(outcome));
}

http::Response HttpAdapter::refuse(const http::Refusal& refusal) {
  const bool is_limit = refusal.status == 413 || refusal.status == 429 || refusal.status == 431;
  const EndpointTable::Match match = table_.find(refusal.head);
  const std::string tool = match.endpoint == nullptr ? std::string() : match.endpoint->tool;
  const ReasonCode reason = is_limit ? ReasonCode::kLimitExceeded : ReasonCode::kInvalidRequest;
  return denial_response(boundary_.refuse(refusal_of(refusal.head, tool, reason)),
                         options_.challenge, is_limit);
}

}  // namespace remit::adapter
