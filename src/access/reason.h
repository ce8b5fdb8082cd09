// The closed list of reason codes: why a call was allowed or refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace remit::access {

/// Reason codes in the order of precedence of spec/reasons.md: among several determining forbids
/// the first in this list wins, except that `policy_error` beats them all. The enum starts at the
/// safe value.
enum class ReasonCode : std::uint8_t {
  kPolicyError,
  kInvalidRequest,
  kLimitExceeded,
  kUnknownRoute,
  kMissingIdentity,
  kInvalidIdentity,
  kExpiredIdentity,
  kUnknownTool,
  kMissingScope,
  kInvalidArguments,
  kResourceNotFound,
  kResolverUnavailable,
  kTenantMismatch,
  kApprovalRequired,
  kStaleApproval,
  kForbidden,
  kNotPermitted,
  kPolicyUnavailable,
  kDuplicateInvocation,
  kOutcomeUnknown,
  kEvidenceUnavailable,
  kAllowed,
};
inline constexpr int kReasonCount = 22;

/// The code as events write it, e.g. `tenant_mismatch`.
std::string_view reason_name(ReasonCode reason);

/// The code of a name, or nothing: the list is closed.
std::optional<ReasonCode> parse_reason(std::string_view name);

/// Whether a policy may give this reason by `@reason` (BOUNDARY, Cedar conventions):
/// `tenant_mismatch`, `approval_required`, `stale_approval`, `forbidden`.
bool is_policy_reason(ReasonCode reason);

}  // namespace remit::access
