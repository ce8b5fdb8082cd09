// The rules of one invocation: how findings are made, the record, planning.
#include "grading/judge.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "grading/counted.h"

namespace remit::grading {

namespace {

// `a, b, c` of the fields that are bits of `fields`.
std::string names_of(std::uint64_t fields) {
  std::string out;
  for (; fields != 0; fields &= fields - 1) {
    const auto field = static_cast<event::Field>(__builtin_ctzll(fields));
    out.append(out.empty() ? "" : ", ").append(event::field_name(field));
  }
  return out;
}

}  // namespace

ByVerdict<Value> Judge::judge(const CallView& call, const Assignment& assignment) {
  call_ = &call;
  requirements_ = call.requirements;
  assignment_ = &assignment;
  const bool expects_shadow = requirements_->expects_shadow;
  requests_.reset(call.requests, expects_shadow);
  decisions_.reset(call.decisions, expects_shadow);
  starts_.reset(call.starts, expects_shadow);
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

Finding& Judge::add(Code code, Told expected, Told recorded, const Events& events,
                    std::string_view detail) {
  std::vector<Position> positions;
  for (const EventRecord* event : events) {
    positions.push_back(store_.position(*event));
  }
  return add_at(code, std::move(expected), std::move(recorded), std::move(positions), detail);
}

Finding& Judge::add_at(Code code, Told expected, Told recorded, std::vector<Position> positions,
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
  return findings_.emplace_back(std::move(finding));
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
  for (const Repeat& repeat : store_.repeats_of(call_->invocation)) {
    add_at(repeat.is_verified ? Code::kConflictingRepeat : Code::kUnverifiedRepeat, std::nullopt,
           std::nullopt,
           {store_.position(repeat.writer, true, repeat.seq, repeat.place, repeat.line)}, {});
  }
}

void Judge::judge_record() {
  const CallView& call = *call_;
  judge_repeats();
  for (const Sighting& one : assignment_->sightings) {
    add_at(one.code, std::nullopt, one.what, {one.position}, one.detail()).lines = one.told_lines();
  }
  const Bounds& requests = requirements_->request;
  const auto told = [](std::size_t number) { return counted(number, "request", "requests"); };
  if (call.requests.size() < requests.at_least) {
    add(Code::kMissingRequest, bounds_text(requests, "request", "requests"),
        told(call.requests.size()), {call.events.front()});
    if (verdicts_[Verdict::kPlanning] == Value::kPassed) {
      verdicts_[Verdict::kPlanning] = Value::kUndetermined;  // REQ-GR-021
    }
  } else if (!requests.admits(call.requests.size())) {
    add(Code::kReusedInvocationId, bounds_text(requests, "request", "requests"),
        told(call.requests.size()), call.requests);
  } else if (call.requests.size() > 1) {
    judge_reuse();
  }
  if (call.decisions.size() < requirements_->decision.at_least) {
    add(Code::kMissingDecision, bounds_text(requirements_->decision, "decision", "decisions"),
        counted(call.decisions.size(), "decision", "decisions"), {call.events.front()});
    doubt(Verdict::kEnforcement);
    doubt(Verdict::kExecution);
  } else if (call.decisions.empty()) {
    verdicts_[Verdict::kEnforcement] = Value::kNotExercised;  // REQ-GR-026
  }
  judge_fields();
  if (!call.is_closed() && !facts_.is_run_finished(call)) {
    add(Code::kMissingRunFinished, "run.finished", std::nullopt, {call.events.back()});
  }
}

// REQ-CT-026, REQ-GR-100, REQ-GR-101.
void Judge::judge_fields() {
  constexpr auto bit_of = [](event::Field field) {
    return std::uint64_t{1} << static_cast<unsigned>(field);
  };
  for (const EventRecord* event : call_->events) {
    std::uint64_t wanted = requirements_->required_fields[static_cast<std::size_t>(event->kind)];
    if (event->kind == event::EventKind::kAuthorizationDecision) {
      wanted &= ~bit_of(event::Field::kPolicyVersion);  // has a code of its own
      if (event->decision == DecisionWord::kDeny) wanted |= bit_of(event::Field::kReason);
    }
    const std::uint64_t missing = wanted & ~event->shape->fields;
    if (missing != 0) add(Code::kMissingField, names_of(missing), std::nullopt, {event});
  }
  if (call_->tool == 0) {
    add(Code::kMissingField, "tool", std::nullopt, {call_->events.front()},
        "no event of the invocation names its tool");
  }
}

// REQ-GR-107: two whole sequences of one attempt, each as early as it can be.
void Judge::judge_reuse() {
  const Events& events = call_->events;
  for (std::size_t from = 0; from < events.size();) {
    const Range log = range_of_writer(store_, events, events[from]->writer);
    from = log.to;
    // For each place the next of a kind at or behind it, else the end.
    const auto next_of = [&](event::EventKind kind) {
      std::vector<std::size_t> next(log.to - log.from + 1, log.to);
      for (std::size_t at = log.to; at > log.from; --at) {
        const std::size_t slot = at - 1 - log.from;
        next[slot] = events[at - 1]->kind == kind ? at - 1 : next[slot + 1];
      }
      return next;
    };
    const auto decision = next_of(event::EventKind::kAuthorizationDecision);
    const auto start = next_of(event::EventKind::kExecutorStart);
    const auto finish = next_of(event::EventKind::kExecutorFinish);
    std::unordered_map<std::int64_t, std::size_t> ends;  // of each attempt's last whole sequence
    for (std::size_t at = log.from; at < log.to; ++at) {
      if (events[at]->kind != event::EventKind::kToolRequest) continue;
      const auto before = ends.find(events[at]->number());
      if (before != ends.end() && at < before->second) continue;
      std::size_t end = at;
      for (const auto* next : {&decision, &start, &finish}) end = (*next)[end - log.from];
      if (end == log.to) break;
      if (before != ends.end()) {
        add(Code::kReusedInvocationId, "1 call", "2 calls", {events[before->second], events[at]},
            "a whole call stands behind another");
        return;
      }
      ends.emplace(events[at]->number(), end);
    }
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

// REQ-GR-012, REQ-GR-019.
void Judge::mark_consequences(std::size_t from) {
  owner_.reset();
  if (findings_.size() == from) return;
  const std::span<Finding> own = std::span(findings_).subspan(from);
  const bool has_requests_only = call_->requests.size() == call_->events.size();
  const bool may_be_lost =
      has_requests_only && std::ranges::any_of(own, [](const Finding& one) {
        return one.code == Code::kMissingDecision && one.value == Value::kUndetermined;
      });
  const auto first_of = [&](bool passes_over) {
    std::optional<Owner> first;
    for (const Finding& one : own) {
      const bool is_open = one.value == Value::kUndetermined && one.owner == Owner::kObservability;
      if (passes_over && is_open) continue;
      first = first ? std::min(*first, one.owner) : one.owner;
    }
    return first;
  };
  owner_ = first_of(may_be_lost);
  if (!owner_) owner_ = first_of(false);
  for (Finding& one : own) {
    one.consequence = one.owner != *owner_;
    one.is_of_form = may_be_lost &&
                     (one.code == Code::kMissingDecision || one.code == Code::kMissingRunFinished);
  }
}

}  // namespace remit::grading
