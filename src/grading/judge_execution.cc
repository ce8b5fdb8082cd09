// The rules of execution: what ran, under which decision, how often, to what effect.
#include <algorithm>
#include <string>
#include <utility>

#include "grading/counted.h"
#include "grading/judge.h"

namespace remit::grading {
namespace {

constexpr Noun kStarts = {"start", "starts"};
constexpr Noun kFinishes = {"finish", "finishes"};

auto begin_of(const Events& events, const Range& range) {
  return events.begin() + static_cast<std::ptrdiff_t>(range.from);
}
auto end_of(const Events& events, const Range& range) {
  return events.begin() + static_cast<std::ptrdiff_t>(range.to);
}

}  // namespace

// REQ-GR-047: an unspent permit names an allow of the invocation, or none.
Events Judge::permits_given_back() {
  Events out;
  for (const EventRecord* unspent : call_->unspent) {
    const bool names_none = unspent->fact(Fact::kDecisionId) == 0;
    if (names_none ||
        decisions_.first({unspent, 0, true, kAllowWord}, all_decisions()) != EventIndex::kNone) {
      out.push_back(unspent);
    }
  }
  return out;
}

// REQ-GR-017.
const EventRecord& Judge::last_decision(DecisionWord word) const {
  const Events& decisions = call_->decisions;
  const auto last = std::find_if(decisions.rbegin(), decisions.rend(),
                                 [&](const EventRecord* one) { return one->decision == word; });
  return last == decisions.rend() ? *decisions.back() : **last;
}

// REQ-CT-022: permits that were given back are one more of the kind beside others.
void Judge::judge_too_many(Code code, const Bounds& bounds, const Events& events,
                           const Events& given_back, const Noun& noun) {
  if (!bounds.at_most || events.empty()) return;
  const std::string recorded = noun.counted(events.size());
  if (events.size() > *bounds.at_most) {
    add(code, noun.bounds(bounds), recorded, events);
  } else if (!given_back.empty() && events.size() == *bounds.at_most) {
    Events all = given_back;
    all.insert(all.end(), events.begin(), events.end());
    add(code, noun.counted(*bounds.at_most - 1), recorded, all,
        "its permit was given back unspent");
  }
}

// REQ-CT-021. A shadow decision says nothing about how often the call runs (REQ-GR-061).
void Judge::judge_counts() {
  if (call_->decisions.empty() || call_->has_shadow_decision) return;
  if (call_->is_allowed) return judge_counts_on_allow();
  judge_counts_on_deny();
}

// REQ-CT-022: an unspent permit is a start, and a finish where nothing started.
void Judge::judge_counts_on_allow() {
  const CallView& call = *call_;
  const Events given_back = permits_given_back();
  const std::uint64_t unspent = given_back.empty() ? 0 : 1;
  const Bounds& starts = requirements_->start_on_allow;
  if (call.starts.size() + unspent < starts.at_least) {
    add(Code::kAllowWithoutStart, kStarts.bounds(starts), kStarts.counted(call.starts.size()),
        {&last_decision(DecisionWord::kAllow)});
  }
  judge_too_many(Code::kMultipleStarts, starts, call.starts, given_back, kStarts);
  const FinishBounds& wanted = requirements_->finish_on_allow;
  const std::uint64_t started = call.starts.size();
  const Bounds finishes = wanted.equals_start ? Bounds{started, started} : wanted.number;
  const std::uint64_t spared = wanted.equals_start || started > 0 ? 0 : unspent;
  if (call.finishes.size() + spared < finishes.at_least) {
    add(Code::kAllowWithoutFinish, kFinishes.bounds(finishes),
        kFinishes.counted(call.finishes.size()),
        {started > 0 ? call.starts.back() : &last_decision(DecisionWord::kAllow)});
  }
  judge_too_many(Code::kMultipleFinishes, finishes, call.finishes,
                 wanted.equals_start ? Events{} : given_back, kFinishes);
}

// Where starts are governed, what governs each says what it is.
void Judge::judge_counts_on_deny() {
  const CallView& call = *call_;
  const EventRecord* decision = &last_decision(DecisionWord::kDeny);
  const auto& most_starts = requirements_->start_on_deny.at_most;
  if (!requirements_->is_governed && most_starts) {
    for (std::size_t i = *most_starts; i < call.starts.size(); ++i) {
      add(Code::kStartAfterDeny, kStarts.counted(*most_starts), kStarts.counted(call.starts.size()),
          {decision, call.starts[i]});
    }
  }
  const FinishBounds& wanted = requirements_->finish_on_deny;
  const std::optional<std::uint64_t> most = wanted.equals_start
                                                ? std::optional<std::uint64_t>(call.starts.size())
                                                : wanted.number.at_most;
  if (!most) return;
  for (std::size_t i = *most; i < call.finishes.size(); ++i) {
    add(Code::kFinishAfterDeny, kFinishes.counted(*most), kFinishes.counted(call.finishes.size()),
        {decision, call.finishes[i]});
  }
}

// In which facts, that both record, an event is of another call than the one that it belongs with.
Judge::Differences Judge::differences(const EventRecord& expected, const EventRecord& found,
                                      unsigned facts) const {
  using event::Field;
  constexpr std::pair<Fact, Field> kCompared[] = {
      {Fact::kTool, Field::kTool},
      {Fact::kAction, Field::kAction},
      {Fact::kResourceType, Field::kResourceType},
      {Fact::kResourceId, Field::kResourceId},
      {Fact::kResourceTenant, Field::kResourceTenant},
      {Fact::kArgsDigest, Field::kArgsDigest},
  };
  Differences out;
  for (const auto& [fact, field] : kCompared) {
    if (store_.agree(expected, found, fact)) continue;
    out.add(event::field_name(field), recorded(expected.fact(fact)), recorded(found.fact(fact)));
  }
  const bool has_further = (facts & kFurtherFact) != 0 && found.has(Fact::kFurtherResources);
  const Told wanted = recorded(expected.fact(Fact::kFurtherResources));
  const Told further = recorded(found.fact(Fact::kFurtherResources));
  if (has_further && wanted != further) {
    out.add(event::field_name(Field::kFurtherResources), wanted, further);
  }
  if ((facts & kAttemptFact) != 0 && expected.number() != found.number()) {
    out.add(event::field_name(Field::kAttempt), std::to_string(expected.number()),
            std::to_string(found.number()));
  }
  return out;
}

void Judge::add_not_applicable(const EventRecord& decision, const EventRecord& start) {
  const Differences other = differences(decision, start, kCallFacts | attempt_fact());
  Events both = {&decision, &start};
  if (stands_before(start, decision)) std::swap(both.front(), both.back());
  add(Code::kDecisionNotApplicable, other.expected, other.recorded, both, other.fields);
}

// REQ-GR-093: a loss does not excuse a start, and may be where its allow went.
void Judge::add_start_without_allow(const EventRecord& start, const EventRecord* decision) {
  const bool may_be_lost = decision == nullptr && facts_.may_have_lost_before(*call_, start);
  const std::string_view detail =
      may_be_lost ? "events of its writer were lost before it, an allow may be among them; a start "
                    "without one on record fails all the same"
                  : "";
  Events events = {&start};
  if (decision != nullptr) {
    events.insert(stands_before(start, *decision) ? events.end() : events.begin(), decision);
  }
  add(Code::kStartWithoutAllow, "allow", "no allow", events, detail);
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
  const bool is_first = behind.from == own.from && is_first_of_writer(call_->starts, start);
  return is_first && requirements_->order.decision_start ? *next : nullptr;
}

void Judge::judge_start(const EventRecord& start) {
  const Range own = range_of_writer(store_, call_->decisions, start.writer);
  is_start_denied_ = false;
  if (requirements_->order.decision_start || requirements_->is_governed) {
    if (const EventRecord* behind = decision_behind(start, own); behind != nullptr) {
      add(Code::kStartBeforeDecision, "decision, start", "start, decision", {&start, behind});
    }
  }
  if (requirements_->is_governed) {
    if (start.fact(Fact::kDecisionId) != 0) {
      judge_cited_start(start);
    } else {
      judge_uncited_start(start, own);
    }
  }
  const bool is_queue_denied = next_queue_denied_ < queue_denied_starts_.size() &&
                               queue_denied_starts_[next_queue_denied_].first == &start;
  if (!is_queue_denied) return;
  const EventRecord& denial = *queue_denied_starts_[next_queue_denied_++].second;
  if (is_start_denied_) return;
  add(Code::kStartAfterDeny, "no start", "a start", {&denial, &start}, "the queue denied it");
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
    const std::size_t cited =
        decisions_.first({&start, kCallFacts | attempt_fact(), true, word}, all_decisions());
    if (cited != EventIndex::kNone) judge_governing(start, *call_->decisions[cited]);
  }
  const std::size_t other = decisions_.first_cited_that_differs(start, kCallFacts | attempt_fact());
  if (other == EventIndex::kNone) return;
  add_not_applicable(*call_->decisions[other], start);
}

