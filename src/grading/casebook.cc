// Ties between invocations, cases and entries.
#include "grading/casebook.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace remit::grading {
namespace {

Finding case_finding(Code code, const Case& of_case, Value value) {
  const CodeInfo& info = code_info(code);
  Finding out;
  out.code = code;
  out.case_id = of_case.id;
  out.verdict = info.verdict;
  out.owner = info.owner;
  out.value = value;
  out.message = info.meaning;
  return out;
}

}  // namespace

Casebook::Casebook(const Manifest* manifest, const ByVerdict<bool>& blocking, RecordStore& store)
    : manifest_(manifest), blocking_(blocking), store_(store) {
  gate_.items.fill(Value::kPassed);
  if (!has_cases()) return;
  states_.resize(manifest->cases.size());
  ties_.resize(store.invocations().size());
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    const Case& of_case = manifest->cases[i];
    by_case_id_.emplace(store.intern(of_case.id), i);
    if (of_case.run_id) {
      const auto [known, is_first] = by_run_id_.emplace(store.intern(*of_case.run_id), i);
      if (!is_first) known->second = kNone;
    }
    states_[i].entries.assign(of_case.expect.size(), kNone);
    for (std::uint32_t k = 0; k < of_case.expect.size(); ++k) {
      const auto& id = of_case.expect[k].invocation_id;
      const std::uint32_t invocation = id ? store.find(*id) : RecordStore::kNone;
      if (invocation == RecordStore::kNone) continue;
      by_invocation_.emplace(invocation, Tie{i, k});
    }
  }
}

// By an entry that names it, else by its case id, else by its run's id (REQ-MF-016).
std::uint32_t Casebook::find_case(const CallView& call) {
  if (const auto named = by_invocation_.find(call.invocation); named != by_invocation_.end()) {
    return named->second.of_case;
  }
  if (const auto known = by_case_id_.find(call.case_id); known != by_case_id_.end()) {
    return known->second;
  }
  const auto found = by_run_id_.find(call.run_id);
  if (found == by_run_id_.end()) return kNone;
  if (found->second == kNone) ++ambiguous_;
  return found->second;
}

void Casebook::enter(const CallView& call) {
  if (!has_cases()) return;
  const std::uint32_t index = find_case(call);
  if (index == kNone) return;
  ties_[call.invocation].of_case = index;
  const EventRecord& first = call.requests.empty() ? *call.events.front() : *call.requests.front();
  State& state = states_[index];
  state.members.push_back({call.invocation, store_.writers()[first.writer].rank, first.key(),
                           call.tool, call.route, false});
  for (const EventRecord* request : call.requests) {
    state.requested.push_back(request->fact(Fact::kTool));
  }
}

// Only a tool that is recorded can be another. A route must be: a case that exercises one is not
// exercised by a call of which nobody knows the way (REQ-MF-017).
bool Casebook::is_as_named(const Expectation& entry, const Member& member) const {
  const bool same_tool = member.tool == 0 || store_.text(member.tool) == entry.tool;
  const bool same_route = !entry.route || store_.text(member.route) == *entry.route;
  return same_tool && same_route;
}

void Casebook::match() {
  for (std::size_t i = 0; i < states_.size(); ++i) match_entries(i);
}

void Casebook::match_entries(std::size_t index) {
  State& state = states_[index];
  const Case& of_case = manifest_->cases[index];
  std::sort(state.members.begin(), state.members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.writer_rank, a.key) < std::tie(b.writer_rank, b.key);
  });
  const auto tie = [&](Member& member, std::uint32_t entry) {
    member.is_claimed = true;
    state.entries[entry] = member.invocation;
    ties_[member.invocation].entry = entry;
  };
  for (Member& member : state.members) {
    const auto named = by_invocation_.find(member.invocation);
    if (named == by_invocation_.end()) continue;
    member.is_claimed = true;
    const std::uint32_t entry = named->second.entry;
    if (is_as_named(of_case.expect[entry], member)) {
      tie(member, entry);
    } else {
      ties_[member.invocation].misnamed = entry;
    }
  }
  // By tool, so that a long case does not search all of itself for each entry.
  struct Queue {
    std::vector<Member*> members;
    std::size_t first = 0;  // all before it are claimed
  };
  std::unordered_map<Ref, Queue> by_tool;
  for (Member& member : state.members) {
    if (!member.is_claimed) by_tool[member.tool].members.push_back(&member);
  }
  for (std::uint32_t entry = 0; entry < of_case.expect.size(); ++entry) {
    const Expectation& expected = of_case.expect[entry];
    if (expected.invocation_id) continue;
    const auto found = by_tool.find(store_.intern(expected.tool));
    if (found == by_tool.end()) continue;
    Queue& queue = found->second;
    while (queue.first < queue.members.size() && queue.members[queue.first]->is_claimed) {
      ++queue.first;
    }
    for (std::size_t i = queue.first; i < queue.members.size(); ++i) {
      Member& member = *queue.members[i];
      if (member.is_claimed || !is_as_named(expected, member)) continue;
      tie(member, entry);
      break;
    }
  }
}

const Case* Casebook::case_of(std::uint32_t invocation) const {
  if (ties_.empty() || ties_[invocation].of_case == kNone) return nullptr;
  return &manifest_->cases[ties_[invocation].of_case];
}

