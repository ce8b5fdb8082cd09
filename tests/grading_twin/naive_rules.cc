// One plain function for each rule of spec/grades.md on logs and invocations.
#include <algorithm>
#include <set>

#include "access/reason.h"
#include "naive_context.h"

namespace remit::twin {

using grading::Value;

// ---- What an invocation consists of.

Events of_kind(const Events& events, EventKind kind) {
  Events out;
  for (const NaiveEvent* event : events) {
    if (event->kind == kind) out.push_back(event);
  }
  return out;
}

bool before(const NaiveEvent* left, const NaiveEvent* right) {
  return left->writer == right->writer && left->order < right->order;
}

bool is_allow(const NaiveEvent* decision) {
  return decision->get(Field::kDecision) == "allow";
}
bool is_deny(const NaiveEvent* decision) {
  return decision->get(Field::kDecision) == "deny";
}

bool any_allow(const Events& decisions) {
  return std::any_of(decisions.begin(), decisions.end(), is_allow);
}

std::string first_recorded(const Events& events, Field field) {
  for (const NaiveEvent* request : of_kind(events, EventKind::kToolRequest)) {
    if (request->has(field)) return request->get(field);
  }
  for (const NaiveEvent* event : events) {
    if (event->has(field)) return event->get(field);
  }
  return {};
}

void add_case_finding(Context& context, const std::string& code, const std::string& invocation,
                      const std::string& case_id, std::optional<Value> value) {
  const grading::CodeInfo& info = grading::code_info(*grading::parse_code(code));
  NaiveFinding finding;
  finding.code = code;
  finding.invocation = invocation;
  finding.case_id = case_id;
  finding.verdict = info.verdict;
  finding.owner = info.owner;
  finding.value = value.value_or(info.soft ? Value::kUndetermined : Value::kFailed);
  context.findings.push_back(std::move(finding));
}

// Of the manifest's case, else of what the invocation's events say.
void add(Context& context, const std::string& code, const std::string& invocation,
         std::optional<Value> value) {
  const auto known = context.case_of.find(invocation);
  const auto seen = context.calls.find(invocation);
  std::string case_id;
  if (known != context.case_of.end()) {
    case_id = known->second;
  } else if (seen != context.calls.end()) {
    case_id = first_recorded(seen->second, Field::kCaseId);
  }
  add_case_finding(context, code, invocation, case_id, value);
}

namespace {

// REQ-GR-076: closed is a denial that nothing contradicts, a finish, or a permit that was never
// spent. `events` are some of the invocation's, `all` all of them.
bool closed_by(const Events& events, const Events& all) {
  const bool is_allowed = any_allow(of_kind(all, EventKind::kAuthorizationDecision));
  return std::any_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    if (event->kind == EventKind::kExecutorFinish) return true;
    if (event->kind == EventKind::kPermitUnspent) return true;
    return event->kind == EventKind::kAuthorizationDecision && is_deny(event) && !is_allowed;
  });
}

// ---- Logs (REQ-EV-040, REQ-GR-070 to REQ-GR-074).

void judge_gaps(Context& context) {
  std::map<NaiveWriter, std::set<std::int64_t>> numbers;
  for (const NaiveEvent& event : context.trace.events) {
    if (event.has(Field::kSeq)) numbers[event.writer].insert(event.integers.at(Field::kSeq));
  }
  for (const auto& [writer, seen] : numbers) {
    std::int64_t expected = 1;
    for (const std::int64_t number : seen) {
      if (number > expected) {
        context.losses.push_back({writer, {number, 0}, false});
        add(context, "sequence_gap", "");
      }
      expected = number + 1;
    }
  }
}

void judge_closing_counts(Context& context, const NaiveEvent& closing) {
  std::int64_t events = 0;
  std::set<std::string> invocations;
  for (const NaiveEvent& event : context.trace.events) {
    if (!before(&event, &closing)) continue;
    ++events;
    if (event::is_call_event(event.kind)) invocations.insert(event.get(Field::kInvocationId));
  }
  const auto compare = [&](Field field, std::int64_t seen) {
    if (!closing.has(field) || closing.integers.at(field) <= seen) return;
    context.losses.push_back({closing.writer, closing.order, true});
    add(context, "evidence_lost", "");
  };
  compare(Field::kEvents, events);
  compare(Field::kInvocations, static_cast<std::int64_t>(invocations.size()));
}