// What governs a start must be an allow, or be only tried (REQ-GR-061).
void Judge::judge_governing(const EventRecord& start, const EventRecord& decision) {
  if (call_->is_shadow(decision)) return;
  if (decision.decision == DecisionWord::kDeny) {
    is_start_denied_ = true;
    add_start_and_decision(Code::kStartAfterDeny, start, decision, "no start", "a start");
  } else if (decision.decision != DecisionWord::kAllow) {
    add_start_without_allow(start, &decision);
  }
}

// REQ-GR-041 to 043, and REQ-GR-031 where only another writer decided.
void Judge::judge_uncited_start(const EventRecord& start, const Range& own) {
  const Events& decisions = call_->decisions;
  const auto next =
      std::partition_point(begin_of(decisions, own), end_of(decisions, own),
                           [&](const EventRecord* event) { return event->key() < start.key(); });
  const Range earlier = {own.from, static_cast<std::size_t>(next - decisions.begin())};
  const std::size_t governing = decisions_.last({&start, kCallFacts | attempt_fact()}, earlier);
  if (governing != EventIndex::kNone) {
    const EventRecord& decision = *decisions[governing];
    judge_governing(start, decision);
    const bool is_allow = decision.decision == DecisionWord::kAllow || call_->is_shadow(decision);
    if (is_allow) judge_rival_decisions(start, own);
    return;
  }
  // Under REQ-GR-049 the decisions of other attempts do not exist.
  const std::size_t last = decisions_.last({&start, attempt_fact()}, earlier);
  if (last != EventIndex::kNone) {
    add_not_applicable(*decisions[last], start);
  } else if (last_elsewhere({&start, attempt_fact()}, own) != nullptr) {
    judge_unordered_start(start, own);
  } else {
    add_start_without_allow(start, nullptr);
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
      first_elsewhere({&start, kCallFacts | attempt_fact(), false, kDenyWord | kOtherWord}, own);
  if (rival == nullptr) return;
  add_start_and_decision(Code::kOrderUnknown, start, *rival, "decision_id", "no decision_id");
}

// REQ-GR-031 and 046: whatever the order, a start that none of the other writers' decisions allows
// is wrong.
void Judge::judge_unordered_start(const EventRecord& start, const Range& own) {
  const EventRecord& last = *last_elsewhere({&start, attempt_fact()}, own);
  add_start_and_decision(Code::kOrderUnknown, start, last, "decision_id", "no decision_id");
  const auto that_applies = [&](unsigned word) {
    return Sought{&start, kCallFacts | attempt_fact(), false, word};
  };
  if (first_elsewhere(that_applies(kAllowWord), own) != nullptr) return;
  const EventRecord* refusal = last_elsewhere(that_applies(kDenyWord), own);
  if (refusal == nullptr) refusal = first_elsewhere(that_applies(kOtherWord), own);
  if (refusal != nullptr) return judge_governing(start, *refusal);
  add_not_applicable(last, start);
}

void Judge::judge_finishes() {
  const CallView& call = *call_;
  for (const EventRecord* finish : call.finishes) {
    const EventRecord* start = first_of_writer(call.starts, finish->writer);
    if (requirements_->order.start_finish && start != nullptr && stands_before(*finish, *start) &&
        is_first_of_writer(call.finishes, *finish)) {
      add(Code::kFinishBeforeStart, "start, finish", "finish, start", {finish, start});
    }
    const bool is_known = finish->outcome == OutcomeWord::kSucceeded ||
                          finish->outcome == OutcomeWord::kFailed ||
                          finish->outcome == OutcomeWord::kCancelled;
    if (!is_known) {
      add(Code::kUnknownOutcome, "succeeded, failed or cancelled", word_of(*finish), {finish});
    }
    judge_finished_call(*finish);
  }
}

// REQ-GR-106.
void Judge::judge_finished_call(const EventRecord& finish) {
  const Events& starts = call_->starts;
  if (starts.empty()) return;
  const Sought same_call = {&finish, kCallFacts & ~kFurtherFact};
  if (starts_.first(same_call, {0, starts.size()}) != EventIndex::kNone) return;
  const Differences other = differences(*starts.front(), finish, kCallFacts & ~kFurtherFact);
  add(Code::kDecisionNotApplicable, other.expected, other.recorded, {starts.front(), &finish},
      "a finish of another call than started: " + other.fields);
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
  if (!is_observed && effects_required_) {
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
