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

// REQ-GR-044: an unspent permit names an allow of the invocation, or none.
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
  if (call.finishes.size() > 1) {
    add(Code::kMultipleFinishes, "1 finish", counted(call.finishes.size(), "finish", "finishes"),
        call.finishes);
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

void Judge::judge_start(const EventRecord& start) {
  const CallView& call = *call_;
  const auto is_before = [&](const EventRecord* decision) {
    return stands_before(*decision, start);
  };
  const auto is_after = [&](const EventRecord* decision) {
    return stands_before(start, *decision);
  };
  const std::string_view cited = store_.text(start.fact(Fact::kDecisionId));
  const auto named =
      std::find_if(call.decisions.begin(), call.decisions.end(), [&](const EventRecord* decision) {
        return !cited.empty() && store_.text(decision->fact(Fact::kDecisionId)) == cited;
      });
  const bool cites_later = named != call.decisions.end() && is_after(*named);
  const auto first_after = std::find_if(call.decisions.begin(), call.decisions.end(), is_after);
  const bool has_only_later = first_after != call.decisions.end() &&
                              std::none_of(call.decisions.begin(), call.decisions.end(), is_before);
  if (cites_later || has_only_later) {
    add_start_and_decision(Code::kStartBeforeDecision, start, cites_later ? **named : **first_after,
                           "decision, start", "start, decision");
  }
  if (!cited.empty()) {
    judge_cited_start(start);
  } else {
    judge_uncited_start(start);
  }
}

// REQ-GR-040: the decision that it cites governs it, in whichever log that stands.
void Judge::judge_cited_start(const EventRecord& start) {
  const CallView& call = *call_;
  const Ref cited = start.fact(Fact::kDecisionId);
  Events named;
  for (const EventRecord* decision : call.decisions) {
    const Ref id = decision->fact(Fact::kDecisionId);
    if (id != 0 && store_.text(id) == store_.text(cited)) named.push_back(decision);
  }
  if (named.empty()) {
    add(Code::kStartCitesNoDecision, std::nullopt, recorded(cited), {&start});
    return;
  }
  const auto governing = std::find_if(named.begin(), named.end(), [&](const EventRecord* decision) {
    return store_.applies(*decision, start);
  });
  if (governing == named.end()) {
    add_start_and_decision(Code::kDecisionNotApplicable, start, *named.front(),
                           "a decision for this call", "a decision for another");
  } else if ((*governing)->decision == DecisionWord::kDeny) {
    add_start_and_decision(Code::kStartAfterDeny, start, **governing, "no start", "a start");
  } else if ((*governing)->decision != DecisionWord::kAllow) {
    add_start_and_decision(Code::kStartWithoutAllow, start, **governing, "allow", "no allow");
  }
}

// REQ-GR-041 to 043, and REQ-GR-031 where only another writer decided.
void Judge::judge_uncited_start(const EventRecord& start) {
  const CallView& call = *call_;
  const EventRecord* governing = nullptr;
  const EventRecord* earlier = nullptr;
  const EventRecord* elsewhere = nullptr;
  for (const EventRecord* decision : call.decisions) {
    if (decision->writer != start.writer) elsewhere = decision;
    if (!stands_before(*decision, start)) continue;
    earlier = decision;
    if (store_.applies(*decision, start)) governing = decision;
  }
  if (governing != nullptr) {
    if (governing->decision == DecisionWord::kDeny) {
      add_start_and_decision(Code::kStartAfterDeny, start, *governing, "no start", "a start");
    } else if (governing->decision != DecisionWord::kAllow) {
      add_start_and_decision(Code::kStartWithoutAllow, start, *governing, "allow", "no allow");
    }
    return;
  }
  if (earlier != nullptr) {
    add_start_and_decision(Code::kDecisionNotApplicable, start, *earlier,
                           "a decision for this call", "a decision for another");
    return;
  }
  if (elsewhere == nullptr) {
    add(Code::kStartWithoutAllow, "allow", "no allow", {&start});
    return;
  }
  add_start_and_decision(Code::kOrderUnknown, start, *elsewhere, "decision_id", "no decision_id");
  // Whatever the order, a call that was only ever denied may not start (REQ-CT-001).
  if (call.is_denied) {
    add_start_and_decision(Code::kStartAfterDeny, start, *elsewhere, "no start", "a start");
  }
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
