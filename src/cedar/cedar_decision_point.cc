// Decides with the Cedar policy engine in this process.
#include "cedar/cedar_decision_point.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cedar/agreement.h"
#include "cedar/doubts.h"

namespace remit::cedar {

using access::Decision;
using access::ReasonCode;

CedarDecisionPoint::CedarDecisionPoint(std::shared_ptr<const Engine> engine)
    : engine_(std::move(engine)) {
  const SchemaTypes& types = engine_->types();
  for (std::uint32_t i = 0; i < types.actions.size(); ++i) {
    const ActionType& action = types.actions[i];
    const Field* arguments = action.context.find("arguments");
    if (action.type == kActionType && arguments != nullptr) {
      actions_.emplace(action.id, Action{i, &arguments->shape});
    }
  }
  for (std::uint32_t i = 0; i < types.entities.size(); ++i) {
    types_.emplace(types.entities[i].type, i);
  }
}

std::vector<std::string> CedarDecisionPoint::ids(const std::vector<std::uint32_t>& policies) const {
  std::vector<std::string> out;
  out.reserve(policies.size());
  for (const std::uint32_t policy : policies) out.push_back(engine_->policies()[policy].id);
  return out;
}

Result<Decision> CedarDecisionPoint::decide(const decision::DecisionRequest& request) const {
  const auto action = actions_.find(request.action);
  const auto principal = types_.find(kPrincipalType);
  const auto resource = types_.find(request.resource.type);
  if (action == actions_.end() || principal == types_.end() || resource == types_.end()) {
    return Decision::deny(ReasonCode::kPolicyError, {},
                          fmt::format("the schema lacks the action {} or the resource type {}",
                                      quoted(request.action), quoted(request.resource.type)));
  }
  if (request.principal.subject.empty() || request.resource.id.empty()) {
    return Decision::deny(ReasonCode::kPolicyError, {}, "the principal or the resource has no id");
  }
  const Target target{action->second.number, principal->second, resource->second,
                      action->second.arguments};
  const Answer answer = ask(*engine_, target, request, request.approval);
  if (answer.allows) return Decision::allow(ids(answer.permits));
  return denied(target, request, answer);
}

Decision CedarDecisionPoint::denied(const Target& target, const decision::DecisionRequest& request,
                                    const Answer& answer) const {
  if (!answer.failed.empty() || !answer.detail.empty()) {
    return Decision::deny(ReasonCode::kPolicyError, ids(answer.failed), answer.detail);
  }
  if (answer.forbids.empty()) return Decision::deny(ReasonCode::kNotPermitted);
  const auto reason_of = [&](std::uint32_t policy) { return engine_->policies()[policy].reason; };
  ReasonCode reason = reason_of(answer.forbids.front());
  for (const std::uint32_t forbid : answer.forbids) reason = std::min(reason, reason_of(forbid));
  // Whoever could not act with an approval either must not learn that one is asked for here.
  if (reason == ReasonCode::kApprovalRequired &&
      !ask(*engine_, target, request, decision::ApprovalFacts{.state = "active"}).allows) {
    reason = ReasonCode::kNotPermitted;
  }
  return Decision::deny(reason, ids(answer.forbids));
}

namespace {

decision::DecisionPointOutcome outcome_of(const policy::Bundle& bundle,
                                          const EngineOutcome& loaded) {
  decision::DecisionPointOutcome out{
      .decision_point = nullptr, .problems = loaded.problems, .warnings = loaded.warnings};
  if (loaded.engine == nullptr) return out;
  out.problems = disagreements(bundle, loaded.engine->types());
  if (out.problems.empty()) {
    out.decision_point = std::make_shared<const CedarDecisionPoint>(loaded.engine);
  }
  return out;
}

}  // namespace

decision::DecisionPointOutcome CedarDecisionPointFactory::create(
    const policy::Bundle& bundle) const {
  return outcome_of(bundle, load_engine(bundle.policies, bundle.schema));
}

decision::DecisionPointOutcome CedarDecisionPointFactory::check(const policy::Bundle& bundle) {
  const EngineOutcome loaded = load_engine(bundle.policies, bundle.schema);
  decision::DecisionPointOutcome out = outcome_of(bundle, loaded);
  if (out.decision_point == nullptr) return out;
  for (Error& doubt : doubts(bundle, *loaded.engine, *out.decision_point)) {
    out.warnings.push_back(std::move(doubt));
  }
  return out;
}

}  // namespace remit::cedar
