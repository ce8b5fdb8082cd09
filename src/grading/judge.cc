// The rules of one invocation, in the order of spec/grades.md: record, decisions, planning.
#include "grading/judge.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace remit::grading {

ByVerdict<Value> Judge::judge(const CallView& call, const Assignment& assignment) {
  call_ = &call;
  assignment_ = &assignment;
  requests_.reset(call.requests);
  decisions_.reset(call.decisions);
  const std::size_t before = findings_.size();
  for (const Verdict verdict : kVerdicts) verdicts_[verdict] = Value::kPassed;
  const bool is_planned = assignment.of_case != nullptr || assignment.is_judged_by_ids;
  if (!is_planned) verdicts_[Verdict::kPlanning] = Value::kNotExercised;
  judge_record();
  judge_decisions();
  judge_counts();
  for (const EventRecord* start : call.starts) judge_start(*start);
  judge_finishes();
  judge_effects();
  if (is_planned) judge_planning();
  mark_consequences(before);
  return verdicts_;
}

void Judge::add(Code code, Told expected, Told recorded, const Events& events,
                std::string_view detail) {
  std::vector<Position> positions;
  for (const EventRecord* event : events) {
    positions.push_back(store_.position(*event));
  }
  add_at(code, std::move(expected), std::move(recorded), std::move(positions), detail);
}

void Judge::add_at(Code code, Told expected, Told recorded, std::vector<Position> positions,
                   std::string_view detail) {
  const CodeInfo& info = code_info(code);
  Finding finding;
  finding.code = code;
  finding.invocation_id = std::string(call_->id);
  if (assignment_->of_case != nullptr) {
    finding.case_id = assignment_->of_case->id;
  } else if (call_->case_id != 0) {
    finding.case_id = std::string(store_.text(call_->case_id));
  }
  finding.verdict = info.verdict;
  finding.owner = info.owner;
  const bool may_be_lost = info.absence && facts_.is_touched_by_loss(*call_);
  finding.value = info.soft || may_be_lost ? Value::kUndetermined : Value::kFailed;
  finding.expected = std::move(expected);
  finding.recorded = std::move(recorded);
  finding.events = std::move(positions);
  finding.message = info.meaning;
  if (!detail.empty()) finding.message.append(": ").append(detail);
  if (may_be_lost) finding.message += " (events of this writer were lost)";
  verdicts_[info.verdict] = worse(verdicts_[info.verdict], finding.value);
  findings_.push_back(std::move(finding));
}

Judge::Told Judge::recorded(Ref ref) const {
  if (ref == 0) return std::nullopt;
  return std::string(store_.text(ref));
}

const EventRecord* Judge::first_of_writer(const Events& events, std::uint32_t writer) const {
  const Range own = range_of_writer(store_, events, writer);
  return own.is_empty() ? nullptr : events[own.from];
}

// The word of a decision or an outcome as it was written.
Judge::Told Judge::word_of(const EventRecord& event) const {
  constexpr std::array<std::string_view, 3> kDecisions = {"", "allow", "deny"};
  constexpr std::array<std::string_view, 5> kOutcomes = {"", "succeeded", "failed", "unknown",
                                                         "cancelled"};
  const bool is_decision = event.kind == event::EventKind::kAuthorizationDecision;
  const auto word = static_cast<std::size_t>(is_decision ? static_cast<int>(event.decision)
                                                         : static_cast<int>(event.outcome));
  if (word == 0) return std::nullopt;
  if (is_decision && word < kDecisions.size()) return std::string(kDecisions[word]);
  if (!is_decision && word < kOutcomes.size()) return std::string(kOutcomes[word]);
  return recorded(event.fact(Fact::kWord));
}

// REQ-EV-040. The lines that repeat were not graded; they only say what the record is worth.
void Judge::judge_repeats() {
  const auto& repeats = store_.repeats();
  auto repeat = std::lower_bound(
      repeats.begin(), repeats.end(), call_->invocation,
      [](const Repeat& one, std::uint32_t invocation) { return one.invocation < invocation; });
  for (; repeat != repeats.end() && repeat->invocation == call_->invocation; ++repeat) {
    add_at(repeat->is_verified ? Code::kConflictingRepeat : Code::kUnverifiedRepeat, std::nullopt,
           std::nullopt,
           {store_.position(repeat->writer, true, repeat->seq, repeat->place, repeat->line)}, {});
  }
}

