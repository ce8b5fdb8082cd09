// The fields of a call's events (spec/events.md).
#include "enforcement/call_record.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "enforcement/recorded_text.h"

namespace remit::enforcement {
namespace {

using event::Event;
using event::EventKind;
using event::Field;

constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kSpanIdDigits = 16;

std::string_view outcome_name(Resolution resolution) {
  switch (resolution) {
    case Resolution::kFound:
      return "found";
    case Resolution::kNotFound:
      return "not_found";
    case Resolution::kUnavailable:
      return "unavailable";
  }
  return "unavailable";
}

void set_resource(const access::Resource& resource, Event& out) {
  out.set(Field::kResourceType, resource.type);
  out.set(Field::kResourceId, resource.id);
  out.set_if_any(Field::kResourceTenant, resource.tenant);
}

void set_origin(const access::Resource& resource, Event& out) {
  out.set_if_any(Field::kResolutionSource, resource.source);
  out.set_if_any(Field::kResolutionRevision, resource.revision);
}

}  // namespace

CallRecord::CallRecord(const access::ProposedCall& call, std::string invocation_id, WallTime now,
                       const DigestKey& key)
    : invocation_id_(std::move(invocation_id)),
      time_(format_rfc3339(now)),
      run_id_(recorded_text(call.run_id, key)),
      case_id_(recorded_text(call.case_id, key)),
      route_(recorded_name(call.route, key)),
      tool_(recorded_name(call.tool, key)),
      trace_id_(recorded_hex(call.trace_id, kTraceIdDigits)),
      span_id_(recorded_hex(call.span_id, kSpanIdDigits)),
      planner_policy_version_(recorded_name(call.planner_policy_version, key)) {
  if (!call.idempotency_key.empty()) idempotency_key_digest_ = key.digest(call.idempotency_key);
  if (!call.deferral) return;
  queue_ = recorded_name(call.deferral->queue, key);
  enqueued_policy_version_ = recorded_name(call.deferral->enqueued_policy_version, key);
  worker_ = recorded_name(call.deferral->worker, key);
  attempt_ = call.deferral->attempt;
}

void CallRecord::set_assessment(Assessment assessment, std::string decision_id,
                                const DigestKey& key) {
  assessment_ = std::move(assessment);
  decision_id_ = std::move(decision_id);
  args_digest_.clear();
  action_.clear();
  principal_ref_.clear();
  principal_class_.clear();
  principal_tenant_.clear();
  principal_revision_.clear();
  requested_refs_.clear();
  further_resources_.clear();
  if (!assessment_.digested_form.empty()) args_digest_ = key.digest(assessment_.digested_form);
  if (assessment_.tool != nullptr) action_ = recorded_text(assessment_.tool->action, key);
  if (assessment_.identity && assessment_.identity->principal) {
    const access::Principal& principal = *assessment_.identity->principal;
    principal_ref_ = key.digest(principal.subject);
    principal_class_ = recorded_text(principal.class_name, key);
    principal_tenant_ = recorded_text(principal.tenant, key);
    principal_revision_ = recorded_text(principal.revision, key);
  }
  const bool clear_text = assessment_.tool != nullptr && assessment_.tool->requested_ref_safe;
  requested_refs_.reserve(assessment_.references.texts.size());
  for (const std::string& text : assessment_.references.texts) {
    requested_refs_.push_back(clear_text ? recorded_text(text, key) : key.digest(text));
  }
  for (std::size_t i = 1; i < assessment_.resources.size(); ++i) {
    further_resources_.push_back(assessment_.resources[i].type + ":" + assessment_.resources[i].id);
  }
}

void CallRecord::overrule(access::Decision denial,
                          std::shared_ptr<const decision::PolicySnapshot> in_force) {
  in_force_ = std::move(in_force);
  assessment_.decision = std::move(denial);
  assessment_.reached = Step::kDecide;
  assessment_.decision_point = {};
}

Event CallRecord::begin(EventKind kind, std::string_view time) const {
  Event out;
  out.kind = kind;
  out.set(Field::kInvocationId, invocation_id_);
  out.set_if_any(Field::kTime, time);
  out.set_if_any(Field::kRunId, run_id_);
  out.set_if_any(Field::kCaseId, case_id_);
  out.set_if_any(Field::kRoute, route_);
  out.set_if_any(Field::kTool, tool_);
  if (attempt_ > 0) {
    out.set(Field::kAttempt, attempt_);
  } else if (assessment_.claim && assessment_.claim->attempt > 1) {
    out.set(Field::kAttempt, assessment_.claim->attempt);
  }
  return out;
}

Event CallRecord::deferred(EventKind kind) const {
  Event out = begin(kind, time_);
  out.set_if_any(Field::kQueue, queue_);
  out.set_if_any(Field::kEnqueuedPolicyVersion, enqueued_policy_version_);
  return out;
}

Event CallRecord::request() const {
  Event out = begin(EventKind::kToolRequest, time_);
  out.set_if_any(Field::kTraceId, trace_id_);
  out.set_if_any(Field::kSpanId, span_id_);
  if (assessment_.identity) {
    out.set(Field::kPrincipalState, access::principal_state_name(assessment_.identity->state));
  }
  out.set_if_any(Field::kArgsDigest, args_digest_);
  if (!requested_refs_.empty()) out.set(Field::kRequestedRef, requested_refs_.front());
  out.set_if_any(Field::kPlannerPolicyVersion, planner_policy_version_);
  out.set_if_any(Field::kIdempotencyKeyDigest, idempotency_key_digest_);
  return out;
}

Event CallRecord::resolution(std::size_t index) const {
  Event out = begin(EventKind::kResourceResolved, time_);
  const Resolution resolution = assessment_.resolutions[index];
  out.set(Field::kOutcome, outcome_name(resolution));
  out.set(Field::kRequestedRef, requested_refs_[index]);
  if (resolution == Resolution::kFound) {
    set_resource(assessment_.resources[index], out);
    set_origin(assessment_.resources[index], out);
  } else {
    out.set(Field::kResourceType, assessment_.references.types[index]);
  }
  return out;
}

void CallRecord::set_approval(Event& out) const {
  if (!assessment_.approval) return;
  out.set_if_any(Field::kApprovalId, assessment_.approval->approval);
  out.set(Field::kApprovalState, ledger::approval_state_name(assessment_.approval->state));
}

Event CallRecord::approval_checked() const {
  Event out = begin(EventKind::kApprovalChecked, time_);
  set_approval(out);
  return out;
}

// Of the ledger, not of the call: what the call found is in its own events.
Event CallRecord::approval_changed(ledger::ApprovalState state) const {
  Event out;
  out.kind = EventKind::kApprovalChanged;
  out.set_if_any(Field::kRunId, run_id_);
  out.set(Field::kApprovalId, assessment_.claim->approval);
  out.set(Field::kApprovalState, ledger::approval_state_name(state));
  return out;
}

Event CallRecord::decision() const {
  const Assessment& facts = assessment_;
  Event out = begin(EventKind::kAuthorizationDecision, time_);
  out.set_if_any(Field::kAction, action_);
  if (!facts.resources.empty()) {
    set_resource(facts.resources.front(), out);
    set_origin(facts.resources.front(), out);
  } else {
    if (!facts.references.types.empty()) {
      out.set(Field::kResourceType, facts.references.types.front());
    }
    out.resource_id_is_null = true;
    out.mark(Field::kResourceId);
  }
  if (!further_resources_.empty()) {
    out.further_resources.assign(further_resources_.begin(), further_resources_.end());
    out.mark(Field::kFurtherResources);
  }
  out.set(Field::kDecision, facts.decision.allowed() ? "allow" : "deny");
  out.set(Field::kReason, access::reason_name(facts.decision.reason()));
  if (const auto& snapshot = in_force_ != nullptr ? in_force_ : facts.snapshot) {
    out.set_if_any(Field::kPolicyVersion, snapshot->bundle->version);
    out.set_if_any(Field::kPolicyDigest, snapshot->bundle->digest);
  }
  const std::vector<std::string>& policies = facts.decision.determining_policies();
  if (!policies.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(policies.size(), kMaxRecordedPolicies));
    out.determining_policies.assign(policies.begin(), policies.begin() + count);
    out.mark(Field::kDeterminingPolicies);
  }
  if (facts.identity) {
    out.set(Field::kPrincipalState, access::principal_state_name(facts.identity->state));
  }
  out.set_if_any(Field::kPrincipalClass, principal_class_);
  out.set_if_any(Field::kPrincipalRef, principal_ref_);
  out.set_if_any(Field::kPrincipalTenant, principal_tenant_);
  out.set_if_any(Field::kPrincipalRevision, principal_revision_);
  out.set_if_any(Field::kArgsDigest, args_digest_);
  set_approval(out);
  out.set(Field::kMode, facts.mode() == policy::Mode::kShadow ? "shadow" : "enforce");
  out.enforced = facts.enforced();
  out.mark(Field::kEnforced);
  out.set(Field::kDecisionId, decision_id_);
  out.set_if_any(Field::kDecisionPoint, facts.decision_point);
  return out;
}

