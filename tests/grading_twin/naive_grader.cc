// One plain function for each rule of spec/grades.md.
#include "naive_grader.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "access/reason.h"
#include "naive_trace.h"

namespace remit::twin {
namespace {

using grading::Criteria;
using grading::Owner;
using grading::Value;
using grading::Verdict;

using Events = std::vector<const NaiveEvent*>;

/// A finding before its owner's consequence is known.
struct NaiveFinding {
  std::string code;
  std::string invocation;  // empty: none
  std::string case_id;     // empty: none
  Verdict verdict = Verdict::kCompleteness;
  Owner owner = Owner::kObservability;
  Value value = Value::kFailed;
};

/// Everything that rules look at.
struct Context {
  const NaiveTrace& trace;
  const Criteria& criteria;
  std::vector<Loss> losses;
  std::vector<NaiveFinding> findings;
  std::map<std::string, std::string> case_of;                   // invocation -> case
  std::map<std::string, const grading::Expectation*> entry_of;  // invocation -> entry
};

constexpr Value worst_of(Value left, Value right) {
  constexpr Value kOrder[] = {Value::kFailed, Value::kUndetermined, Value::kNotExercised,
                              Value::kPassed};
  for (const Value value : kOrder) {
    if (left == value || right == value) return value;
  }
  return Value::kPassed;
}

// ---- What an invocation consists of.

Events of_invocation(const Context& context, const std::string& id) {
  Events out;
  for (const NaiveEvent& event : context.trace.events) {
    if (event.get(Field::kInvocationId) == id && event::is_call_event(event.kind)) {
      out.push_back(&event);
    }
  }
  // Within a writer by order; between writers nothing is known, and input order breaks the tie.
  std::stable_sort(out.begin(), out.end(), [](const NaiveEvent* left, const NaiveEvent* right) {
    return left->writer == right->writer && left->order < right->order;
  });
  return out;
}

Events of_kind(const Events& events, EventKind kind) {
  Events out;
  for (const NaiveEvent* event : events) {
    if (event->kind == kind) out.push_back(event);
  }
  // The first and last of a kind are by the writer's order.
  std::stable_sort(out.begin(), out.end(), [](const NaiveEvent* left, const NaiveEvent* right) {
    return left->writer == right->writer && left->order < right->order;
  });
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

std::vector<std::string> invocation_ids(const NaiveTrace& trace) {
  std::vector<std::string> out;
  for (const NaiveEvent& event : trace.events) {
    if (!event::is_call_event(event.kind)) continue;
    const std::string id = event.get(Field::kInvocationId);
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  }
  return out;
}

// REQ-GR-073: closed is a denial that no allow contradicts, a finish, or a permit that was never
// spent.
bool closed_by(const Events& events) {
  for (const NaiveEvent* event : events) {
    if (event->kind == EventKind::kExecutorFinish || event->kind == EventKind::kPermitUnspent) {
      return true;
    }
  }
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  return !any_allow(decisions) && std::any_of(decisions.begin(), decisions.end(), is_deny);
}

// The manifest's case, else what the invocation's events say.
std::string told_case(const Context& context, const std::string& id) {
  const auto found = context.case_of.find(id);
  if (found != context.case_of.end()) return found->second;
  for (const NaiveEvent* event : of_invocation(context, id)) {
    if (event->has(Field::kCaseId)) return event->get(Field::kCaseId);
  }
  return {};
}

void add(Context& context, const std::string& code, const std::string& invocation,
         std::optional<Value> value = std::nullopt) {
  const auto parsed = grading::parse_code(code);
  const grading::CodeInfo& info = grading::code_info(*parsed);
  NaiveFinding finding;
  finding.code = code;
  finding.invocation = invocation;
  finding.verdict = info.verdict;
  finding.owner = info.owner;
  finding.value = value.value_or(info.soft ? Value::kUndetermined : Value::kFailed);
  if (!invocation.empty()) finding.case_id = told_case(context, invocation);
  context.findings.push_back(std::move(finding));
}

// ---- Loss (REQ-GR-070 to REQ-GR-075).

std::set<std::string> writers_of(const NaiveTrace& trace) {
  std::set<std::string> out;
  for (const NaiveEvent& event : trace.events) out.insert(event.writer);
  return out;
}

void judge_gaps(Context& context) {
  for (const std::string& writer : writers_of(context.trace)) {
    std::set<std::int64_t> numbers;
    for (const NaiveEvent& event : context.trace.events) {
      if (event.writer == writer && event.has(Field::kSeq)) numbers.insert(event.order);
    }
    std::int64_t expected = 1;
    for (const std::int64_t number : numbers) {
      if (number > expected) {
        context.losses.push_back({writer, number});
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
    if (event.writer != closing.writer || event.order >= closing.order) continue;
    ++events;
    if (event::is_call_event(event.kind)) invocations.insert(event.get(Field::kInvocationId));
  }
  const bool fewer_events =
      closing.has(Field::kEvents) && events < closing.integers.at(Field::kEvents);
  const bool fewer_invocations =
      closing.has(Field::kInvocations) &&
      static_cast<std::int64_t>(invocations.size()) < closing.integers.at(Field::kInvocations);
  if (!fewer_events && !fewer_invocations) return;
  context.losses.push_back({closing.writer, closing.order});
  add(context, "evidence_lost", "");
}

void judge_said_losses(Context& context) {
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind == EventKind::kEvidenceLost) {
      context.losses.push_back({event.writer, event.order});
      add(context, "evidence_lost", "");
    }
    if (event.kind == EventKind::kRunFinished) judge_closing_counts(context, event);
  }
}

// REQ-GR-071.
bool touched_by_loss(const Context& context, const Events& events) {
  for (const Loss& loss : context.losses) {
    Events earlier;
    const NaiveEvent* first = nullptr;
    for (const NaiveEvent* event : events) {
      if (event->writer != loss.writer) continue;
      if (event->order < loss.order) earlier.push_back(event);
      if (first == nullptr || event->order < first->order) first = event;
    }
    if (first == nullptr) continue;
    if (!earlier.empty() && !closed_by(earlier)) return true;
    if (earlier.empty() && first->kind != EventKind::kToolRequest) return true;
  }
  return false;
}

void add_absence(Context& context, const std::string& code, const std::string& id,
                 const Events& events) {
  add(context, code, id,
      touched_by_loss(context, events) ? std::optional(Value::kUndetermined) : std::nullopt);
}

// REQ-GR-074: a run.finished closes its run, or without a run its writer's events so far. A spy's
// closes the spy's own record only.
bool record_is_closed(const Context& context, const Events& events) {
  return std::all_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    return std::any_of(context.trace.events.begin(), context.trace.events.end(),
                       [&](const NaiveEvent& closing) {
                         if (closing.kind != EventKind::kRunFinished) return false;
                         if (closing.has(Field::kRunId)) {
                           return !closing.has(Field::kSource) &&
                                  closing.get(Field::kRunId) == event->get(Field::kRunId);
                         }
                         return closing.writer == event->writer && event->order < closing.order;
                       });
  });
}

void judge_open(Context& context, const std::string& id, const Events& events) {
  if (!closed_by(events) && !record_is_closed(context, events)) {
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
    if (decision->get(Field::kPolicyVersion).empty()) add(context, "missing_policy_version", id);
  }
}

// ---- Enforcement.

void judge_decisions(Context& context, const std::string& id, const Events& events) {
  const Events requests = of_kind(events, EventKind::kToolRequest);
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  if (decisions.size() > 1) add(context, "multiple_decisions", id);
  if (!requests.empty() && !decisions.empty() && before(decisions.front(), requests.front())) {
    add(context, "decision_before_request", id);
  }
  for (const NaiveEvent* decision : decisions) {
    if (!is_allow(decision) && !is_deny(decision)) add(context, "unknown_decision", id);
    if (requests.empty()) continue;
    for (const Field field : {Field::kTool, Field::kArgsDigest}) {
      if (decision->has(field) && requests.front()->has(field) &&
          decision->get(field) != requests.front()->get(field)) {
        add(context, "decision_for_other_call", id);
      }
    }
  }
}

void judge_reason(Context& context, const std::string& id, const NaiveEvent* decision) {
  if (!decision->has(Field::kReason)) return;
  const auto reason = access::parse_reason(decision->get(Field::kReason));
  const bool says_allowed = reason == access::ReasonCode::kAllowed;
  if (!reason || (is_allow(decision) && !says_allowed) || (is_deny(decision) && says_allowed)) {
    add(context, "unexpected_reason", id);
  }
}

// REQ-GR-050 to REQ-GR-052.
bool policy_in_force(const Context& context, const NaiveEvent* decision) {
  const std::string version = decision->get(Field::kPolicyVersion);
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
  if (newest == nullptr && published_later) return false;
  if (!context.criteria.manifest || context.criteria.manifest->policies.empty()) return true;
  for (const grading::PinnedPolicy& pinned : context.criteria.manifest->policies) {
    if (pinned.version != version) continue;
    return !pinned.digest || !decision->has(Field::kPolicyDigest) ||
           *pinned.digest == decision->get(Field::kPolicyDigest);
  }
  return false;
}

void judge_policies(Context& context, const std::string& id, const Events& events) {
  for (const NaiveEvent* decision : of_kind(events, EventKind::kAuthorizationDecision)) {
    judge_reason(context, id, decision);
    if (decision->get(Field::kPolicyVersion).empty()) continue;
    if (!policy_in_force(context, decision)) add(context, "policy_version_mismatch", id);
  }
}

// ---- Execution.

bool applies(const NaiveEvent* decision, const NaiveEvent* start) {
  for (const Field field : {Field::kTool, Field::kResourceId, Field::kArgsDigest}) {
    if (decision->has(field) && start->has(field) && decision->get(field) != start->get(field)) {
      return false;
    }
  }
  return true;
}

// REQ-GR-040 to REQ-GR-043.
void judge_start(Context& context, const std::string& id, const NaiveEvent* start,
                 const Events& decisions) {
  const NaiveEvent* governing = nullptr;
  if (start->has(Field::kDecisionId)) {
    for (const NaiveEvent* decision : decisions) {
      if (decision->has(Field::kDecisionId) &&
          decision->get(Field::kDecisionId) == start->get(Field::kDecisionId)) {
        governing = decision;
      }
    }
    if (governing == nullptr) return add(context, "start_cites_no_decision", id);
    if (!applies(governing, start)) return add(context, "decision_not_applicable", id);
  } else {
    Events earlier;
    bool elsewhere = false;
    for (const NaiveEvent* decision : decisions) {
      if (decision->writer != start->writer) elsewhere = true;
      if (before(decision, start)) earlier.push_back(decision);
    }
    if (earlier.empty()) {
      return add(context, elsewhere ? "order_unknown" : "start_without_allow", id);
    }
    for (const NaiveEvent* decision : earlier) {
      if (applies(decision, start)) governing = decision;
    }
    if (governing == nullptr) return add(context, "decision_not_applicable", id);
  }
  if (is_deny(governing)) return add(context, "start_after_deny", id);
  if (!is_allow(governing)) return add(context, "start_without_allow", id);
}

void judge_run_order(Context& context, const std::string& id, const Events& decisions,
                     const Events& starts, const Events& finishes) {
  if (!decisions.empty() && !starts.empty() && before(starts.front(), decisions.front())) {
    add(context, "start_before_decision", id);
  }
  if (!finishes.empty() && !starts.empty() && before(finishes.front(), starts.front())) {
    add(context, "finish_before_start", id);
  }
}

void judge_run_counts(Context& context, const std::string& id, const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  const Events starts = of_kind(events, EventKind::kExecutorStart);
  const Events finishes = of_kind(events, EventKind::kExecutorFinish);
  const bool unspent = !of_kind(events, EventKind::kPermitUnspent).empty();
  if (!decisions.empty() && !any_allow(decisions) && !finishes.empty()) {
    add(context, "finish_after_deny", id);
  }
  if (any_allow(decisions)) {
    if (starts.empty() && !unspent) add_absence(context, "allow_without_start", id, events);
    if (finishes.empty() && !unspent) add_absence(context, "allow_without_finish", id, events);
    if (starts.size() + (unspent ? 1 : 0) > 1) add(context, "multiple_starts", id);
    if (finishes.size() > 1) add(context, "multiple_finishes", id);
  }
  for (const NaiveEvent* finish : finishes) {
    const std::string outcome = finish->get(Field::kOutcome);
    if (outcome != "succeeded" && outcome != "failed" && outcome != "cancelled") {
      add(context, "unknown_outcome", id);
    }
  }
}

std::int64_t effects_of(const Events& events, bool& any) {
  std::int64_t sum = 0;
  for (const NaiveEvent* event : of_kind(events, EventKind::kEffectObserved)) {
    any = true;
    sum += event->has(Field::kEffects) ? event->integers.at(Field::kEffects) : 0;
  }
  return sum;
}

bool has_closed_spy(const Context& context) {
  return std::any_of(context.trace.events.begin(), context.trace.events.end(),
                     [](const NaiveEvent& event) {
                       return event.kind == EventKind::kRunFinished && event.has(Field::kSource);
                     });
}

void judge_effects(Context& context, const std::string& id, const Events& events) {
  const Events starts = of_kind(events, EventKind::kExecutorStart);
  bool observed = false;
  const std::int64_t effects = effects_of(events, observed);
  if (effects > 0 && starts.empty()) add(context, "effect_without_start", id);
  const auto entry = context.entry_of.find(id);
  if (entry == context.entry_of.end() || !entry->second->effects) return;
  const std::int64_t expected = *entry->second->effects;
  if (observed || has_closed_spy(context)) {
    if (effects != expected) add(context, "effect_count_mismatch", id);
    return;
  }
  if (context.criteria.manifest->effects_required) return add(context, "missing_effects", id);
  if (static_cast<std::int64_t>(starts.size()) != expected) {
    add(context, "effect_count_mismatch", id);
  }
}

void judge_execution(Context& context, const std::string& id, const Events& events) {
  const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
  const Events starts = of_kind(events, EventKind::kExecutorStart);
  for (const NaiveEvent* start : starts) judge_start(context, id, start, decisions);
  judge_run_order(context, id, decisions, starts, of_kind(events, EventKind::kExecutorFinish));
  judge_run_counts(context, id, events);
  judge_effects(context, id, events);
}

// ---- Cases (spec/manifest.md).

bool names_invocation(const grading::Case& each, const std::string& id) {
  return std::any_of(each.expect.begin(), each.expect.end(),
                     [&](const grading::Expectation& entry) { return entry.invocation_id == id; });
}

// REQ-MF-011.
bool belongs(const grading::Case& each, const std::string& id, const Events& events) {
  if (names_invocation(each, id)) return true;
  return std::any_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    if (event->get(Field::kCaseId) == each.id) return true;
    return each.run_id && event->get(Field::kRunId) == *each.run_id && !event->has(Field::kCaseId);
  });
}

