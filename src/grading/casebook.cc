// Ties between invocations, cases and entries.
#include "grading/casebook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
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

Casebook::Casebook(const Manifest* manifest, const ByVerdict<bool>& blocking,
                   const RecordStore& store)
    : manifest_(manifest), blocking_(blocking), store_(store) {
  gate_.items.fill(Value::kPassed);
  if (!has_cases()) return;
  states_.resize(manifest->cases.size());
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    const Case& of_case = manifest->cases[i];
    by_case_id_.emplace(of_case.id, i);
    if (of_case.run_id) {
      const auto [known, is_first] = by_run_id_.emplace(*of_case.run_id, i);
      if (!is_first) known->second = kNone;
    }
    states_[i].is_matched.assign(of_case.expect.size(), false);
    for (std::uint32_t k = 0; k < of_case.expect.size(); ++k) {
      const Expectation& entry = of_case.expect[k];
      if (entry.invocation_id) {
        by_id_.emplace(*entry.invocation_id, Claim{i, k});
        continue;
      }
      ++states_[i].wanted[entry.tool];
      if (entry.route) states_[i].routes.insert(*entry.route);
    }
  }
}

// By an entry that names it, else by its case id, else by its run's id (REQ-MF-016).
std::uint32_t Casebook::find_case(const CallView& call) const {
  if (const auto named = by_id_.find(call.id); named != by_id_.end()) return named->second.of_case;
  const auto by_case = by_case_id_.find(store_.text(call.case_id));
  if (call.case_id != 0 && by_case != by_case_id_.end()) return by_case->second;
  const auto by_run = by_run_id_.find(store_.text(call.run_id));
  return call.run_id != 0 && by_run != by_run_id_.end() ? by_run->second : kNone;
}

void Casebook::enter(const CallView& call) {
  if (!has_cases()) return;
  const std::uint32_t index = find_case(call);
  if (index == kNone) {
    ambiguous_ += call.run_id != 0 && by_run_id_.contains(store_.text(call.run_id)) ? 1U : 0U;
    return;
  }
  const EventRecord& first = call.requests.empty() ? *call.events.front() : *call.requests.front();
  const Rank rank{store_.writers()[first.writer].rank, first.key()};
  State& state = states_[index];
  state.ids.emplace_back(rank, call.id);
  const Case& of_case = manifest_->cases[index];
  for (const EventRecord* request : call.requests) {
    const std::string_view tool = store_.text(request->fact(Fact::kTool));
    const auto& required = of_case.required_requests;
    if (std::find(required.begin(), required.end(), tool) != required.end()) {
      state.requested.emplace(tool);
    }
  }
  const auto named = by_id_.find(call.id);
  if (named == by_id_.end()) {
    if (!of_case.expect.empty() && call.tool != 0) {
      state.first.emplace(rank, Named{std::string(call.id), std::string(store_.text(call.tool)),
                                      std::string(store_.text(call.route))});
      if (state.first.size() > kFirst) state.first.erase(std::prev(state.first.end()));
    }
    offer(state, call, rank);
    return;
  }
  Claim& claim = named->second;
  claim.is_met = true;
  claim.is_misnamed = !is_as_named(of_case.expect[claim.entry], call);
  if (!claim.is_misnamed) state.is_matched[claim.entry] = true;
}

// Keeps an invocation that no entry names, if it may be among the first of its tool and route.
void Casebook::offer(State& state, const CallView& call, const Rank& rank) {
  const std::string_view tool = store_.text(call.tool);
  const auto wanted = state.wanted.find(tool);
  if (wanted == state.wanted.end()) return;
  std::optional<std::string> route;  // none for all that no entry names
  if (const auto named = state.routes.find(store_.text(call.route)); named != state.routes.end()) {
    route = *named;
  }
  Candidates& first = state.candidates[{std::string(tool), route}];
  if (first.size() == wanted->second && first.rbegin()->first < rank) return;
  first.emplace(rank, call.id);
  if (first.size() > wanted->second) first.erase(std::prev(first.end()));
}

// Only a tool that is recorded can be another. A route must be: a case that exercises one is not
// exercised by a call of which nobody knows the way (REQ-MF-017).
bool Casebook::is_as_named(const Expectation& entry, const CallView& call) const {
  const bool same_tool = call.tool == 0 || store_.text(call.tool) == entry.tool;
  const bool same_route = !entry.route || store_.text(call.route) == *entry.route;
  return same_tool && same_route;
}

