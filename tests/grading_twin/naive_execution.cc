// One plain function for each rule of spec/grades.md and spec/contract.md on starts, finishes and
// effects.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "json/value.h"
#include "naive_context.h"

namespace remit::twin {
namespace {

// ---- Which decision governs a start.

const std::vector<Field>& call_fields() {
  static const std::vector<Field> kFields = {Field::kTool,           Field::kAction,
                                             Field::kResourceType,   Field::kResourceId,
                                             Field::kResourceTenant, Field::kArgsDigest};
  return kFields;
}

bool is_for_attempt(const NaiveCall& call, const NaiveEvent* decision, const NaiveEvent* start) {
  return !call.required.decision_per_attempt || decision->attempt() == start->attempt();
}

// REQ-GR-041.
bool is_for_call(const NaiveEvent* decision, const NaiveEvent* start) {
  if (!start->further_resources.empty() &&
      start->further_resources != decision->further_resources) {
    return false;
  }
  return same_where_recorded(decision, start, call_fields());
}

// REQ-GR-041, REQ-GR-049.
bool applies(const NaiveCall& call, const NaiveEvent* decision, const NaiveEvent* start) {
  return is_for_attempt(call, decision, start) && is_for_call(decision, start);
}

// ---- What is said of it.

/// Fields in which two events differ, and the two texts of the first.
struct NaiveDifferences {
  std::vector<std::string> names;
  std::string expected, recorded;

  void add(const std::string& name, const std::string& expected_text,
           const std::string& recorded_text) {
    if (names.empty()) {
      expected = expected_text;
      recorded = recorded_text;
    }
    names.push_back(name);
  }
};

NaiveDifferences differences_in(const NaiveEvent* expected, const NaiveEvent* recorded,
                                const std::vector<Field>& fields) {
  NaiveDifferences out;
  for (const Field field : fields) {
    if (same_where_recorded(expected, recorded, {field})) continue;
    out.add(std::string(event::field_name(field)), expected->get(field), recorded->get(field));
  }
  return out;
}

std::string set_text(const std::set<std::string>& texts) {
  if (texts.empty()) return "";
  std::string out;
  for (const std::string& text : texts) {
    out += out.empty() ? "[" : ",";
    json::write_string(text, out);
  }
  return out + "]";
}

// REQ-GR-093: a loss of the start's writer before the start, and behind the request if its record
// of the call begins with that.
bool lost_before(const Context& context, const NaiveCall& call, const NaiveEvent* start) {
  const NaiveEvent* first = nullptr;
  for (const NaiveEvent* event : call.events) {
    if (event->writer != start->writer) continue;
    if (first == nullptr || event->order < first->order) first = event;
  }
  return std::any_of(context.losses.begin(), context.losses.end(), [&](const NaiveLoss& loss) {
    if (loss.writer != start->writer || loss.before > start->order) return false;
    return first->kind != EventKind::kToolRequest || first->order < loss.before;
  });
}

// REQ-GR-061: a start is right under an allow and under a shadow decision.
bool permits(const NaiveCall& call, const NaiveEvent* decision) {
  return is_allow(decision) || is_shadow(call, decision);
}

/// What is wrong with one start, each code once (REQ-GR-014).
class StartFaults {
 public:
  StartFaults(Context& context, const NaiveCall& call, const NaiveEvent* start)
      : context_(context), call_(call), start_(start) {}

  void after_deny(const NaiveEvent* cause) {
    const bool is_by_queue = cause->kind == EventKind::kQueueDenied;
    find("start_after_deny", saying(is_by_queue ? "the queue denied it" : "",
                                    {"no start", "a start", {cause, start_}}));
  }
  void without_allow(const NaiveEvent* decision) {
    Events events = {start_};
    if (decision != nullptr) events.insert(events.begin(), decision);
    const bool is_near_loss = decision == nullptr && lost_before(context_, call_, start_);
    find("start_without_allow",
         saying(is_near_loss ? "events of its writer were lost before it, an allow may be among "
                               "them; a start without one on record fails all the same"
                             : "",
                {"allow", "no allow", events}));
  }
  void not_applicable(const NaiveEvent* decision) {
    NaiveDifferences other = differences_in(decision, start_, call_fields());
    if (!start_->further_resources.empty() &&
        start_->further_resources != decision->further_resources) {
      other.add("further_resources", set_text(decision->further_resources),
                set_text(start_->further_resources));
    }
    if (!is_for_attempt(call_, decision, start_)) {
      other.add("attempt", std::to_string(decision->attempt()), std::to_string(start_->attempt()));
    }
    find("decision_not_applicable", saying(fmt::format("{}", fmt::join(other.names, ", ")),
                                           {other.expected, other.recorded, {decision, start_}}));
  }
  void of_unknown_order(const NaiveEvent* decision) {
    find("order_unknown", {"decision_id", "no decision_id", {decision, start_}});
  }
  void citing_nothing() {
    find("start_cites_no_decision", {"", start_->get(Field::kDecisionId), {start_}});
  }
  void before_decision(const NaiveEvent* decision) {
    find("start_before_decision", {"decision, start", "start, decision", {start_, decision}});
  }
  /// Under a decision that applies.
  void under(const NaiveEvent* decision) {
    if (permits(call_, decision)) return;
    if (is_deny(decision)) return after_deny(decision);
    without_allow(decision);
  }