void CallRecord::append_decision(std::vector<Event>& out) const {
  const bool is_deferred = attempt_ > 0;
  out.push_back(request());
  if (is_deferred) out.push_back(deferred(EventKind::kQueueDequeued));
  for (std::size_t i = 0; i < assessment_.resolutions.size(); ++i) out.push_back(resolution(i));
  if (assessment_.approval) out.push_back(approval_checked());
  out.push_back(decision());
  if (uses_approval()) out.push_back(approval_changed(ledger::ApprovalState::kConsumed));
  if (is_deferred && !assessment_.may_run()) out.push_back(deferred(EventKind::kQueueDenied));
}

void CallRecord::append_start(std::string_view time, std::vector<Event>& out) const {
  Event& start = out.emplace_back(begin(EventKind::kExecutorStart, time.empty() ? time_ : time));
  if (!assessment_.resources.empty()) set_resource(assessment_.resources.front(), start);
  start.set(Field::kDecisionId, decision_id_);
  start.set_if_any(Field::kArgsDigest, args_digest_);
  start.set_if_any(Field::kWorker, worker_);
}

Event CallRecord::finish(const access::Resource& resource, std::string_view outcome,
                         std::string_view error_type, std::int64_t duration_us) const {
  Event out = begin(EventKind::kExecutorFinish, {});
  set_resource(resource, out);
  out.set(Field::kOutcome, outcome);
  out.set_if_any(Field::kErrorType, error_type);
  out.set(Field::kDurationUs, duration_us);
  return out;
}

void CallRecord::append_unspent(std::vector<Event>& out) const {
  Event& unspent = out.emplace_back(begin(EventKind::kPermitUnspent, {}));
  unspent.set(Field::kDecisionId, decision_id_);
  if (uses_approval()) out.push_back(approval_changed(ledger::ApprovalState::kActive));
}

}  // namespace remit::enforcement
