// The rules of execution: what ran, under which decision, how often, to what effect.
#include <algorithm>
#include <string>
#include <utility>

#include "grading/judge.h"

namespace remit::grading {
namespace {

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  return std::to_string(number).append(" ").append(number == 1 ? one : many);
}

auto begin_of(const Events& events, const Range& range) {
  return events.begin() + static_cast<std::ptrdiff_t>(range.from);
}
auto end_of(const Events& events, const Range& range) {
  return events.begin() + static_cast<std::ptrdiff_t>(range.to);
}

}  // namespace

// REQ-GR-047: an unspent permit names an allow of the invocation, or none.
bool Judge::is_covered_by_unspent() {
  return std::any_of(call_->unspent.begin(), call_->unspent.end(), [&](const EventRecord* unspent) {
    return unspent->fact(Fact::kDecisionId) == 0 ||
           decisions_.first({unspent, 0, true, kAllowWord}, all_decisions()) != EventIndex::kNone;
  });
}

// REQ-CT-001: after an allow one start and one finish, else neither.
void Judge::judge_counts() {
  const CallView& call = *call_;
  if (!call.is_allowed) {
    if (call.decisions.empty()) return;
    for (const EventRecord* finish : call.finishes) {
      add(Code::kFinishAfterDeny, "0 finishes", counted(call.finishes.size(), "finish", "finishes"),
          {call.decisions.back(), finish});
    }
    return;
  }
  const bool is_unspent = is_covered_by_unspent();
  const std::size_t starts = call.starts.size();
  if (starts == 0 && !is_unspent) {
    add(Code::kAllowWithoutStart, "1 start", "0 starts", {call.decisions.back()});
  }
  if (call.finishes.empty() && (starts > 0 || !is_unspent)) {
    add(Code::kAllowWithoutFinish, "1 finish", "0 finishes",
        {starts > 0 ? call.starts.back() : call.decisions.back()});
  }
  if (starts > 1) {
    add(Code::kMultipleStarts, "1 start", counted(starts, "start", "starts"), call.starts);
  } else if (starts == 1 && is_unspent) {
    add(Code::kMultipleStarts, "0 starts", "1 start", {call.unspent.front(), call.starts.front()},
        "its permit was given back unspent");
  }
  const std::size_t finishes = call.finishes.size();
  if (finishes > 1) {
    add(Code::kMultipleFinishes, "1 finish", counted(finishes, "finish", "finishes"),
        call.finishes);
  } else if (finishes == 1 && is_unspent) {
    add(Code::kMultipleFinishes, "0 finishes", "1 finish",
        {call.unspent.front(), call.finishes.front()}, "its permit was given back unspent");
  }
}

void Judge::add_start_and_decision(Code code, const EventRecord& start, const EventRecord& decision,
                                   std::string_view expected, std::string_view recorded) {
  if (stands_before(start, decision)) {
    add(code, std::string(expected), std::string(recorded), {&start, &decision});
  } else {
    add(code, std::string(expected), std::string(recorded), {&decision, &start});
  }
}

// REQ-GR-032 and 045: a start stands before the decision that it cites, or the first start of a
// writer before its first decision.
const EventRecord* Judge::decision_behind(const EventRecord& start, const Range& own) {
  const Events& decisions = call_->decisions;
  const auto next =
      std::partition_point(begin_of(decisions, own), end_of(decisions, own),
                           [&](const EventRecord* event) { return event->key() <= start.key(); });
  const Range behind = {static_cast<std::size_t>(next - decisions.begin()), own.to};
  if (behind.is_empty()) return nullptr;
  if (start.fact(Fact::kDecisionId) != 0) {
    const std::size_t cited = decisions_.first({&start, 0, true}, behind);
    if (cited != EventIndex::kNone) return decisions[cited];
  }
  return behind.from == own.from && is_first_of_writer(call_->starts, start) ? *next : nullptr;
}

void Judge::judge_start(const EventRecord& start) {
  const Range own = range_of_writer(store_, call_->decisions, start.writer);
  if (const EventRecord* behind = decision_behind(start, own); behind != nullptr) {
    add(Code::kStartBeforeDecision, "decision, start", "start, decision", {&start, behind});
  }
  if (start.fact(Fact::kDecisionId) != 0) {
    judge_cited_start(start);
  } else {
    judge_uncited_start(start, own);
  }
}

// REQ-GR-040 and 045: what it cites governs it, in whichever log that stands. However many
// decisions bear the id, a code is found once (REQ-GR-014), with the first of them.
void Judge::judge_cited_start(const EventRecord& start) {
  if (decisions_.first({&start, 0, true}, all_decisions()) == EventIndex::kNone) {
    add(Code::kStartCitesNoDecision, std::nullopt, recorded(start.fact(Fact::kDecisionId)),
        {&start});
    return;
  }
  for (const unsigned word : {kDenyWord, kOtherWord}) {
    const std::size_t cited = decisions_.first({&start, kCallFacts, true, word}, all_decisions());
    if (cited != EventIndex::kNone) judge_governing(start, *call_->decisions[cited]);
  }
  const std::size_t other = decisions_.first_cited_of_other_call(start);
  if (other == EventIndex::kNone) return;
  add_start_and_decision(Code::kDecisionNotApplicable, start, *call_->decisions[other],
                         "a decision for this call", "a decision for another");
}