void judge_said_losses(Context& context) {
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind == EventKind::kEvidenceLost) {
      context.losses.push_back({event.writer, event.order, false});
      add(context, "evidence_lost", "");
    }
    if (event.kind == EventKind::kRunFinished) judge_closing_counts(context, event);
  }
}

// REQ-GR-071, REQ-GR-077.
bool touched_by(const NaiveLoss& loss, const Events& events) {
  Events own;
  Events earlier;
  for (const NaiveEvent* event : events) {
    if (event->writer != loss.writer) continue;
    own.push_back(event);
    if (event->order < loss.before) earlier.push_back(event);
  }
  if (own.empty()) return false;
  if (earlier.empty()) return own.front()->kind != EventKind::kToolRequest;
  return loss.is_anywhere_before || !closed_by(earlier, events);
}

bool touched_by_loss(const Context& context, const Events& events) {
  return std::any_of(context.losses.begin(), context.losses.end(),
                     [&](const NaiveLoss& loss) { return touched_by(loss, events); });
}

void add_absence(Context& context, const std::string& code, const std::string& id,
                 const Events& events) {
  add(context, code, id,
      touched_by_loss(context, events) ? std::optional(Value::kUndetermined) : std::nullopt);
}

// REQ-GR-074, REQ-GR-078, REQ-GR-079.
bool closes(const NaiveEvent& closing, const NaiveEvent* event, const std::string& run_of_call) {
  if (closing.kind != EventKind::kRunFinished) return false;
  const bool is_spy = closing.has(Field::kSource);
  if (is_spy || !closing.has(Field::kRunId)) return before(event, &closing);
  const std::string run = event->has(Field::kRunId) ? event->get(Field::kRunId) : run_of_call;
  return closing.get(Field::kRunId) == run;
}

bool record_is_closed(const Context& context, const Events& events) {
  const std::string run = first_recorded(events, Field::kRunId);
  return std::all_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    return std::any_of(context.trace.events.begin(), context.trace.events.end(),
                       [&](const NaiveEvent& closing) { return closes(closing, event, run); });
  });
}

void judge_open(Context& context, const std::string& id, const Events& events) {
  if (!closed_by(events, events) && !record_is_closed(context, events)) {
    add(context, "missing_run_finished", id);
  }
}

// ---- Completeness.

void judge_presence(Context& context, const std::string& id, const Events& events) {
  const Events requests = of_kind(events, EventKind::kToolRequest);
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  if (requests.empty()) add_absence(context, "missing_request", id, events);
  if (requests.size() > 1) add(context, "reused_invocation_id", id);
  if (decisions.empty()) add_absence(context, "missing_decision", id, events);
  for (const NaiveEvent* decision : decisions) {
    if (!decision->has(Field::kPolicyVersion)) add(context, "missing_policy_version", id);
  }
}

// ---- Order (REQ-GR-032).

// Once for each writer whose first `later` stands before its first `earlier`.
void judge_order(Context& context, const std::string& code, const std::string& id,
                 const Events& earlier, const Events& later) {
  for (std::size_t i = 0; i < later.size(); ++i) {
    if (i > 0 && later[i - 1]->writer == later[i]->writer) continue;
    for (const NaiveEvent* event : earlier) {
      if (event->writer != later[i]->writer) continue;
      if (before(later[i], event)) add(context, code, id);
      break;
    }
  }
}

// ---- Enforcement.

bool same_where_recorded(const NaiveEvent* left, const NaiveEvent* right,
                         std::initializer_list<Field> fields) {
  return std::all_of(fields.begin(), fields.end(), [&](Field field) {
    return !left->has(field) || !right->has(field) || left->get(field) == right->get(field);
  });
}