void Casebook::match() {
  for (std::size_t i = 0; i < states_.size(); ++i) match_entries(i);
}

// Each entry without an id takes the first invocation of its tool, and route if it names one, that
// no entry before it took.
void Casebook::match_entries(std::size_t index) {
  State& state = states_[index];
  std::sort(state.ids.begin(), state.ids.end());
  const Case& of_case = manifest_->cases[index];
  for (std::uint32_t entry = 0; entry < of_case.expect.size(); ++entry) {
    const Expectation& expected = of_case.expect[entry];
    if (expected.invocation_id) continue;
    Candidates* best = nullptr;
    auto group = state.candidates.lower_bound({expected.tool, expected.route});
    for (; group != state.candidates.end() && group->first.first == expected.tool; ++group) {
      if (expected.route && group->first.second != *expected.route) break;
      if (group->second.empty()) continue;
      const bool is_first = best == nullptr || group->second.begin()->first < best->begin()->first;
      if (is_first) best = &group->second;
    }
    if (best == nullptr) continue;
    state.is_matched[entry] = true;
    claimed_.emplace(std::move(best->begin()->second),
                     Claim{static_cast<std::uint32_t>(index), entry});
    best->erase(best->begin());
  }
  state.candidates.clear();
}

Casebook::Tie Casebook::tie_of(const CallView& call) const {
  const std::uint32_t index = has_cases() ? find_case(call) : kNone;
  if (index == kNone) return {};
  Tie tie{&manifest_->cases[index]};
  if (const auto named = by_id_.find(call.id); named != by_id_.end()) {
    const Expectation* entry = &tie.of_case->expect[named->second.entry];
    (named->second.is_misnamed ? tie.misnamed : tie.entry) = entry;
  } else if (const auto found = claimed_.find(std::string(call.id)); found != claimed_.end()) {
    tie.entry = &tie.of_case->expect[found->second.entry];
  }
  return tie;
}

void Casebook::count(const Case& of_case, const CallView& call, const ByVerdict<Value>& verdicts) {
  State& state = states_[static_cast<std::size_t>(&of_case - manifest_->cases.data())];
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
    for (auto& [rank, id] : states_[i].ids) grade.invocation_ids.push_back(std::move(id));
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

// The first requests of the case that no entry took, of three kinds at most.
std::optional<std::string> Casebook::came_instead(const State& state,
                                                  const Expectation& entry) const {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names;
  for (const auto& [rank, call] : state.first) {
    if (claimed_.contains(call.id) || names.size() == kMost) continue;
    std::string name = call.tool;
    if (entry.route && !call.route.empty()) name.append(" by ").append(call.route);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(names, ", "));
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
      finding.recorded = came_instead(state, *entry);
    }
    findings.push_back(std::move(finding));
    is_request_absent = true;
  };
  for (std::size_t k = 0; k < of_case.expect.size(); ++k) {
    if (state.is_matched[k]) continue;
    const Expectation& entry = of_case.expect[k];
    if (entry.invocation_id && by_id_.at(*entry.invocation_id).is_met) {
      is_request_absent = true;  // it came as another call, whose own finding says so
      continue;
    }
    absent(entry.tool, &entry);
    // In a security case, and where nothing came at all, the absent request is the whole answer.
    if (!entry.invocation_id || of_case.is_security || state.ids.empty()) continue;
    Finding missing = case_finding(Code::kMissingInvocation, of_case,
                                   has_loss ? Value::kUndetermined : Value::kFailed);
    missing.invocation_id = entry.invocation_id;
    state.note(Verdict::kCompleteness, missing.value);
    findings.back().consequence = true;  // of the absent request just added: REQ-GR-012
    findings.push_back(std::move(missing));
  }
  for (const std::string& tool : of_case.required_requests) {
    if (!state.requested.contains(tool)) absent(tool, nullptr);
  }
  const bool is_vacuous = state.ids.empty() && !is_request_absent;
  if (is_vacuous) {
    findings.push_back(case_finding(Code::kVacuousCase, of_case, Value::kNotExercised));
  }
  if (is_request_absent) state.note(Verdict::kPlanning, Value::kFailed);
  settle_verdicts(index, is_request_absent, is_vacuous);
}

}  // namespace remit::grading
