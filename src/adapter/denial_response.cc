// Reasons as statuses.
#include "adapter/denial_response.h"

#include <string>
#include <utility>

#include "json/value.h"

namespace remit::adapter {
namespace {

using access::ReasonCode;

int status_of(ReasonCode reason, bool is_too_large) {
  switch (reason) {
    case ReasonCode::kMissingIdentity:
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
      return 401;
    case ReasonCode::kMissingScope:
    case ReasonCode::kResourceNotFound:  // as 404 it would betray what exists
    case ReasonCode::kTenantMismatch:
    case ReasonCode::kForbidden:
    case ReasonCode::kNotPermitted:
    case ReasonCode::kApprovalRequired:
    case ReasonCode::kStaleApproval:
      return 403;
    case ReasonCode::kUnknownTool:
    case ReasonCode::kUnknownRoute:
      return 404;
    case ReasonCode::kInvalidRequest:
      return 400;
    case ReasonCode::kInvalidArguments:
      return 422;
    case ReasonCode::kLimitExceeded:
      return is_too_large ? 413 : 429;
    case ReasonCode::kDuplicateInvocation:
    case ReasonCode::kOutcomeUnknown:
      return 409;
    case ReasonCode::kPolicyError:
    case ReasonCode::kPolicyUnavailable:
    case ReasonCode::kResolverUnavailable:
    case ReasonCode::kEvidenceUnavailable:
    case ReasonCode::kAllowed:  // no denial has it
      return 503;
  }
  return 503;
}

// RFC 6750 section 3. The three ways of having no identity differ in the challenge only.
std::string challenge_of(const enforcement::Denial& denial) {
  switch (denial.reason) {
    case ReasonCode::kMissingIdentity:
      return "Bearer";
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
      return R"(Bearer error="invalid_token")";
    case ReasonCode::kMissingScope:
      break;
    default:
      return {};
  }
  std::string scopes;
  for (const std::string& scope : denial.scopes_needed) {
    scopes.append(scopes.empty() ? "" : " ").append(scope);
  }
  // Scopes are the catalogue's; one that a header cannot carry stands in the body alone.
  const bool fits =
      http::is_field_value(scopes) && scopes.find_first_of("\"\\") == std::string::npos;
  return R"(Bearer error="insufficient_scope")" + (fits ? ", scope=\"" + scopes + "\"" : "");
}

http::Response json_response(int status, json::Object body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = json::write(json::Value{std::move(body)})};
}

}  // namespace

http::Response denial_response(const enforcement::Denial& denial, bool is_too_large) {
  http::Response out =
      json_response(status_of(denial.reason, is_too_large), enforcement::denial_json(denial));
  if (const std::string challenge = challenge_of(denial); !challenge.empty()) {
    out.headers.set("WWW-Authenticate", challenge);
  }
  if (out.status == 429 || out.status == 503) out.headers.set("Retry-After", "1");
  return out;
}

http::Response outcome_response(int status, enforcement::HandlerOutcome outcome,
                                enforcement::Retry retry) {
  using enforcement::HandlerOutcome;
  const bool is_known = outcome != HandlerOutcome::kUnknown;
  json::Object body{{"status", is_known ? "failed" : "unknown"},
                    {"retry", retry == enforcement::Retry::kLater ? "later" : "never"},
                    {"advice", is_known ? "Nothing was done."
                                        : "The call may have had its effect. Look before you "
                                          "repeat it."}};
  http::Response out = json_response(status, std::move(body));
  if (status == 503) out.headers.set("Retry-After", "1");
  return out;
}

}  // namespace remit::adapter