// The decision must be for one of the requests.
void judge_decided_call(Context& context, const std::string& id, const NaiveEvent* decision,
                        const Events& requests) {
  if (requests.empty()) return;
  const bool is_for_one =
      std::any_of(requests.begin(), requests.end(), [&](const NaiveEvent* request) {
        return same_where_recorded(request, decision, {Field::kTool, Field::kArgsDigest});
      });
  if (!is_for_one) add(context, "decision_for_other_call", id);
}

void judge_decisions(Context& context, const std::string& id, const Events& events) {
  const Events requests = of_kind(events, EventKind::kToolRequest);
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  if (decisions.size() > 1) add(context, "multiple_decisions", id);
  judge_order(context, "decision_before_request", id, requests, decisions);
  for (const NaiveEvent* decision : decisions) {
    judge_decided_call(context, id, decision, requests);
    if (!is_allow(decision) && !is_deny(decision)) add(context, "unknown_decision", id);
  }
}

bool reason_fits(const NaiveEvent* decision) {
  if (!decision->has(Field::kReason)) return true;
  const auto reason = access::parse_reason(decision->get(Field::kReason));
  if (!reason) return false;
  const bool says_allowed = reason == access::ReasonCode::kAllowed;
  return !(is_allow(decision) && !says_allowed) && !(is_deny(decision) && says_allowed);
}

// The reason is compared with the entry's only when the decision is as the entry expects.
bool reason_is_expected(const NaiveEvent* decision, const grading::Expectation& entry) {
  if (entry.decision && decision->get(Field::kDecision) != *entry.decision) return true;
  return !entry.reason || decision->get(Field::kReason) == *entry.reason;
}

// REQ-MF-013, REQ-GR-014, REQ-GR-016.
void judge_reasons(Context& context, const std::string& id, const Events& decisions) {
  const auto entry = context.entry_of.find(id);
  for (const NaiveEvent* decision : decisions) {
    const bool is_compared = entry != context.entry_of.end() && decision == decisions.back();
    const bool is_expected = !is_compared || reason_is_expected(decision, *entry->second);
    if (!reason_fits(decision) || !is_expected) add(context, "unexpected_reason", id);
    if (is_compared && entry->second->decision &&
        decision->get(Field::kDecision) != *entry->second->decision) {
      add(context, "unexpected_decision", id);
    }
  }
}

bool digests_differ(const std::string& left, const std::string& right) {
  return !left.empty() && !right.empty() && left != right;
}

// REQ-GR-050 to REQ-GR-053.
bool policy_in_force(const Context& context, const NaiveEvent* decision) {
  const std::string version = decision->get(Field::kPolicyVersion);
  const std::string digest = decision->get(Field::kPolicyDigest);
  const NaiveEvent* newest = nullptr;
  bool published_later = false;
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind != EventKind::kPolicyPublished || event.writer != decision->writer) continue;
    if (event.order < decision->order) {
      if (newest == nullptr || newest->order < event.order) newest = &event;
    } else if (event.get(Field::kPolicyVersion) == version) {
      published_later = true;
    }
  }
  if (newest != nullptr && newest->get(Field::kPolicyVersion) != version) return false;
  if (newest != nullptr && digests_differ(newest->get(Field::kPolicyDigest), digest)) return false;
  if (newest == nullptr && published_later) return false;
  if (!context.criteria.manifest || context.criteria.manifest->policies.empty()) return true;
  for (const grading::PinnedPolicy& pinned : context.criteria.manifest->policies) {
    if (pinned.version == version) return !digests_differ(pinned.digest.value_or(""), digest);
  }
  return false;
}

void judge_policies(Context& context, const std::string& id, const Events& decisions) {
  for (const NaiveEvent* decision : decisions) {
    if (!decision->has(Field::kPolicyVersion)) continue;
    if (!policy_in_force(context, decision)) add(context, "policy_version_mismatch", id);
  }
}

// ---- Execution.

bool applies(const NaiveEvent* decision, const NaiveEvent* start) {
  return same_where_recorded(
      decision, start,
      {Field::kTool, Field::kResourceType, Field::kResourceId, Field::kArgsDigest});
}

// A start may run under an allow, and under nothing else.
void judge_governing(Context& context, const std::string& id, const NaiveEvent* decision) {
  if (is_deny(decision)) return add(context, "start_after_deny", id);
  if (!is_allow(decision)) return add(context, "start_without_allow", id);
}