const NaiveEvent* request_of(const Context& context, const std::string& id) {
  const Events requests = of_kind(of_invocation(context, id), EventKind::kToolRequest);
  return requests.empty() ? nullptr : requests.front();
}

bool request_fits(const NaiveEvent* request, const grading::Expectation& entry) {
  if (request == nullptr || request->get(Field::kTool) != entry.tool) return false;
  return !entry.route || request->get(Field::kRoute) == *entry.route;
}

void add_case_finding(Context& context, const std::string& code, const std::string& invocation,
                      const std::string& case_id) {
  add(context, code, invocation);
  context.findings.back().case_id = case_id;
}

struct CaseResult {
  const grading::Case* definition = nullptr;
  std::vector<std::string> invocations;
  bool request_absent = false;
};

// REQ-MF-012: an entry takes its own invocation, or the next of the case that fits. Of an
// invocation that it names, a request that is missing is no other request.
bool takes(const Context& context, const grading::Case& each, const grading::Expectation& entry,
           const std::string& id) {
  const NaiveEvent* request = request_of(context, id);
  if (entry.invocation_id) {
    return *entry.invocation_id == id && (request == nullptr || request_fits(request, entry));
  }
  return !names_invocation(each, id) && request_fits(request, entry);
}

void match_entries(Context& context, CaseResult& result) {
  std::set<std::string> taken;
  for (const grading::Expectation& entry : result.definition->expect) {
    const auto match = std::find_if(
        result.invocations.begin(), result.invocations.end(), [&](const std::string& id) {
          return !taken.contains(id) && takes(context, *result.definition, entry, id);
        });
    if (match == result.invocations.end()) {
      result.request_absent = true;
      add_case_finding(context, "expected_request_absent", entry.invocation_id.value_or(""),
                       result.definition->id);
      continue;
    }
    taken.insert(*match);
    context.entry_of[*match] = &entry;
  }
}

