// Names of the reason codes.
#include "access/reason.h"

#include <array>

namespace remit::access {
namespace {

constexpr std::array<std::string_view, kReasonCount> kNames = {
    "policy_error",         "invalid_request",
    "limit_exceeded",       "unknown_route",
    "missing_identity",     "invalid_identity",
    "expired_identity",     "unknown_tool",
    "missing_scope",        "invalid_arguments",
    "resource_not_found",   "resolver_unavailable",
    "tenant_mismatch",      "approval_required",
    "stale_approval",       "forbidden",
    "not_permitted",        "policy_unavailable",
    "duplicate_invocation", "outcome_unknown",
    "evidence_unavailable", "allowed"};

}  // namespace

std::string_view reason_name(ReasonCode reason) {
  return kNames[static_cast<std::size_t>(reason)];
}

std::optional<ReasonCode> parse_reason(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ReasonCode>(i);
  }
  return std::nullopt;
}

bool is_policy_reason(ReasonCode reason) {
  return reason == ReasonCode::kTenantMismatch || reason == ReasonCode::kApprovalRequired ||
         reason == ReasonCode::kStaleApproval || reason == ReasonCode::kForbidden;
}

}  // namespace remit::access
