// A decision: allow or deny, with its reason and the policies that determined it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "access/reason.h"

namespace remit::access {

/// An allow or a deny that cannot be wrong: an allow needs at least one determining permit and no
/// errors (invariant *no allow with errors*), so the only ways to make one are the two factories. A
/// default-constructed decision is a deny with `policy_error`.
class Decision {
 public:
  Decision() = default;

  /// An allow determined by `permits` (policy ids). With none it is a deny with `policy_error`.
  static Decision allow(std::vector<std::string> permits) {
    Decision out;
    if (permits.empty()) return out;
    out.reason_ = ReasonCode::kAllowed;
    out.determining_policies_ = std::move(permits);
    return out;
  }

  /// A deny; `reason` kAllowed is turned into `policy_error`, since a deny has a reason of its own.
  static Decision deny(ReasonCode reason, std::vector<std::string> determining_policies = {},
                       std::string detail = {}) {
    Decision out;
    if (reason != ReasonCode::kAllowed) out.reason_ = reason;
    out.determining_policies_ = std::move(determining_policies);
    out.detail_ = std::move(detail);
    return out;
  }

  [[nodiscard]] bool allowed() const { return reason_ == ReasonCode::kAllowed; }
  [[nodiscard]] ReasonCode reason() const { return reason_; }
  /// Ids, sorted: the permits of an allow, the forbids of a deny, the erring policies of
  /// `policy_error`.
  [[nodiscard]] const std::vector<std::string>& determining_policies() const {
    return determining_policies_;
  }
  /// For the operator, never for the caller or the evidence: what went wrong, in words. May be
  /// empty.
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  ReasonCode reason_ = ReasonCode::kPolicyError;
  std::vector<std::string> determining_policies_;
  std::string detail_;
};

}  // namespace remit::access