void judge_requests(Context& context, CaseResult& result) {
  const grading::Case& each = *result.definition;
  const auto lists = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::set<std::string> requested;
  for (const std::string& id : result.invocations) {
    const NaiveEvent* request = request_of(context, id);
    if (request == nullptr) continue;
    const std::string tool = request->get(Field::kTool);
    requested.insert(tool);
    if (lists(each.forbidden_requests, tool) ||
        (each.allowed_requests && !lists(*each.allowed_requests, tool))) {
      add_case_finding(context, "forbidden_request", id, each.id);
    }
  }
  for (const std::string& tool : each.required_requests) {
    if (requested.contains(tool)) continue;
    result.request_absent = true;
    add_case_finding(context, "expected_request_absent", "", each.id);
  }
}

void judge_entry(Context& context, const std::string& id, const grading::Expectation& entry) {
  const Events decisions = of_kind(of_invocation(context, id), EventKind::kAuthorizationDecision);
  if (decisions.empty() || !entry.decision) return;
  const NaiveEvent* last = decisions.back();
  if (!is_allow(last) && !is_deny(last)) return;
  if (last->get(Field::kDecision) != *entry.decision)
    return add(context, "unexpected_decision", id);
  if (entry.reason && last->get(Field::kReason) != *entry.reason) {
    add(context, "unexpected_reason", id);
  }
}