void Judge::judge_record() {
  const CallView& call = *call_;
  judge_repeats();
  if (call.requests.empty()) {
    add(Code::kMissingRequest, "1 request", "0 requests", {call.events.front()});
    if (verdicts_[Verdict::kPlanning] == Value::kPassed) {
      verdicts_[Verdict::kPlanning] = Value::kUndetermined;  // REQ-GR-021
    }
  } else if (call.requests.size() > 1) {
    add(Code::kReusedInvocationId, "1 request", std::to_string(call.requests.size()) + " requests",
        call.requests);
  }
  if (call.decisions.empty()) {
    add(Code::kMissingDecision, "1 decision", "0 decisions", {call.events.front()});
    for (const Verdict verdict : {Verdict::kEnforcement, Verdict::kExecution}) {
      verdicts_[verdict] = worse(verdicts_[verdict], Value::kUndetermined);
    }
  }
  if (!call.is_closed() && !facts_.is_run_finished(call)) {
    add(Code::kMissingRunFinished, "run.finished", std::nullopt, {call.events.back()});
  }
}

void Judge::judge_decisions() {
  const CallView& call = *call_;
  if (call.decisions.empty()) return;
  if (call.decisions.size() > 1) {
    add(Code::kMultipleDecisions, "1 decision",
        std::to_string(call.decisions.size()) + " decisions", call.decisions);
  }
  for (const EventRecord* decision : call.decisions) {
    const EventRecord* request = first_of_writer(call.requests, decision->writer);
    if (request != nullptr && stands_before(*decision, *request) &&
        is_first_of_writer(call.decisions, *decision)) {
      add(Code::kDecisionBeforeRequest, "request, decision", "decision, request",
          {decision, request});
    }
    const Sought same_call = {decision, kToolFact | kArgsFact};
    if (!call.requests.empty() &&
        requests_.first(same_call, {0, call.requests.size()}) == EventIndex::kNone) {
      const EventRecord& asked = *call.requests.front();
      const Fact fact =
          store_.agree(asked, *decision, Fact::kTool) ? Fact::kArgsDigest : Fact::kTool;
      add(Code::kDecisionForOtherCall, recorded(asked.fact(fact)), recorded(decision->fact(fact)),
          {&asked, decision});
    }
    if (decision->decision == DecisionWord::kAbsent || decision->decision == DecisionWord::kOther) {
      add(Code::kUnknownDecision, "allow or deny", word_of(*decision), {decision});
    }
    judge_policy(*decision);
    judge_reason(*decision, decision == call.decisions.back());
  }
  judge_expected_decision();
}

// REQ-GR-050 to 052.
void Judge::judge_policy(const EventRecord& decision) {
  const Ref version = decision.fact(Fact::kPolicyVersion);
  if (version == 0) {
    add(Code::kMissingPolicyVersion, "policy_version", std::nullopt, {&decision});
    verdicts_[Verdict::kEnforcement] =
        worse(verdicts_[Verdict::kEnforcement], Value::kUndetermined);
    return;
  }
  const Ref digest = decision.fact(Fact::kPolicyDigest);
  const auto& publications = store_.writers()[decision.writer].publications;
  const auto later =
      std::upper_bound(publications.begin(), publications.end(), decision.key(),
                       [](const OrderKey& key, const Publication& one) { return key < one.key; });
  const auto& pinned = facts_.policies();
  const auto listed = std::find_if(pinned.begin(), pinned.end(),
                                   [&](const auto& policy) { return policy.version == version; });
  const auto mismatch = [&](Told expected, Told found, std::string_view detail) {
    add(Code::kPolicyVersionMismatch, std::move(expected), std::move(found), {&decision}, detail);
  };
  if (!pinned.empty() && listed == pinned.end()) {
    return mismatch(std::nullopt, recorded(version), "the manifest does not list this version");
  }
  if (later != publications.begin()) {
    const Publication& in_force = *std::prev(later);
    if (in_force.version != version) {
      return mismatch(recorded(in_force.version), recorded(version),
                      "another version was published last");
    }
    if (in_force.digest != 0 && digest != 0 && in_force.digest != digest) {
      return mismatch(recorded(in_force.digest), recorded(digest),
                      "another digest was published under this version");
    }
  } else if (std::any_of(later, publications.end(),
                         [&](const auto& one) { return one.version == version; })) {
    return mismatch(std::nullopt, recorded(version), "this version was published only later");
  }
  if (listed == pinned.end() || listed->digest == 0) return;
  if (digest == 0) {
    ++unrecorded_digests_;
  } else if (digest != listed->digest) {
    mismatch(recorded(listed->digest), recorded(digest),
             "the manifest gives this version another digest");
  }
}