 private:
  void find(const std::string& code, What what) {
    if (found_.insert(code).second) add(context_, code, call_.id, std::move(what));
  }

  Context& context_;
  const NaiveCall& call_;
  const NaiveEvent* start_;
  std::set<std::string> found_;
};

// REQ-GR-040, REQ-GR-045.
void judge_cited_start(const NaiveCall& call, const NaiveEvent* start, StartFaults& faults) {
  bool is_cited = false;
  for (const NaiveEvent* decision : call.of(EventKind::kAuthorizationDecision)) {
    if (decision->get(Field::kDecisionId) != start->get(Field::kDecisionId)) continue;
    is_cited = true;
    if (applies(call, decision, start)) {
      faults.under(decision);
    } else {
      faults.not_applicable(decision);
    }
  }
  if (!is_cited) faults.citing_nothing();
}

// REQ-GR-031, REQ-GR-046: another writer decided, before or after the start.
void judge_unordered_start(const NaiveCall& call, const NaiveEvent* start, const Events& elsewhere,
                           StartFaults& faults) {
  faults.of_unknown_order(elsewhere.back());
  Events applicable;
  for (const NaiveEvent* decision : elsewhere) {
    if (applies(call, decision, start)) applicable.push_back(decision);
  }
  if (applicable.empty()) return faults.not_applicable(elsewhere.back());
  for (const NaiveEvent* decision : applicable) {
    if (permits(call, decision)) return;
  }
  const auto denial = std::find_if(applicable.rbegin(), applicable.rend(), is_deny);
  if (denial != applicable.rend()) return faults.after_deny(*denial);
  faults.without_allow(applicable.front());
}

// REQ-GR-041, REQ-GR-042, REQ-GR-048, REQ-GR-049.
void judge_uncited_start(const NaiveCall& call, const NaiveEvent* start, StartFaults& faults) {
  Events earlier;
  Events elsewhere;
  const NaiveEvent* governing = nullptr;
  for (const NaiveEvent* decision : call.of(EventKind::kAuthorizationDecision)) {
    if (!is_for_attempt(call, decision, start)) continue;
    if (decision->writer != start->writer) elsewhere.push_back(decision);
    if (!before(decision, start)) continue;
    earlier.push_back(decision);
    if (applies(call, decision, start)) governing = decision;
  }
  if (governing != nullptr) {
    faults.under(governing);
    if (!permits(call, governing)) return;
    for (const NaiveEvent* rival : elsewhere) {
      if (applies(call, rival, start) && !permits(call, rival)) faults.of_unknown_order(rival);
    }
    return;
  }
  if (!earlier.empty()) return faults.not_applicable(earlier.back());
  if (!elsewhere.empty()) return judge_unordered_start(call, start, elsewhere, faults);
  faults.without_allow(nullptr);
}

// REQ-GR-032, REQ-GR-043, REQ-GR-045, REQ-CT-023: once for a start, that stands before the decision
// that it cites, or first of its writer's before every decision of its writer.
void judge_early_start(const NaiveCall& call, const NaiveEvent* start, StartFaults& faults) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  const bool is_ordered = call.required.order.contains("decision < start");
  if (!is_ordered && !call.required.is_governed) return;
  for (const NaiveEvent* decision : decisions) {
    const bool is_cited = start->has(Field::kDecisionId) &&
                          start->get(Field::kDecisionId) == decision->get(Field::kDecisionId);
    if (is_cited && before(start, decision)) faults.before_decision(decision);
  }
  if (!is_ordered) return;
  for (const NaiveEvent* other : call.of(EventKind::kExecutorStart)) {
    if (before(other, start)) return;
  }
  for (const NaiveEvent* decision : decisions) {
    if (decision->writer != start->writer) continue;
    if (before(start, decision)) faults.before_decision(decision);
    return;
  }
}

// REQ-GR-105.
void judge_dequeued_start(const NaiveCall& call, const NaiveEvent* start, StartFaults& faults) {
  const NaiveEvent* last = nullptr;
  for (const NaiveEvent* denied : call.of(EventKind::kQueueDenied)) {
    if (before(denied, start)) last = denied;
  }
  if (last == nullptr) return;
  for (const NaiveEvent* decision : call.of(EventKind::kAuthorizationDecision)) {
    if (is_allow(decision) && before(last, decision) && before(decision, start)) return;
  }
  faults.after_deny(last);
}

// ---- Numbers (REQ-CT-021, REQ-CT-022).

bool is_judged_by_numbers(const NaiveCall& call) {
  for (const NaiveEvent* decision : call.of(EventKind::kAuthorizationDecision)) {
    if (is_shadow(call, decision)) return false;  // REQ-GR-061
  }
  return true;
}

// REQ-GR-044, REQ-GR-047: the permits that were not spent.
Events unspent_permits(const NaiveCall& call) {
  Events out;
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  for (const NaiveEvent* unspent : call.of(EventKind::kPermitUnspent)) {
    const bool speaks_for_one =
        std::any_of(decisions.begin(), decisions.end(), [&](const NaiveEvent* decision) {
          return is_allow(decision) &&
                 decision->get(Field::kDecisionId) == unspent->get(Field::kDecisionId);
        });
    if (!unspent->has(Field::kDecisionId) || speaks_for_one) out.push_back(unspent);
  }
  return out;
}

// REQ-GR-017: the last of these, else the last of all.
const NaiveEvent* last_decision(const NaiveCall& call, bool (*is_meant)(const NaiveEvent*)) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  Events meant;
  std::copy_if(decisions.begin(), decisions.end(), std::back_inserter(meant), is_meant);
  return meant.empty() ? decisions.back() : meant.back();
}