// What governs a start must be an allow.
void Judge::judge_governing(const EventRecord& start, const EventRecord& decision) {
  if (decision.decision == DecisionWord::kDeny) {
    add_start_and_decision(Code::kStartAfterDeny, start, decision, "no start", "a start");
  } else if (decision.decision != DecisionWord::kAllow) {
    add_start_and_decision(Code::kStartWithoutAllow, start, decision, "allow", "no allow");
  }
}

// REQ-GR-041 to 043, and REQ-GR-031 where only another writer decided.
void Judge::judge_uncited_start(const EventRecord& start, const Range& own) {
  const Events& decisions = call_->decisions;
  const auto next =
      std::partition_point(begin_of(decisions, own), end_of(decisions, own),
                           [&](const EventRecord* event) { return event->key() < start.key(); });
  const Range earlier = {own.from, static_cast<std::size_t>(next - decisions.begin())};
  const std::size_t governing = decisions_.last({&start, kCallFacts}, earlier);
  if (governing != EventIndex::kNone) {
    judge_governing(start, *decisions[governing]);
    if (decisions[governing]->decision == DecisionWord::kAllow) judge_rival_decisions(start, own);
  } else if (!earlier.is_empty()) {
    add_start_and_decision(Code::kDecisionNotApplicable, start, *decisions[earlier.to - 1],
                           "a decision for this call", "a decision for another");
  } else if (own.to - own.from < decisions.size()) {
    judge_unordered_start(start, own);
  } else {
    add(Code::kStartWithoutAllow, "allow", "no allow", {&start});
  }
}

// The first or last decision sought of those of other writers, or null.
const EventRecord* Judge::first_elsewhere(const Sought& sought, const Range& own) {
  std::size_t found = decisions_.first(sought, {0, own.from});
  if (found == EventIndex::kNone) {
    found = decisions_.first(sought, {own.to, call_->decisions.size()});
  }
  return found == EventIndex::kNone ? nullptr : call_->decisions[found];
}

const EventRecord* Judge::last_elsewhere(const Sought& sought, const Range& own) {
  std::size_t found = decisions_.last(sought, {own.to, call_->decisions.size()});
  if (found == EventIndex::kNone) found = decisions_.last(sought, {0, own.from});
  return found == EventIndex::kNone ? nullptr : call_->decisions[found];
}

// REQ-GR-048: what another writer decided may have come between the allow and the start.
void Judge::judge_rival_decisions(const EventRecord& start, const Range& own) {
  const EventRecord* rival =
      first_elsewhere({&start, kCallFacts, false, kDenyWord | kOtherWord}, own);
  if (rival == nullptr) return;
  add_start_and_decision(Code::kOrderUnknown, start, *rival, "decision_id", "no decision_id");
}

// REQ-GR-031 and 046: whatever the order, a start that none of the other writers' decisions allows
// is wrong.
void Judge::judge_unordered_start(const EventRecord& start, const Range& own) {
  const EventRecord& last = *last_elsewhere({&start}, own);
  add_start_and_decision(Code::kOrderUnknown, start, last, "decision_id", "no decision_id");
  const auto that_applies = [&](unsigned word) { return Sought{&start, kCallFacts, false, word}; };
  if (first_elsewhere(that_applies(kAllowWord), own) != nullptr) return;
  const EventRecord* refusal = last_elsewhere(that_applies(kDenyWord), own);
  if (refusal == nullptr) refusal = first_elsewhere(that_applies(kOtherWord), own);
  if (refusal != nullptr) return judge_governing(start, *refusal);
  add_start_and_decision(Code::kDecisionNotApplicable, start, last, "a decision for this call",
                         "a decision for another");
}

void Judge::judge_finishes() {
  const CallView& call = *call_;
  for (const EventRecord* finish : call.finishes) {
    const EventRecord* start = first_of_writer(call.starts, finish->writer);
    if (start != nullptr && stands_before(*finish, *start) &&
        is_first_of_writer(call.finishes, *finish)) {
      add(Code::kFinishBeforeStart, "start, finish", "finish, start", {finish, start});
    }
    const bool is_known = finish->outcome == OutcomeWord::kSucceeded ||
                          finish->outcome == OutcomeWord::kFailed ||
                          finish->outcome == OutcomeWord::kCancelled;
    if (!is_known) {
      add(Code::kUnknownOutcome, "succeeded, failed or cancelled", word_of(*finish), {finish});
    }
  }
}

// REQ-MF-015.
void Judge::judge_effects() {
  const CallView& call = *call_;
  std::int64_t observed = 0;
  for (const EventRecord* effect : call.effects) {
    observed = std::min(kMaxSafeInteger, observed + effect->number());
  }
  if (observed > 0 && call.starts.empty()) {
    add(Code::kEffectWithoutStart, "0 effects",
        counted(static_cast<std::size_t>(observed), "effect", "effects"), call.effects);
  }
  const Expectation* entry = assignment_->entry;
  if (entry == nullptr || !entry->effects) return;
  const bool is_observed = !call.effects.empty() || facts_.has_closed_spy(call);
  if (!is_observed && manifest_->effects_required) {
    add(Code::kMissingEffects, std::to_string(*entry->effects), std::nullopt,
        {call.events.front()});
    return;
  }
  if (!is_observed) {
    ++effects_by_starts_;
    observed = static_cast<std::int64_t>(call.starts.size());
  }
  if (observed == *entry->effects) return;
  const Events& seen = is_observed ? call.effects : call.starts;
  add(Code::kEffectCountMismatch, std::to_string(*entry->effects), std::to_string(observed),
      seen.empty() ? Events{call.events.front()} : seen,
      is_observed ? "as observed" : "starts were counted, since nothing observed effects");
}

}  // namespace remit::grading
