// What a caller is told of a refusal: enough to choose something else, nothing that betrays.
#include <utility>

#include "enforcement/denial.h"

namespace remit::enforcement {
namespace {

using access::ReasonCode;

struct Told {
  std::string_view code;
  Retry retry;
  std::string_view advice;
};

// One wording for four reasons, so that a caller cannot tell which it was (REQ-RS-011).
constexpr Told kNotAvailable = {"not_available", Retry::kNever,
                                "This is not available to you. Choose another way."};
constexpr Told kAuthenticate = {"unauthenticated", Retry::kNever,
                                "Authenticate before calling a tool."};
constexpr Told kTryLater = {"unavailable", Retry::kLater,
                            "The call could not be decided just now. Try again later."};
constexpr Told kFirstAttempt = {"repeated", Retry::kNever,
                                "This key was used before. Ask for the first attempt's state."};

Told told(ReasonCode reason) {
  switch (reason) {
    case ReasonCode::kInvalidRequest:
      return {"invalid_request", Retry::kNever,
              "The request cannot be read. Send well-formed JSON."};
    case ReasonCode::kLimitExceeded:
      return {"limit_exceeded", Retry::kLater, "This was too much. Send less, or wait."};
    case ReasonCode::kUnknownRoute:
      return {"unknown_route", Retry::kNever, "This way in is closed."};
    case ReasonCode::kMissingIdentity:
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
      return kAuthenticate;
    case ReasonCode::kUnknownTool:
      return {"unknown_tool", Retry::kNever, "There is no such tool here."};
    case ReasonCode::kMissingScope:
      return {"missing_scope", Retry::kNever, "This tool needs scopes that you do not hold."};
    case ReasonCode::kInvalidArguments:
      return {"invalid_arguments", Retry::kNever, "The arguments do not fit the tool's schema."};
    case ReasonCode::kResourceNotFound:
    case ReasonCode::kTenantMismatch:
    case ReasonCode::kForbidden:
    case ReasonCode::kNotPermitted:
      return kNotAvailable;
    case ReasonCode::kApprovalRequired:
    case ReasonCode::kStaleApproval:
      return {"approval_required", Retry::kAfterApproval,
              "A person must approve this call. Ask for an approval, then repeat it unchanged."};
    case ReasonCode::kDuplicateInvocation:
    case ReasonCode::kOutcomeUnknown:
      return kFirstAttempt;
    case ReasonCode::kPolicyError:
    case ReasonCode::kPolicyUnavailable:
    case ReasonCode::kResolverUnavailable:
    case ReasonCode::kEvidenceUnavailable:
    case ReasonCode::kAllowed:  // no denial has it; if one had, it would say the least
      return kTryLater;
  }
  return kTryLater;
}

std::string_view retry_name(Retry retry) {
  switch (retry) {
    case Retry::kNever:
      return "never";
    case Retry::kAfterApproval:
      return "after_approval";
    case Retry::kLater:
      return "later";
  }
  return "never";
}

json::Array texts(const std::vector<std::string>& values) {
  json::Array out;
  out.reserve(values.size());
  for (const std::string& value : values) out.emplace_back(value);
  return out;
}

}  // namespace

Denial make_denial(ReasonCode reason, std::string_view invocation_id, std::string detail) {
  const Told words = told(reason);
  Denial out;
  out.reason = reason;
  out.invocation_id = invocation_id;
  out.code = words.code;
  out.retry = words.retry;
  out.advice = words.advice;
  out.detail = std::move(detail);
  return out;
}

Denial refused_permit(std::string_view invocation_id, Retry retry, std::string detail) {
  Denial out;
  out.reason = ReasonCode::kNotPermitted;
  out.invocation_id = invocation_id;
  out.code = "permit_refused";
  out.retry = retry;
  out.advice = "The permit does not cover this run. Ask for a new decision.";
  out.detail = std::move(detail);
  return out;
}

json::Object denial_json(const Denial& denial) {
  json::Object out;
  out.set("status", "denied");
  out.set("code", denial.code);
  out.set("retry", retry_name(denial.retry));
  out.set("advice", denial.advice);
  if (!denial.scopes_needed.empty()) out.set("scopes", texts(denial.scopes_needed));
  if (!denial.arguments.empty()) out.set("arguments", texts(denial.arguments));
  return out;
}

}  // namespace remit::enforcement
