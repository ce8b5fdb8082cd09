// The rules of enforcement on facts: pinned ones, and those that the record gives twice.
#include <string>
#include <utility>

#include "grading/judge.h"
#include "grading/state_names.h"

namespace remit::grading {
namespace {

using event::EventKind;
using event::Field;

void append_name(std::string& list, std::string_view name) {
  list.append(list.empty() ? "" : ", ").append(name);
}

std::string names_of_states(ApprovalStates states) {
  std::string out;
  for (unsigned state = 1; state <= static_cast<unsigned>(ApprovalState::kConsumed); ++state) {
    if ((states >> state & 1U) == 0) continue;
    out.append(out.empty() ? "" : " or ")
        .append(approval_state_name(static_cast<ApprovalState>(state)));
  }
  return out;
}

}  // namespace

void Judge::Earlier::clear() {
  unresolved = queue_denial = resolved = nullptr;
  resources.clear();
  approvals.clear();
}

void Judge::Differences::add(std::string_view field, Told expected_fact, Told recorded_fact) {
  if (fields.empty()) {
    expected = std::move(expected_fact);
    recorded = std::move(recorded_fact);
  }
  append_name(fields, field);
}

// Goes through each log of the invocation once, so that a decision finds what stands before it.
void Judge::judge_trusted() {
  const CallView& call = *call_;
  const EventRecord* before = nullptr;
  for (const EventRecord* event : call.events) {
    if (before != nullptr && before->writer != event->writer) earlier_.clear();
    before = event;
    if (event->kind == EventKind::kAuthorizationDecision) {
      judge_decision(*event, event == call.decisions.back());
    } else if (event->kind == EventKind::kResourceResolved) {
      judge_resolution(*event);
    } else if (event->kind == EventKind::kApprovalChecked) {
      judge_approval(*event);
    } else if (event->kind == EventKind::kExecutorStart && earlier_.queue_denial != nullptr) {
      queue_denied_starts_.emplace_back(event, earlier_.queue_denial);
    }
    take_note(*event);
  }
}

void Judge::take_note(const EventRecord& event) {
  if (event.kind == EventKind::kAuthorizationDecision) {
    earlier_.unresolved = nullptr;
    if (event.decision == DecisionWord::kAllow) earlier_.queue_denial = nullptr;
  } else if (event.kind == EventKind::kQueueDenied) {
    earlier_.queue_denial = &event;
  } else if (event.kind == EventKind::kApprovalChecked) {
    const bool has_both =
        event.has(Fact::kApprovalId) && event.approval_state != ApprovalState::kUnrecorded;
    if (has_both) earlier_.approvals[store_.text(event.fact(Fact::kApprovalId))] = &event;
  } else if (event.kind == EventKind::kResourceResolved) {
    if (event.outcome != OutcomeWord::kFound && event.outcome != OutcomeWord::kAbsent) {
      earlier_.unresolved = &event;
    } else if (event.has(Fact::kResourceId)) {
      const std::string_view id = store_.text(event.fact(Fact::kResourceId));
      earlier_.resolved = &event;
      earlier_.resources[{id, event.fact(Fact::kResourceType)}] = &event;
      earlier_.resources[{id, kAnyType}] = &event;
    }
  }
}

void Judge::judge_facts(const EventRecord& decision, const Expectation* entry) {
  judge_principal(decision, entry);
  judge_resource(decision, entry);
  judge_approval(decision);
  judge_accepted_approval(decision);
  if (unrecorded_.empty()) return;
  std::string fields;
  for (const std::string_view field : unrecorded_) append_name(fields, field);
  add(Code::kUnrecordedFact, std::move(fields), std::nullopt, {&decision});
  doubt(Verdict::kEnforcement);
}

// REQ-GR-120: an interned fact that is pinned, other than recorded, or, where an entry expects it,
// unrecorded.
void Judge::compare(const EventRecord& event, Fact fact, Field field, Ref expected,
                    bool is_expected, Differences& out) {
  if (expected == 0) return;
  const Ref found = event.fact(fact);
  if (found == 0) {
    if (is_expected) unrecorded_.push_back(event::field_name(field));
  } else if (found != expected) {
    out.add(event::field_name(field), recorded(expected), recorded(found));
  }
}

// REQ-GR-121.
void Judge::judge_principal(const EventRecord& decision, const Expectation* entry) {
  const PrincipalFacts* facts = entry == nullptr ? nullptr : pinned_.principal_of(*entry);
  const bool is_expected = facts != nullptr;
  if (facts == nullptr) facts = pinned_.principal(decision.fact(Fact::kPrincipalRef));
  if (facts == nullptr) return;
  Differences found;
  compare(decision, Fact::kPrincipalRef, Field::kPrincipalRef, facts->ref, is_expected, found);
  if (facts->state != PrincipalState::kUnrecorded) {
    if (decision.principal_state == PrincipalState::kUnrecorded) {
      if (is_expected) unrecorded_.push_back(event::field_name(Field::kPrincipalState));
    } else if (decision.principal_state != facts->state) {
      found.add(event::field_name(Field::kPrincipalState),
                std::string(principal_state_name(facts->state)),
                std::string(principal_state_name(decision.principal_state)));
    }
  }
  compare(decision, Fact::kPrincipalClass, Field::kPrincipalClass, facts->principal_class,
          is_expected, found);
  compare(decision, Fact::kPrincipalTenant, Field::kPrincipalTenant, facts->tenant, is_expected,
          found);
  compare(decision, Fact::kPrincipalRevision, Field::kPrincipalRevision, facts->revision,
          is_expected, found);
  if (found.is_empty()) return;
  add(Code::kStalePrincipal, std::move(found.expected), std::move(found.recorded), {&decision},
      found.fields);
}

// REQ-GR-122; what was resolved contradicts a decision only where nothing pinned does.
void Judge::judge_resource(const EventRecord& decision, const Expectation* entry) {
  const ResourceFacts* facts = entry == nullptr ? nullptr : pinned_.resource_of(*entry);
  const bool is_expected = facts != nullptr;
  if (is_expected && decision.is_resource_null) {
    add(Code::kStaleResource, std::string(facts->id), std::nullopt, {&decision},
        "its resource_id is null");
    return;
  }
  if (facts == nullptr) facts = pinned_.resource(decision);
  if (facts != nullptr && compare_resource(decision, *facts, is_expected)) return;
  judge_against_resolution(decision);
}

// True if the event is `stale_resource`.
bool Judge::compare_resource(const EventRecord& event, const ResourceFacts& facts,
                             bool is_expected) {
  Differences found;
  if (!event.has(Fact::kResourceId)) {
    if (is_expected) unrecorded_.push_back(event::field_name(Field::kResourceId));
  } else if (store_.text(event.fact(Fact::kResourceId)) != facts.id) {
    found.add(event::field_name(Field::kResourceId), std::string(facts.id),
              recorded(event.fact(Fact::kResourceId)));
  }
  compare(event, Fact::kResourceType, Field::kResourceType, facts.type, is_expected, found);
  compare(event, Fact::kResourceTenant, Field::kResourceTenant, facts.tenant, is_expected, found);
  compare(event, Fact::kResolutionRevision, Field::kResolutionRevision, facts.revision, is_expected,
          found);
  Differences source;
  compare(event, Fact::kResolutionSource, Field::kResolutionSource, facts.source, is_expected,
          source);
  if (!source.is_empty()) {
    add(Code::kWrongEnvironment, std::move(source.expected), std::move(source.recorded), {&event},
        source.fields);
  }
  if (found.is_empty()) return false;
  add(Code::kStaleResource, std::move(found.expected), std::move(found.recorded), {&event},
      found.fields);
  return true;
}

// A resolution is compared with the entry's resource where it names it, else with the manifest's.
void Judge::judge_resolution(const EventRecord& event) {
  if (!event.has(Fact::kResourceId)) return;
  const Expectation* entry = assignment_->entry;
  const ResourceFacts* facts = entry == nullptr ? nullptr : pinned_.resource_of(*entry);
  const bool is_of_entry =
      facts != nullptr && store_.text(event.fact(Fact::kResourceId)) == facts->id;
  if (!is_of_entry) facts = pinned_.resource(event);
  if (facts != nullptr) static_cast<void>(compare_resource(event, *facts, false));
}

// REQ-GR-104.
void Judge::judge_against_resolution(const EventRecord& decision) {
  if (earlier_.resolved == nullptr || !decision.has(Fact::kResourceId)) return;
  const std::string_view id = store_.text(decision.fact(Fact::kResourceId));
  const auto resolved_as = [&](Ref type) -> const EventRecord* {
    const auto found = earlier_.resources.find({id, type});
    return found == earlier_.resources.end() ? nullptr : found->second;
  };
  const Ref type = decision.fact(Fact::kResourceType);
  const EventRecord* resolved = resolved_as(type == 0 ? kAnyType : type);
  if (type != 0) {
    const EventRecord* untyped = resolved_as(0);
    const bool is_later =
        untyped != nullptr && (resolved == nullptr || resolved->key() < untyped->key());
    if (is_later) resolved = untyped;
  }
  if (resolved == nullptr) {
    const EventRecord& last = *earlier_.resolved;
    const bool is_other_id = !store_.agree(last, decision, Fact::kResourceId);
    const Fact fact = is_other_id ? Fact::kResourceId : Fact::kResourceType;
    add(Code::kStaleResource, recorded(last.fact(fact)), recorded(decision.fact(fact)),
        {&last, &decision}, "another resource was resolved");
    return;
  }
  for (const Fact fact : {Fact::kResourceTenant, Fact::kResolutionRevision}) {
    if (store_.agree(*resolved, decision, fact)) continue;
    add(Code::kStaleResource, recorded(resolved->fact(fact)), recorded(decision.fact(fact)),
        {resolved, &decision},
        fact == Fact::kResourceTenant ? "resource_tenant was resolved as another"
                                      : "another resolution_revision was resolved");
    return;
  }
}

// REQ-GR-123.
void Judge::judge_approval(const EventRecord& event) {
  const ApprovalStates in_force = pinned_.approval_in_force(event);
  if (in_force == 0) return;
  if (event.approval_state == ApprovalState::kUnrecorded) {
    if (event.kind == EventKind::kAuthorizationDecision) {
      unrecorded_.push_back(event::field_name(Field::kApprovalState));
    }
    return;
  }
  if ((in_force & bit(event.approval_state)) != 0) return;
  add(Code::kWrongApprovalState, names_of_states(in_force),
      std::string(approval_state_name(event.approval_state)), {&event});
}

// REQ-GR-124.
void Judge::judge_accepted_approval(const EventRecord& decision) {
  if (decision.decision != DecisionWord::kAllow) return;
  const ApprovalState own = decision.approval_state;
  const bool has_id = decision.has(Fact::kApprovalId);
  if (!has_id && (own == ApprovalState::kUnrecorded || own == ApprovalState::kAbsent)) return;
  const auto is_other = [](ApprovalState state) {
    return state != ApprovalState::kUnrecorded && state != ApprovalState::kActive;
  };
  const EventRecord* checked = nullptr;
  if (has_id) {
    const auto found = earlier_.approvals.find(store_.text(decision.fact(Fact::kApprovalId)));
    if (found != earlier_.approvals.end()) checked = found->second;
  }
  const bool is_checked_other = checked != nullptr && is_other(checked->approval_state);
  const ApprovalStates in_force = pinned_.approval_in_force(decision);
  const bool is_active_in_force = in_force == 0 || (in_force & bit(ApprovalState::kActive)) != 0;
  if (!is_other(own) && !is_checked_other && is_active_in_force) return;
  std::string state;
  if (is_other(own)) {
    state = approval_state_name(own);
  } else if (is_checked_other) {
    state = approval_state_name(checked->approval_state);
  } else {
    state = names_of_states(in_force);
  }
  Finding& finding = add(Code::kStaleApprovalAccepted, "active", std::move(state),
                         is_checked_other ? Events{checked, &decision} : Events{&decision});
  const bool is_wrong =
      own != ApprovalState::kUnrecorded && in_force != 0 && (in_force & bit(own)) == 0;
  const bool is_contradicted = own == ApprovalState::kActive && is_checked_other;
  if (is_wrong || is_contradicted) finding.owner = Owner::kApprovalService;
}

}  // namespace remit::grading
