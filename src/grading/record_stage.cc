// How far an invocation has come on the path that violates nothing.
#include <optional>

#include "grading/record_store.h"

namespace remit::grading {

using event::EventKind;

Stage RecordStore::next_stage(const Invocation& chain, const EventRecord* last,
                              const EventRecord& event) const {
  const bool follows =
      last == nullptr || (last->writer == event.writer && last->key() < event.key());
  if (!follows) return Stage::kOdd;
  switch (event.kind) {
    case EventKind::kToolRequest:
      return chain.stage == Stage::kNew && event.has(Fact::kTool) ? Stage::kRequested : Stage::kOdd;
    case EventKind::kResourceResolved:
    case EventKind::kApprovalChecked:
    case EventKind::kQueueEnqueued:
    case EventKind::kQueueDequeued:
      return chain.stage == Stage::kRequested ? Stage::kRequested : Stage::kOdd;
    case EventKind::kAuthorizationDecision:
      return chain.stage == Stage::kRequested ? decided_stage(chain, event) : Stage::kOdd;
    case EventKind::kExecutorStart: {
      if (chain.stage != Stage::kAllowed) return Stage::kOdd;
      const Ref cited = event.fact(Fact::kDecisionId);
      const bool is_governed = (cited == 0 || text(cited) == text(last->fact(Fact::kDecisionId))) &&
                               applies(*last, event) && last->number() == event.number();
      return is_governed ? Stage::kStarted : Stage::kOdd;
    }
    case EventKind::kExecutorFinish: {
      const bool is_known = event.outcome == OutcomeWord::kSucceeded ||
                            event.outcome == OutcomeWord::kFailed ||
                            event.outcome == OutcomeWord::kCancelled;
      const bool is_plain = chain.stage == Stage::kStarted && is_known;
      return is_plain && are_of_one_call(*last, event) ? Stage::kFinished : Stage::kOdd;
    }
    default:
      return Stage::kOdd;
  }
}

// Whether its own record does not refuse an allow: REQ-GR-102, REQ-GR-124.
bool RecordStore::is_allowed_by_itself(const EventRecord& decision) const {
  const bool is_known = decision.principal_state == PrincipalState::kUnrecorded ||
                        decision.principal_state == PrincipalState::kAuthenticated;
  const bool is_active = decision.approval_state == ApprovalState::kUnrecorded ||
                         decision.approval_state == ApprovalState::kActive;
  return is_known && is_active;
}

// What was resolved and checked before the decision, as strictly as is quick: what fails here is
// only judged in full.
bool RecordStore::agrees_with_chain(const Invocation& chain, const EventRecord& decision) const {
  bool was_resolved = false;
  bool is_of_resolved = false;
  for (Ref ref = chain.first; ref != 0; ref = record(ref).next) {
    const EventRecord& event = record(ref);
    if (event.kind == EventKind::kApprovalChecked) {
      if (event.approval_state != ApprovalState::kActive && decision.has(Fact::kApprovalId)) {
        return false;
      }
    } else if (event.kind == EventKind::kResourceResolved) {
      const bool is_found =
          event.outcome == OutcomeWord::kFound || event.outcome == OutcomeWord::kAbsent;
      if (!is_found && decision.decision != DecisionWord::kDeny) return false;
      if (!is_found || !event.has(Fact::kResourceId) || !decision.has(Fact::kResourceId)) continue;
      was_resolved = true;
      if (!agree(event, decision, Fact::kResourceId)) continue;
      if (!agree(event, decision, Fact::kResourceType) ||
          !agree(event, decision, Fact::kResourceTenant) ||
          !agree(event, decision, Fact::kResolutionRevision)) {
        return false;
      }
      is_of_resolved = true;
    }
  }
  return is_of_resolved || !was_resolved;
}

// For that request, with a reason that fits, by the policy published last.
Stage RecordStore::decided_stage(const Invocation& chain, const EventRecord& decision) const {
  const EventRecord& request = record(chain.first);
  const bool is_for_it =
      agree(request, decision, Fact::kTool) && agree(request, decision, Fact::kArgsDigest);
  const Ref version = decision.fact(Fact::kPolicyVersion);
  if (!is_for_it || version == 0 || !agrees_with_chain(chain, decision)) return Stage::kOdd;
  const auto& publications = writers_[decision.writer].publications;
  if (!publications.empty()) {
    const Publication& in_force = publications.back();
    const Ref digest = decision.fact(Fact::kPolicyDigest);
    const bool is_same_digest = in_force.digest == 0 || digest == 0 || in_force.digest == digest;
    if (in_force.version != version || !is_same_digest) return Stage::kOdd;
  }
  const Ref word = decision.fact(Fact::kReason);
  const std::optional<access::ReasonCode> reason = this->reason(word);
  if (word != 0 && !reason) return Stage::kOdd;
  const bool says_allowed = reason == access::ReasonCode::kAllowed;
  if (decision.decision == DecisionWord::kAllow) {
    const bool is_sound = (word == 0 || says_allowed) && is_allowed_by_itself(decision);
    return is_sound ? Stage::kAllowed : Stage::kOdd;
  }
  if (decision.decision == DecisionWord::kDeny) {
    return word == 0 || says_allowed ? Stage::kOdd : Stage::kDenied;
  }
  return Stage::kOdd;
}

}  // namespace remit::grading