NaiveBounds bounds_of_finishes(const NaiveBounds& bounds, std::size_t starts) {
  return bounds.equals_start ? NaiveBounds{starts, starts, false} : bounds;
}

// By itself a permit that was not spent is not one too many; beside others it is one of them.
void judge_too_many(Context& context, const NaiveCall& call, const std::string& code,
                    const std::string& noun, const NaiveBounds& bounds, const Events& events,
                    const Events& unspent) {
  if (!bounds.at_most || events.empty()) return;
  const std::string recorded = count_text(events.size(), noun);
  if (events.size() > *bounds.at_most) {
    return add(context, code, call.id, {bounds_text(bounds, noun), recorded, events});
  }
  if (unspent.empty() || events.size() < *bounds.at_most) return;
  Events all = unspent;
  all.insert(all.end(), events.begin(), events.end());
  add(context, code, call.id,
      saying("its permit was given back unspent",
             {count_text(*bounds.at_most - 1, noun), recorded, all}));
}

void judge_allowed_starts(Context& context, const NaiveCall& call) {
  const Events starts = call.of(EventKind::kExecutorStart);
  const Events unspent = unspent_permits(call);
  const NaiveBounds& bounds = call.required.start_on_allow;
  const std::size_t count = starts.size() + (unspent.empty() ? 0 : 1);
  if (count < bounds.at_least) {
    add_absence(context, "allow_without_start", call,
                {bounds_text(bounds, "start"),
                 count_text(starts.size(), "start"),
                 {last_decision(call, is_allow)}});
  }
  judge_too_many(context, call, "multiple_starts", "start", bounds, starts, unspent);
}

void judge_allowed_finishes(Context& context, const NaiveCall& call) {
  const Events starts = call.of(EventKind::kExecutorStart);
  const Events finishes = call.of(EventKind::kExecutorFinish);
  const bool as_starts = call.required.finish_on_allow.equals_start;
  const Events unspent = as_starts ? Events{} : unspent_permits(call);
  const NaiveBounds bounds = bounds_of_finishes(call.required.finish_on_allow, starts.size());
  const std::size_t count = finishes.size() + (!unspent.empty() && starts.empty() ? 1 : 0);
  if (count < bounds.at_least) {
    add_absence(context, "allow_without_finish", call,
                {bounds_text(bounds, "finish"),
                 count_text(finishes.size(), "finish"),
                 {starts.empty() ? last_decision(call, is_allow) : starts.back()}});
  }
  judge_too_many(context, call, "multiple_finishes", "finish", bounds, finishes, unspent);
}