std::vector<CaseResult> judge_cases(Context& context, const std::vector<std::string>& ids) {
  std::vector<CaseResult> out;
  if (!context.criteria.manifest) return out;
  for (const grading::Case& each : context.criteria.manifest->cases) {
    CaseResult& result = out.emplace_back();
    result.definition = &each;
    for (const std::string& id : ids) {
      if (context.case_of.contains(id) || !belongs(each, id, of_invocation(context, id))) continue;
      context.case_of[id] = each.id;
      result.invocations.push_back(id);
    }
    if (result.invocations.empty() && !each.is_security && each.expect.empty() &&
        each.required_requests.empty()) {
      add_case_finding(context, "vacuous_case", "", each.id);
      context.findings.back().value = Value::kNotExercised;
      continue;
    }
    match_entries(context, result);
    judge_requests(context, result);
    for (const std::string& id : result.invocations) {
      const auto entry = context.entry_of.find(id);
      if (entry != context.entry_of.end()) judge_entry(context, id, *entry->second);
    }
  }
  return out;
}

void judge_expected_ids(Context& context, const std::vector<std::string>& ids) {
  if (!context.criteria.expected_ids) return;
  const std::vector<std::string>& expected = *context.criteria.expected_ids;
  for (const std::string& id : expected) {
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    add(context, "missing_invocation", id,
        context.losses.empty() ? std::nullopt : std::optional(Value::kUndetermined));
    if (!context.criteria.manifest) add(context, "expected_request_absent", id);
  }
  if (context.criteria.manifest) return;
  for (const std::string& id : ids) {
    if (std::find(expected.begin(), expected.end(), id) == expected.end()) {
      add(context, "unexpected_invocation", id);
    }
  }
}

