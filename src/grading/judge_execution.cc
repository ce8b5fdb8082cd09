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

}  // namespace

// REQ-GR-047: an unspent permit names an allow of the invocation, or none.
bool Judge::is_covered_by_unspent() const {
  return std::any_of(call_->unspent.begin(), call_->unspent.end(), [&](const EventRecord* unspent) {
    const std::string_view cited = store_.text(unspent->fact(Fact::kDecisionId));
    return cited.empty() ||
           std::any_of(call_->decisions.begin(), call_->decisions.end(),
                       [&](const EventRecord* decision) {
                         return decision->decision == DecisionWord::kAllow &&
                                store_.text(decision->fact(Fact::kDecisionId)) == cited;
                       });
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
const EventRecord* Judge::decision_behind(const EventRecord& start) const {
  const CallView& call = *call_;
  const auto is_own = [&](const EventRecord* event) { return event->writer == start.writer; };
  for (const EventRecord* decision : call.decisions) {
    if (stands_before(start, *decision) && cites(start, *decision)) return decision;
  }
  if (*std::find_if(call.starts.begin(), call.starts.end(), is_own) != &start) return nullptr;
  const auto first = std::find_if(call.decisions.begin(), call.decisions.end(), is_own);
  return first != call.decisions.end() && stands_before(start, **first) ? *first : nullptr;
}

bool Judge::cites(const EventRecord& start, const EventRecord& decision) const {
  const std::string_view cited = store_.text(start.fact(Fact::kDecisionId));
  return !cited.empty() && store_.text(decision.fact(Fact::kDecisionId)) == cited;
}

void Judge::judge_start(const EventRecord& start) {
  if (const EventRecord* behind = decision_behind(start); behind != nullptr) {
    add(Code::kStartBeforeDecision, "decision, start", "start, decision", {&start, behind});
  }
  if (start.fact(Fact::kDecisionId) != 0) {
    judge_cited_start(start);
  } else {
    judge_uncited_start(start);
  }
}

// REQ-GR-040 and 045: what it cites governs it, in whichever log that stands.
void Judge::judge_cited_start(const EventRecord& start) {
  bool is_cited = false;
  for (const EventRecord* decision : call_->decisions) {
    if (!cites(start, *decision)) continue;
    is_cited = true;
    if (store_.applies(*decision, start)) {
      judge_governing(start, *decision);
    } else {
      add_start_and_decision(Code::kDecisionNotApplicable, start, *decision,
                             "a decision for this call", "a decision for another");
    }
  }
  if (!is_cited) {
    add(Code::kStartCitesNoDecision, std::nullopt, recorded(start.fact(Fact::kDecisionId)),
        {&start});
  }
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
void Judge::judge_uncited_start(const EventRecord& start) {
  const CallView& call = *call_;
  const EventRecord* governing = nullptr;
  const EventRecord* earlier = nullptr;
  bool is_elsewhere = false;
  for (const EventRecord* decision : call.decisions) {
    is_elsewhere |= decision->writer != start.writer;
    if (!stands_before(*decision, start)) continue;
    earlier = decision;
    if (store_.applies(*decision, start)) governing = decision;
  }
  if (governing != nullptr) {
    judge_governing(start, *governing);
    if (governing->decision == DecisionWord::kAllow) judge_rival_decisions(start);
  } else if (earlier != nullptr) {
    add_start_and_decision(Code::kDecisionNotApplicable, start, *earlier,
                           "a decision for this call", "a decision for another");
  } else if (is_elsewhere) {
    judge_unordered_start(start);
  } else {
    add(Code::kStartWithoutAllow, "allow", "no allow", {&start});
  }
}

// REQ-GR-048: what another writer decided may have come between the allow and the start.
void Judge::judge_rival_decisions(const EventRecord& start) {
  for (const EventRecord* decision : call_->decisions) {
    const bool is_rival = decision->writer != start.writer &&
                          decision->decision != DecisionWord::kAllow &&
                          store_.applies(*decision, start);
    if (!is_rival) continue;
    add_start_and_decision(Code::kOrderUnknown, start, *decision, "decision_id", "no decision_id");
    return;
  }
}

// REQ-GR-031 and 046: whatever the order, a start that none of the other writers' decisions allows
// is wrong.
void Judge::judge_unordered_start(const EventRecord& start) {
  const EventRecord* last = nullptr;
  const EventRecord* allow = nullptr;
  const EventRecord* refusal = nullptr;  // applicable: a deny, if there is one
  for (const EventRecord* decision : call_->decisions) {
    if (decision->writer == start.writer) continue;
    last = decision;
    if (!store_.applies(*decision, start)) continue;
    if (decision->decision == DecisionWord::kAllow) allow = decision;
    const bool is_stronger = refusal == nullptr || decision->decision == DecisionWord::kDeny;
    if (is_stronger && decision->decision != DecisionWord::kAllow) refusal = decision;
  }
  add_start_and_decision(Code::kOrderUnknown, start, *last, "decision_id", "no decision_id");
  if (allow != nullptr) return;
  if (refusal != nullptr) return judge_governing(start, *refusal);
  add_start_and_decision(Code::kDecisionNotApplicable, start, *last, "a decision for this call",
                         "a decision for another");
}

void Judge::judge_finishes() {
  const CallView& call = *call_;
  for (const EventRecord* finish : call.finishes) {
    const auto is_own = [&](const EventRecord* event) { return event->writer == finish->writer; };
    const bool is_first =
        *std::find_if(call.finishes.begin(), call.finishes.end(), is_own) == finish;
    const auto start = std::find_if(call.starts.begin(), call.starts.end(), is_own);
    if (is_first && start != call.starts.end() && stands_before(*finish, **start)) {
      add(Code::kFinishBeforeStart, "start, finish", "finish, start", {finish, *start});
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
    observed = std::min(kMaxSafeInteger, observed + effect->effects);
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
