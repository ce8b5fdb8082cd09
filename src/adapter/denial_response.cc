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

// RFC 6750 section 3: the realm, so that there always is a parameter, and no error for whoever
// presented nothing. The other ways of having no identity differ in nothing.
std::string challenge_of(const enforcement::Denial& denial, const Challenge& challenge) {
  std::string out = R"(Bearer realm=")" + challenge.realm + '"';
  switch (denial.reason) {
    case ReasonCode::kMissingIdentity:
      break;
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
      out += R"(, error="invalid_token")";
      break;
    case ReasonCode::kMissingScope: {
      std::string scopes;
      for (const std::string& scope : denial.scopes_needed) {
        scopes.append(scopes.empty() ? "" : " ").append(scope);
      }
      out += R"(, error="insufficient_scope")";
      // Scopes are the catalogue's; one that a header cannot carry stands in the body alone.
      if (!scopes.empty() && fits_quotes(scopes)) out += ", scope=\"" + scopes + '"';
      break;
    }
    default:
      return {};
  }
  if (!challenge.resource_metadata.empty()) {
    out += ", resource_metadata=\"" + challenge.resource_metadata + '"';
  }
  return out;
}

http::Response json_response(int status, json::Object body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = json::write(json::Value{std::move(body)})};
}

}  // namespace

bool fits_quotes(std::string_view text) {
  return http::is_field_value(text) && text.find_first_of("\"\\") == std::string_view::npos;
}

http::Response denial_response(const enforcement::Denial& denial, const Challenge& challenge,
                               bool is_too_large) {
  http::Response out =
      json_response(status_of(denial.reason, is_too_large), enforcement::denial_json(denial));
  if (const std::string said = challenge_of(denial, challenge); !said.empty()) {
    out.headers.set("WWW-Authenticate", said);
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