// ---- Verdicts.

Value value_from_findings(const Context& context, Verdict verdict,
                          const std::function<bool(const NaiveFinding&)>& counts, Value otherwise) {
  Value out = otherwise;
  for (const NaiveFinding& finding : context.findings) {
    if (finding.verdict == verdict && counts(finding)) out = worst_of(out, finding.value);
  }
  return out;
}

Value invocation_value(const Context& context, const std::string& id, Verdict verdict) {
  const Events events = of_invocation(context, id);
  const auto has = [&](std::string_view code) {
    return std::any_of(context.findings.begin(), context.findings.end(),
                       [&](const NaiveFinding& finding) {
                         return finding.invocation == id && finding.code == code;
                       });
  };
  Value base = Value::kPassed;
  if (verdict == Verdict::kPlanning) {
    const bool judged = context.case_of.contains(id) ||
                        (context.criteria.expected_ids && !context.criteria.manifest);
    if (!judged) return Value::kNotExercised;
    if (has("missing_request")) base = Value::kUndetermined;
  }
  if (verdict == Verdict::kEnforcement &&
      (has("missing_decision") || has("missing_policy_version"))) {
    base = Value::kUndetermined;
  }
  if (verdict == Verdict::kExecution && has("missing_decision")) base = Value::kUndetermined;
  return value_from_findings(
      context, verdict, [&](const NaiveFinding& finding) { return finding.invocation == id; },
      base);
}

