// Decides with the Cedar policy engine in this process.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

#include "cedar/engine.h"
#include "cedar/question.h"
#include "decision/decision_point.h"

namespace remit::cedar {

/// The policies of one bundle. A decision evaluates only policies that can match its action and the
/// entities their scope names, so that it costs about the same under one policy and under
/// thousands.
///
/// Reasons: `policy_error` for anything that does not fit the schema and for any evaluation error,
/// whatever else matched; else the first in the order of access::ReasonCode among the determining
/// forbids; else `not_permitted` without a permit. `approval_required` is said only when the same
/// request with an active approval would be allowed, else `not_permitted`. Immutable; thread-safe;
/// keeps nothing between calls. Uses up to about 1.2 MiB of stack.
class CedarDecisionPoint final : public decision::DecisionPoint {
 public:
  explicit CedarDecisionPoint(std::shared_ptr<const Engine> engine);

  [[nodiscard]] Result<access::Decision> decide(
      const decision::DecisionRequest& request) const override;
  [[nodiscard]] std::string_view name() const override { return "cedar"; }

 private:
  struct Action {
    std::uint32_t number = 0;
    const Shape* arguments = nullptr;
  };

  [[nodiscard]] access::Decision denied(const Target& target,
                                        const decision::DecisionRequest& request,
                                        const Answer& answer) const;
  [[nodiscard]] std::vector<std::string> ids(const std::vector<std::uint32_t>& policies) const;

  std::shared_ptr<const Engine> engine_;
  // Keys are views into the engine's own strings.
  std::unordered_map<std::string_view, Action> actions_;
  std::unordered_map<std::string_view, std::uint32_t> types_;
};

/// Makes Cedar decision points. Stateless; thread-safe.
class CedarDecisionPointFactory final : public decision::DecisionPointFactory {
 public:
  [[nodiscard]] decision::DecisionPointOutcome create(const policy::Bundle& bundle) const override;
  /// The same for people who write a bundle: its warnings are also those of `doubts`.
  [[nodiscard]] static decision::DecisionPointOutcome check(const policy::Bundle& bundle);
};

}  // namespace remit::cedar