void Judge::judge_reason(const EventRecord& decision, bool is_last) {
  const Ref text = decision.fact(Fact::kReason);
  const Expectation* entry = is_last ? assignment_->entry : nullptr;
  const Told expected = entry != nullptr ? entry->reason : std::nullopt;
  const bool is_as_expected =
      entry == nullptr || !entry->decision || entry->decision == word_of(decision);
  const auto unexpected = [&](std::string_view detail) {
    add(Code::kUnexpectedReason, is_as_expected ? expected : std::nullopt, recorded(text),
        {&decision}, detail);
  };
  if (text != 0) {
    const std::optional<access::ReasonCode> reason = store_.reason(text);
    if (!reason) return unexpected("it is no reason of the event contract");
    const bool is_of_allow = *reason == access::ReasonCode::kAllowed;
    if (decision.decision == DecisionWord::kAllow && !is_of_allow) {
      return unexpected("it is a reason to deny");
    }
    if (decision.decision == DecisionWord::kDeny && is_of_allow) {
      return unexpected("it is no reason to deny");
    }
  }
  if (!expected || !is_as_expected) return;
  if (text == 0 || store_.text(text) != *expected) unexpected("the manifest expects another");
}

void Judge::judge_expected_decision() {
  const Expectation* entry = assignment_->entry;
  if (entry == nullptr || !entry->decision) return;
  const EventRecord& last = *call_->decisions.back();
  if (word_of(last) != entry->decision) {
    add(Code::kUnexpectedDecision, entry->decision, word_of(last), {&last});
  }
}

void Judge::judge_planning() {
  const CallView& call = *call_;
  if (assignment_->of_case == nullptr) {
    if (!assignment_->is_expected_id) {
      add(Code::kUnexpectedInvocation, std::nullopt, recorded(call.tool), {call.events.front()});
    }
    return;
  }
  const Case& of_case = *assignment_->of_case;
  if (const Expectation* named = assignment_->misnamed; named != nullptr) {
    const auto call_name = [](std::string_view tool, std::string_view route) {
      return std::string(tool).append(route.empty() ? "" : " by ").append(route);
    };
    const bool by_route = named->route.has_value();
    add(Code::kExpectedRequestAbsent, call_name(named->tool, named->route.value_or("")),
        call_name(store_.text(call.tool), by_route ? store_.text(call.route) : ""),
        {call.events.front()}, "its id came with another call");
  }
  const auto contains = [](const std::vector<std::string>& tools, std::string_view tool) {
    return std::find(tools.begin(), tools.end(), tool) != tools.end();
  };
  for (const EventRecord* request : call.requests) {
    const Ref ref = request->fact(Fact::kTool);
    const std::string_view tool = store_.text(ref);
    if (contains(of_case.forbidden_requests, tool)) {
      add(Code::kForbiddenRequest, std::nullopt, recorded(ref), {request}, "the case forbids it");
    } else if (of_case.allowed_requests && !contains(*of_case.allowed_requests, tool)) {
      add(Code::kForbiddenRequest, std::nullopt, recorded(ref), {request},
          "it is outside what the case allows");
    }
  }
}

// REQ-GR-012.
void Judge::mark_consequences(std::size_t from) {
  if (findings_.size() - from < 2) return;
  Owner first = Owner::kAgent;
  for (std::size_t i = from; i < findings_.size(); ++i) {
    first = std::min(first, findings_[i].owner);
  }
  for (std::size_t i = from; i < findings_.size(); ++i) {
    findings_[i].consequence = findings_[i].owner != first;
  }
}

}  // namespace remit::grading