// REQ-GR-040, REQ-GR-045, and each code once by REQ-GR-014.
void judge_cited_start(Context& context, const std::string& id, const NaiveEvent* start,
                       const Events& decisions) {
  std::set<std::string> codes = {"start_cites_no_decision"};
  for (const NaiveEvent* decision : decisions) {
    if (decision->get(Field::kDecisionId) != start->get(Field::kDecisionId)) continue;
    codes.erase("start_cites_no_decision");
    if (!applies(decision, start)) {
      codes.insert("decision_not_applicable");
    } else if (is_deny(decision)) {
      codes.insert("start_after_deny");
    } else if (!is_allow(decision)) {
      codes.insert("start_without_allow");
    }
  }
  for (const std::string& code : codes) add(context, code, id);
}

// REQ-GR-031, REQ-GR-046: another writer decided, before or after the start.
void judge_unordered_start(Context& context, const std::string& id, const NaiveEvent* start,
                           const Events& elsewhere) {
  add(context, "order_unknown", id);
  Events applicable;
  for (const NaiveEvent* decision : elsewhere) {
    if (applies(decision, start)) applicable.push_back(decision);
  }
  if (applicable.empty()) return add(context, "decision_not_applicable", id);
  if (any_allow(applicable)) return;
  const bool denies = std::any_of(applicable.begin(), applicable.end(), is_deny);
  add(context, denies ? "start_after_deny" : "start_without_allow", id);
}

// REQ-GR-041, REQ-GR-042.
void judge_uncited_start(Context& context, const std::string& id, const NaiveEvent* start,
                         const Events& decisions) {
  Events earlier;
  Events elsewhere;
  const NaiveEvent* governing = nullptr;
  for (const NaiveEvent* decision : decisions) {
    if (decision->writer != start->writer) elsewhere.push_back(decision);
    if (!before(decision, start)) continue;
    earlier.push_back(decision);
    if (applies(decision, start)) governing = decision;
  }
  if (governing != nullptr) {
    judge_governing(context, id, governing);
    // REQ-GR-048.
    const bool has_rival =
        std::any_of(elsewhere.begin(), elsewhere.end(), [&](const NaiveEvent* decision) {
          return applies(decision, start) && !is_allow(decision);
        });
    if (is_allow(governing) && has_rival) add(context, "order_unknown", id);
    return;
  }
  if (!earlier.empty()) return add(context, "decision_not_applicable", id);
  if (!elsewhere.empty()) return judge_unordered_start(context, id, start, elsewhere);
  add(context, "start_without_allow", id);
}

// REQ-GR-032, REQ-GR-043, REQ-GR-045: once for a start, that stands before the decision that it
// cites, or first of its writer's before every decision of its writer.
void judge_early_start(Context& context, const std::string& id, const NaiveEvent* start,
                       const Events& starts, const Events& decisions) {
  bool is_early = false;
  Events own;
  for (const NaiveEvent* decision : decisions) {
    const bool is_cited = start->has(Field::kDecisionId) &&
                          start->get(Field::kDecisionId) == decision->get(Field::kDecisionId);
    if (is_cited && before(start, decision)) is_early = true;
    if (decision->writer == start->writer) own.push_back(decision);
  }
  const bool is_first = std::none_of(starts.begin(), starts.end(),
                                     [&](const NaiveEvent* other) { return before(other, start); });
  if (is_first && !own.empty() && before(start, own.front())) is_early = true;
  if (is_early) add(context, "start_before_decision", id);
}

// REQ-GR-044, REQ-GR-047.
bool is_unspent(const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  for (const NaiveEvent* unspent : of_kind(events, EventKind::kPermitUnspent)) {
    if (!unspent->has(Field::kDecisionId)) return true;
    for (const NaiveEvent* decision : decisions) {
      if (is_allow(decision) &&
          decision->get(Field::kDecisionId) == unspent->get(Field::kDecisionId)) {
        return true;
      }
    }
  }
  return false;
}