std::string value_text(std::string_view scope, Verdict verdict, Value value) {
  return fmt::format("{} {} {}", scope, grading::verdict_name(verdict), grading::value_name(value));
}

// The worst over a population; an empty one is not exercised, one invocation's not_exercised does
// not carry.
Value worst_over(const std::vector<Value>& values) {
  Value out = Value::kNotExercised;
  bool any = false;
  for (const Value value : values) {
    if (value == Value::kNotExercised) continue;
    out = any ? worst_of(out, value) : value;
    any = true;
  }
  return out;
}

Value case_value(const Context& context, const CaseResult& result, Verdict verdict) {
  std::vector<Value> values;
  for (const std::string& id : result.invocations) {
    values.push_back(invocation_value(context, id, verdict));
  }
  Value out = worst_over(values);
  const bool absent_security = result.definition->is_security && result.request_absent;
  if (verdict != Verdict::kPlanning && absent_security) {
    out = worst_of(out, Value::kNotExercised);
  }
  if (verdict == Verdict::kPlanning && result.request_absent) out = Value::kFailed;
  for (const NaiveFinding& finding : context.findings) {
    const bool of_the_case = finding.case_id == result.definition->id;
    const bool of_no_seen_invocation =
        std::find(result.invocations.begin(), result.invocations.end(), finding.invocation) ==
        result.invocations.end();
    if (of_the_case && of_no_seen_invocation && finding.verdict == verdict) {
      out = worst_of(out, finding.value);
    }
  }
  return out;
}

Value run_value(const Context& context, const std::vector<std::string>& ids,
                const std::vector<CaseResult>& cases, Verdict verdict) {
  std::vector<Value> values;
  for (const std::string& id : ids) {
    if (!context.case_of.contains(id)) values.push_back(invocation_value(context, id, verdict));
  }
  Value out = worst_over(values);
  bool exercised = out != Value::kNotExercised;
  for (const CaseResult& result : cases) {
    const Value value = case_value(context, result, verdict);
    out = exercised ? worst_of(out, value) : value;
    exercised = true;
  }
  for (const NaiveFinding& finding : context.findings) {
    if (finding.verdict != verdict || !finding.case_id.empty()) continue;
    const bool of_a_seen_invocation =
        std::find(ids.begin(), ids.end(), finding.invocation) != ids.end();
    if (of_a_seen_invocation) continue;
    out = exercised ? worst_of(out, finding.value) : worst_of(Value::kNotExercised, finding.value);
  }
  return out;
}

std::string population_text(const NaiveTrace& trace, const Context& context,
                            const std::vector<std::string>& ids) {
  std::size_t allowed = 0;
  std::size_t denied = 0;
  std::size_t started = 0;
  std::size_t finished = 0;
  for (const std::string& id : ids) {
    const Events events = of_invocation(context, id);
    const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
    const bool denies = std::any_of(decisions.begin(), decisions.end(), is_deny);
    allowed += any_allow(decisions) ? 1 : 0;
    denied += !any_allow(decisions) && denies ? 1 : 0;
    started += of_kind(events, EventKind::kExecutorStart).empty() ? 0 : 1;
    finished += of_kind(events, EventKind::kExecutorFinish).empty() ? 0 : 1;
  }
  return fmt::format(
      "events {} invocations {} allowed {} denied {} started {} finished {} repeats {}",
      trace.events.size() - trace.extensions, ids.size(), allowed, denied, started, finished,
      trace.repeats);
}