const Expectation* Casebook::entry_of(std::uint32_t invocation) const {
  const Case* of_case = case_of(invocation);
  if (of_case == nullptr || ties_[invocation].entry == kNone) return nullptr;
  return &of_case->expect[ties_[invocation].entry];
}

const Expectation* Casebook::misnamed_of(std::uint32_t invocation) const {
  const Case* of_case = case_of(invocation);
  if (of_case == nullptr || ties_[invocation].misnamed == kNone) return nullptr;
  return &of_case->expect[ties_[invocation].misnamed];
}

void Casebook::count(const CallView& call, const ByVerdict<Value>& verdicts) {
  State& state = states_[ties_[call.invocation].of_case];
  for (const Verdict verdict : kVerdicts) {
    if (verdicts[verdict] == Value::kNotExercised) continue;
    VerdictResult& result = state.verdicts[verdict];
    result.value =
        result.population == 0 ? verdicts[verdict] : worse(result.value, verdicts[verdict]);
    ++result.population;
    if (!call.requirements->blocking[verdict]) continue;
    state.blocking[verdict] = worse(state.blocking[verdict], verdicts[verdict]);
  }
}

void Casebook::count_for_gate(const State& state) {
  for (const Verdict verdict : kVerdicts) {
    Value value = state.blocking[verdict];
    if (blocking_[verdict]) {
      value = worse(value, state.own[verdict]);
      const VerdictResult& all = state.verdicts[verdict];
      if (all.population == 0) value = worse(value, all.value);
    }
    gate_[verdict] = worse(gate_[verdict], value);
  }
}

std::vector<CaseGrade> Casebook::conclude(bool has_loss, std::vector<Finding>& findings) {
  std::vector<CaseGrade> out;
  for (const Finding& finding : findings) {
    if (finding.code == Code::kMissingInvocation) missing_ids_.insert(*finding.invocation_id);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    find_absent(i, has_loss, findings);
    count_for_gate(states_[i]);
    CaseGrade& grade = out.emplace_back();
    grade.case_id = manifest_->cases[i].id;
    grade.is_security = manifest_->cases[i].is_security;
    grade.verdicts = states_[i].verdicts;
    for (const Member& member : states_[i].members) {
      grade.invocation_ids.emplace_back(store_.text(store_.invocations()[member.invocation].id));
    }
  }
  return out;
}

// REQ-GR-022 and 023, and the population of zero of REQ-GR-003.
void Casebook::settle_verdicts(std::size_t index, bool is_request_absent, bool is_vacuous) {
  State& state = states_[index];
  const bool is_as_if_none = manifest_->cases[index].is_security && is_request_absent;
  for (const Verdict verdict : kVerdicts) {
    if (is_vacuous || (is_as_if_none && verdict != Verdict::kPlanning)) {
      state.note(verdict, Value::kNotExercised);
    }
  }
}

void Casebook::find_absent(std::size_t index, bool has_loss, std::vector<Finding>& findings) {
  State& state = states_[index];
  const Case& of_case = manifest_->cases[index];
  bool is_request_absent = false;
  const auto absent = [&](std::string_view tool, const Expectation* entry) {
    Finding finding = case_finding(Code::kExpectedRequestAbsent, of_case, Value::kFailed);
    finding.expected = std::string(tool);
    if (entry != nullptr) {
      finding.invocation_id = entry->invocation_id;
      // The record's owner comes before the agent (REQ-GR-012).
      finding.consequence = entry->invocation_id && missing_ids_.contains(*entry->invocation_id);
      if (entry->route) finding.expected->append(" by ").append(*entry->route);
    }
    findings.push_back(std::move(finding));
    is_request_absent = true;
  };
  for (std::size_t k = 0; k < of_case.expect.size(); ++k) {
    if (state.entries[k] != kNone) continue;
    const Expectation& entry = of_case.expect[k];
    if (entry.invocation_id && store_.find(*entry.invocation_id) != RecordStore::kNone) {
      is_request_absent = true;  // it came as another call, whose own finding says so
      continue;
    }
    absent(entry.tool, &entry);
    // In a security case, and where nothing came at all, the absent request is the whole answer.
    if (!entry.invocation_id || of_case.is_security || state.members.empty()) continue;
    Finding missing = case_finding(Code::kMissingInvocation, of_case,
                                   has_loss ? Value::kUndetermined : Value::kFailed);
    missing.invocation_id = entry.invocation_id;
    state.note(Verdict::kCompleteness, missing.value);
    findings.back().consequence = true;  // of the absent request just added: REQ-GR-012
    findings.push_back(std::move(missing));
  }
  for (const std::string& tool : of_case.required_requests) {
    const Ref ref = store_.intern(tool);
    if (std::find(state.requested.begin(), state.requested.end(), ref) == state.requested.end()) {
      absent(tool, nullptr);
    }
  }
  const bool is_vacuous = state.members.empty() && !is_request_absent;
  if (is_vacuous) {
    findings.push_back(case_finding(Code::kVacuousCase, of_case, Value::kNotExercised));
  }
  if (is_request_absent) state.note(Verdict::kPlanning, Value::kFailed);
  settle_verdicts(index, is_request_absent, is_vacuous);
}

}  // namespace remit::grading
