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
constexpr Told kNotAvailable = {kNotAvailableCode, Retry::kNever,
                                "This is not available to you. Choose another way."};
constexpr Told kAuthenticate = {"unauthenticated", Retry::kNever,
                                "Authenticate before calling a tool."};
constexpr Told kTryLater = {"unavailable", Retry::kLater,
                            "The call could not be decided just now. Try again later."};
constexpr Told kFirstAttempt = {"repeated", Retry::kNever,
                                "This key was used before, and the first attempt has ended. Use a "
                                "new key for new work only."};
constexpr Told kStillRunning = {"repeated", Retry::kLater,
                                "The first attempt with this key is still under way. Wait for it."};
constexpr Told kOtherCall = {"repeated", Retry::kNever,
                             "This key was used for another call. Use a new key for this one."};
constexpr Told kNobodyKnows = {"repeated", Retry::kNever,
                               "The first attempt may have had its effect. A person has to look; "
                               "do not repeat it under another key."};

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
      return kFirstAttempt;
    case ReasonCode::kOutcomeUnknown:
      return kNobodyKnows;
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

void say_key_is_missing(Denial& denial) {
  denial.advice =
      "This tool needs an idempotency key. Send one, and the same one when you repeat the call.";
}

void say_first_attempt(ledger::ClaimVerdict verdict, Denial& denial) {
  using ledger::ClaimVerdict;
  struct Said {
    ClaimVerdict verdict;
    std::string_view state;
    Told told;
  };
  constexpr Said kSaid[] = {{ClaimVerdict::kRunning, "running", kStillRunning},
                            {ClaimVerdict::kSucceeded, "succeeded", kFirstAttempt},
                            {ClaimVerdict::kFailed, "failed", kFirstAttempt},
                            {ClaimVerdict::kCancelled, "cancelled", kFirstAttempt},
                            {ClaimVerdict::kConflict, "conflict", kOtherCall},
                            {ClaimVerdict::kUnknown, "unknown", kNobodyKnows}};
  for (const Said& said : kSaid) {
    if (said.verdict != verdict) continue;
    denial.first_attempt = said.state;
    denial.code = said.told.code;
    denial.retry = said.told.retry;
    denial.advice = said.told.advice;
  }
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
  if (!denial.approval_request.empty()) out.set("request", denial.approval_request);
  if (!denial.first_attempt.empty()) out.set("state", denial.first_attempt);
  return out;
}

}  // namespace remit::enforcement