// On deny the starts are judged by what governs them, and by their number where nothing must
// (REQ-CT-024).
void judge_denied(Context& context, const NaiveCall& call, const std::string& code,
                  const std::string& noun, const NaiveBounds& bounds, const Events& events) {
  const NaiveEvent* decision = last_decision(call, is_deny);
  for (std::size_t i = bounds.at_most.value_or(events.size()); i < events.size(); ++i) {
    add(context, code, call.id,
        {count_text(*bounds.at_most, noun),
         count_text(events.size(), noun),
         {decision, events[i]}});
  }
}

void judge_denied_numbers(Context& context, const NaiveCall& call) {
  const Events starts = call.of(EventKind::kExecutorStart);
  const NaiveBounds finishes = bounds_of_finishes(call.required.finish_on_deny, starts.size());
  if (!call.required.is_governed) {
    judge_denied(context, call, "start_after_deny", "start", call.required.start_on_deny, starts);
  }
  judge_denied(context, call, "finish_after_deny", "finish", finishes,
               call.of(EventKind::kExecutorFinish));
}

void judge_numbers(Context& context, const NaiveCall& call) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  if (decisions.empty() || !is_judged_by_numbers(call)) return;
  if (!any_allow(decisions)) return judge_denied_numbers(context, call);
  judge_allowed_starts(context, call);
  judge_allowed_finishes(context, call);
}

// ---- Finishes and effects.

// REQ-GR-106.
void judge_finished_call(Context& context, const NaiveCall& call, const NaiveEvent* finish) {
  const Events starts = call.of(EventKind::kExecutorStart);
  for (const NaiveEvent* start : starts) {
    if (same_where_recorded(start, finish, call_fields())) return;
  }
  if (starts.empty()) return;
  const NaiveDifferences other = differences_in(starts.front(), finish, call_fields());
  add(context, "decision_not_applicable", call.id,
      saying(fmt::format("a finish of another call than started: {}", fmt::join(other.names, ", ")),
             {other.expected, other.recorded, {starts.front(), finish}}));
}

void judge_outcome(Context& context, const NaiveCall& call, const NaiveEvent* finish) {
  const std::string outcome = finish->get(Field::kOutcome);
  if (outcome == "succeeded" || outcome == "failed" || outcome == "cancelled") return;
  add(context, "unknown_outcome", call.id, {"succeeded, failed or cancelled", outcome, {finish}});
}

// REQ-MF-015, REQ-MF-019.
void judge_effects(Context& context, const NaiveCall& call) {
  const auto starts = static_cast<std::int64_t>(call.of(EventKind::kExecutorStart).size());
  const Events observed = call.of(EventKind::kEffectObserved);
  std::int64_t effects = 0;
  for (const NaiveEvent* event : observed) {
    effects += event->has(Field::kEffects) ? event->integers.at(Field::kEffects) : 1;
  }
  if (effects > 0 && starts == 0) {
    add(context, "effect_without_start", call.id,
        {"0 effects", count_text(static_cast<std::uint64_t>(effects), "effect"), observed});
  }
  const grading::Expectation* entry = context.entry(call.id);
  if (entry == nullptr || !entry->effects) return;
  const std::string expected = std::to_string(*entry->effects);
  const bool is_known = !observed.empty() || has_closed_spy(context, call.events);
  if (!is_known && context.manifest()->effects_required) {
    return add(context, "missing_effects", call.id, {expected, "", {call.events.front()}});
  }
  const std::int64_t counted = is_known ? effects : starts;
  if (counted == *entry->effects) return;
  Events events = is_known ? observed : call.of(EventKind::kExecutorStart);
  if (events.empty()) events = {call.events.front()};
  add(context, "effect_count_mismatch", call.id,
      saying(is_known ? "as observed" : "starts were counted, since nothing observed effects",
             {expected, std::to_string(counted), events}));
}

}  // namespace

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

void judge_execution(Context& context, const NaiveCall& call) {
  for (const NaiveEvent* start : call.of(EventKind::kExecutorStart)) {
    StartFaults faults(context, call, start);
    judge_early_start(call, start, faults);
    if (call.required.is_governed && start->has(Field::kDecisionId)) {
      judge_cited_start(call, start, faults);
    } else if (call.required.is_governed) {
      judge_uncited_start(call, start, faults);
    }
    judge_dequeued_start(call, start, faults);
  }
  const Events finishes = call.of(EventKind::kExecutorFinish);
  if (call.required.order.contains("start < finish")) {
    judge_order(context, "finish_before_start", call, {"start, finish", "finish, start", {}},
                call.of(EventKind::kExecutorStart), finishes);
  }
  for (const NaiveEvent* finish : finishes) {
    judge_finished_call(context, call, finish);
    judge_outcome(context, call, finish);
  }
  judge_numbers(context, call);
  judge_effects(context, call);
}

}  // namespace remit::twin