std::string finding_text(std::string_view code, std::string_view invocation,
                         std::string_view case_id, Verdict verdict, Owner owner, Value value,
                         bool consequence) {
  return fmt::format("{} invocation={} case={} {} {} {}{}", code, invocation, case_id,
                     grading::verdict_name(verdict), grading::owner_name(owner),
                     grading::value_name(value), consequence ? " consequence" : "");
}

// REQ-GR-012.
bool is_consequence(const Context& context, const NaiveFinding& finding) {
  if (finding.invocation.empty()) return false;
  return std::any_of(context.findings.begin(), context.findings.end(),
                     [&](const NaiveFinding& other) {
                       return other.invocation == finding.invocation && other.owner < finding.owner;
                     });
}

}  // namespace

Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const Criteria& criteria) {
  const NaiveTrace trace = read_trace(inputs);
  Context context{trace, criteria, {}, {}, {}, {}};
  const std::vector<std::string> ids = invocation_ids(trace);
  for (std::size_t i = 0; i < trace.malformed; ++i) add(context, "malformed_event", "");
  judge_gaps(context);
  judge_said_losses(context);
  const std::vector<CaseResult> cases = judge_cases(context, ids);
  for (const std::string& id : trace.conflicting_invocations)
    add(context, "conflicting_repeat", id);
  for (const std::string& id : ids) {
    const Events events = of_invocation(context, id);
    judge_presence(context, id, events);
    judge_decisions(context, id, events);
    judge_policies(context, id, events);
    judge_execution(context, id, events);
    judge_open(context, id, events);
  }
  judge_expected_ids(context, ids);

  Judgement out;
  for (const NaiveFinding& finding : context.findings) {
    out.findings.insert(finding_text(finding.code, finding.invocation, finding.case_id,
                                     finding.verdict, finding.owner, finding.value,
                                     is_consequence(context, finding)));
  }
  for (const Verdict verdict : grading::kVerdicts) {
    out.values.insert(value_text("run", verdict, run_value(context, ids, cases, verdict)));
    for (const CaseResult& result : cases) {
      out.values.insert(value_text("case " + result.definition->id, verdict,
                                   case_value(context, result, verdict)));
    }
    for (const std::string& id : ids) {
      out.values.insert(
          value_text("invocation " + id, verdict, invocation_value(context, id, verdict)));
    }
  }
  out.population = population_text(trace, context, ids);
  return out;
}

Judgement reduced(const grading::Grade& grade) {
  Judgement out;
  for (const grading::Finding& finding : grade.findings) {
    out.findings.insert(finding_text(grading::code_info(finding.code).name,
                                     finding.invocation_id.value_or(""),
                                     finding.case_id.value_or(""), finding.verdict, finding.owner,
                                     finding.value, finding.consequence));
  }
  for (const Verdict verdict : grading::kVerdicts) {
    out.values.insert(value_text("run", verdict, grade.verdicts[verdict].value));
    for (const grading::CaseGrade& each : grade.cases) {
      out.values.insert(value_text("case " + each.case_id, verdict, each.verdicts[verdict].value));
    }
    for (const grading::InvocationGrade& each : grade.invocations) {
      out.values.insert(
          value_text("invocation " + each.invocation_id, verdict, each.verdicts[verdict]));
    }
  }
  const grading::Population& p = grade.population;
  out.population =
      fmt::format("events {} invocations {} allowed {} denied {} started {} finished {} repeats {}",
                  p.events, p.invocations, p.allowed, p.denied, p.started, p.finished, p.repeats);
  return out;
}

std::string difference(const Judgement& naive, const Judgement& streaming) {
  std::string out;
  const auto only = [&](std::string_view whose, const std::set<std::string>& left,
                        const std::set<std::string>& right) {
    for (const std::string& text : left) {
      if (!right.contains(text)) out += fmt::format("only {}: {}\n", whose, text);
    }
  };
  only("naive", naive.findings, streaming.findings);
  only("streaming", streaming.findings, naive.findings);
  only("naive", naive.values, streaming.values);
  only("streaming", streaming.values, naive.values);
  if (naive.population != streaming.population) {
    out += fmt::format("naive: {}\nstreaming: {}\n", naive.population, streaming.population);
  }
  return out;
}

}  // namespace remit::twin