void judge_run_counts(Context& context, const std::string& id, const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  const Events starts = of_kind(events, EventKind::kExecutorStart);
  const Events finishes = of_kind(events, EventKind::kExecutorFinish);
  if (decisions.empty()) return;
  if (!any_allow(decisions)) {
    for (std::size_t i = 0; i < finishes.size(); ++i) add(context, "finish_after_deny", id);
    return;
  }
  const bool unspent = is_unspent(events);
  if (starts.empty() && !unspent) add_absence(context, "allow_without_start", id, events);
  if (finishes.empty() && (!unspent || !starts.empty())) {
    add_absence(context, "allow_without_finish", id, events);
  }
  if (starts.size() + (unspent ? 1 : 0) > 1) add(context, "multiple_starts", id);
  if (finishes.size() + (unspent ? 1 : 0) > 1) add(context, "multiple_finishes", id);
}

void judge_outcomes(Context& context, const std::string& id, const Events& finishes) {
  for (const NaiveEvent* finish : finishes) {
    const std::string outcome = finish->get(Field::kOutcome);
    if (outcome != "succeeded" && outcome != "failed" && outcome != "cancelled") {
      add(context, "unknown_outcome", id);
    }
  }
}

// REQ-GR-075, REQ-GR-078.
bool has_closed_spy(const Context& context, const Events& events) {
  const std::string run = first_recorded(events, Field::kRunId);
  return std::any_of(context.trace.events.begin(), context.trace.events.end(),
                     [&](const NaiveEvent& event) {
                       if (event.kind != EventKind::kRunFinished) return false;
                       if (!event.has(Field::kSource)) return false;
                       return !event.has(Field::kRunId) || event.get(Field::kRunId) == run;
                     });
}

// REQ-MF-015, REQ-MF-019.
void judge_effects(Context& context, const std::string& id, const Events& events) {
  const auto starts = static_cast<std::int64_t>(of_kind(events, EventKind::kExecutorStart).size());
  const Events observed = of_kind(events, EventKind::kEffectObserved);
  std::int64_t effects = 0;
  for (const NaiveEvent* event : observed) {
    effects += event->has(Field::kEffects) ? event->integers.at(Field::kEffects) : 1;
  }
  if (effects > 0 && starts == 0) add(context, "effect_without_start", id);
  const auto entry = context.entry_of.find(id);
  if (entry == context.entry_of.end() || !entry->second->effects) return;
  const bool is_known = !observed.empty() || has_closed_spy(context, events);
  if (!is_known && context.criteria.manifest->effects_required) {
    return add(context, "missing_effects", id);
  }
  if ((is_known ? effects : starts) != *entry->second->effects) {
    add(context, "effect_count_mismatch", id);
  }
}

void judge_execution(Context& context, const std::string& id, const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  const Events starts = of_kind(events, EventKind::kExecutorStart);
  const Events finishes = of_kind(events, EventKind::kExecutorFinish);
  for (const NaiveEvent* start : starts) {
    judge_early_start(context, id, start, starts, decisions);
    if (start->has(Field::kDecisionId)) {
      judge_cited_start(context, id, start, decisions);
    } else {
      judge_uncited_start(context, id, start, decisions);
    }
  }
  judge_order(context, "finish_before_start", id, starts, finishes);
  judge_run_counts(context, id, events);
  judge_outcomes(context, id, finishes);
  judge_effects(context, id, events);
}

}  // namespace

void judge_repeats(Context& context) {
  for (const NaiveRepeat& repeat : context.trace.repeats) {
    const bool is_seen = context.calls.contains(repeat.invocation);
    add(context, repeat.is_verified ? "conflicting_repeat" : "unverified_repeat",
        is_seen ? repeat.invocation : "");
  }
}

void judge_logs(Context& context) {
  judge_gaps(context);
  judge_said_losses(context);
}

void judge_invocation(Context& context, const std::string& id, const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  judge_presence(context, id, events);
  judge_decisions(context, id, events);
  judge_reasons(context, id, decisions);
  judge_policies(context, id, decisions);
  judge_execution(context, id, events);
  judge_open(context, id, events);
}

}  // namespace remit::twin
