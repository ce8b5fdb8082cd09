// The naive verdicts, over what the naive rules found.
#include "naive_grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "naive_context.h"

namespace remit::twin {
namespace {

using grading::Criteria;
using grading::Owner;
using grading::Value;
using grading::Verdict;

Value worst_of(Value left, Value right) {
  for (const Value value : {Value::kFailed, Value::kUndetermined, Value::kNotExercised}) {
    if (left == value || right == value) return value;
  }
  return Value::kPassed;
}

std::map<std::string, Events> calls_of(const NaiveTrace& trace) {
  std::map<std::string, Events> out;
  for (const NaiveEvent& event : trace.events) {
    if (event::is_call_event(event.kind)) out[event.get(Field::kInvocationId)].push_back(&event);
  }
  for (auto& [id, events] : out) {
    std::sort(events.begin(), events.end(), [](const NaiveEvent* left, const NaiveEvent* right) {
      return std::tie(left->writer, left->order) < std::tie(right->writer, right->order);
    });
  }
  return out;
}

void judge_expected_ids(Context& context) {
  if (!context.criteria.expected_ids) return;
  const std::set<std::string> expected(context.criteria.expected_ids->begin(),
                                       context.criteria.expected_ids->end());
  for (const std::string& id : expected) {
    if (context.calls.contains(id)) continue;
    add(context, "missing_invocation", id,
        context.losses.empty() ? std::nullopt : std::optional(Value::kUndetermined));
    if (!context.criteria.manifest) add(context, "expected_request_absent", id);
  }
  if (context.criteria.manifest) return;
  for (const auto& [id, events] : context.calls) {
    if (!expected.contains(id)) add(context, "unexpected_invocation", id);
  }
}

// ---- Verdicts.

// What an invocation's verdict is before its findings of that verdict: REQ-GR-020, REQ-GR-021 and
// what a missing decision or version leaves open.
Value value_without_findings(const Context& context, const std::string& id, Verdict verdict) {
  const auto has = [&](std::string_view code) {
    return std::any_of(context.findings.begin(), context.findings.end(),
                       [&](const NaiveFinding& finding) {
                         return finding.code == code && finding.invocation == id;
                       });
  };
  if (verdict == Verdict::kPlanning) {
    const bool by_ids = context.criteria.expected_ids && !context.criteria.manifest;
    if (!by_ids && !context.case_of.contains(id)) return Value::kNotExercised;
    return has("missing_request") ? Value::kUndetermined : Value::kPassed;
  }
  if (verdict == Verdict::kCompleteness) return Value::kPassed;
  const bool is_open = has("missing_decision") ||
                       (verdict == Verdict::kEnforcement && has("missing_policy_version"));
  return is_open ? Value::kUndetermined : Value::kPassed;
}

using Values = std::map<std::pair<std::string, Verdict>, Value>;  // by invocation and verdict

Values invocation_values(const Context& context) {
  Values out;
  for (const auto& [id, events] : context.calls) {
    for (const Verdict verdict : grading::kVerdicts) {
      out[{id, verdict}] = value_without_findings(context, id, verdict);
    }
  }
  for (const NaiveFinding& finding : context.findings) {
    const auto value = out.find({finding.invocation, finding.verdict});
    if (value != out.end()) value->second = worst_of(value->second, finding.value);
  }
  return out;
}

struct Result {
  Value value = Value::kNotExercised;
  std::size_t population = 0;
};

// The worst over a population: REQ-GR-003. One invocation's not_exercised does not carry.
Result worst_over(const Values& values, const std::vector<std::string>& ids, Verdict verdict) {
  Result out;
  for (const std::string& id : ids) {
    const Value value = values.at({id, verdict});
    if (value == Value::kNotExercised) continue;
    out.value = out.population == 0 ? value : worst_of(out.value, value);
    ++out.population;
  }
  return out;
}

// REQ-GR-022, REQ-GR-023.
Result case_result(const Context& context, const Values& values, const NaiveCase& each,
                   Verdict verdict) {
  Result out = worst_over(values, each.invocations, verdict);
  const bool is_planning = verdict == Verdict::kPlanning;
  if (each.request_absent && is_planning) out.value = Value::kFailed;
  if (each.request_absent && !is_planning && each.definition->is_security) {
    out.value = worst_of(out.value, Value::kNotExercised);
  }
  for (const NaiveFinding& finding : context.findings) {
    if (finding.case_id != each.definition->id || finding.verdict != verdict) continue;
    if (!context.calls.contains(finding.invocation)) {
      out.value = worst_of(out.value, finding.value);
    }
  }
  return out;
}

Result run_result(const Context& context, const Values& values, Verdict verdict) {
  std::vector<std::string> outside;
  for (const auto& [id, events] : context.calls) {
    if (!context.case_of.contains(id)) outside.push_back(id);
  }
  Result out = worst_over(values, outside, verdict);
  bool is_exercised = out.population > 0;
  for (const NaiveCase& each : context.cases) {
    const Result result = case_result(context, values, each, verdict);
    out.value = is_exercised ? worst_of(out.value, result.value) : result.value;
    out.population += result.population;
    is_exercised = true;
  }
  if (out.population == 0) out.value = worst_of(out.value, Value::kNotExercised);
  for (const NaiveFinding& finding : context.findings) {  // REQ-GR-013
    if (finding.verdict != verdict || !finding.case_id.empty()) continue;
    if (!context.calls.contains(finding.invocation)) {
      out.value = worst_of(out.value, finding.value);
    }
  }
  return out;
}

// REQ-GR-004, REQ-GR-083; planning is advisory (REQ-CT-005).
int exit_code(const std::map<Verdict, Result>& run) {
  int out = 0;
  for (const auto& [verdict, result] : run) {
    if (verdict == Verdict::kPlanning || result.value == Value::kPassed) continue;
    if (result.value == Value::kFailed) return 1;
    out = 2;
  }
  return out;
}

// ---- Texts.

std::string value_text(std::string_view scope, Verdict verdict, Value value,
                       std::size_t population) {
  return fmt::format("{} {} {} over {}", scope, grading::verdict_name(verdict),
                     grading::value_name(value), population);
}

std::string invocation_text(std::string_view id, std::string_view case_id,
                            std::optional<Owner> owner) {
  return fmt::format("invocation {} case={} owner={}", id, case_id,
                     owner ? grading::owner_name(*owner) : "");
}

std::string finding_text(std::string_view code, std::string_view invocation,
                         std::string_view case_id, Verdict verdict, Owner owner, Value value,
                         bool consequence) {
  return fmt::format("{} invocation={} case={} {} {} {}{}", code, invocation, case_id,
                     grading::verdict_name(verdict), grading::owner_name(owner),
                     grading::value_name(value), consequence ? " consequence" : "");
}

std::string population_text(const Context& context) {
  std::size_t allowed = 0;
  std::size_t denied = 0;
  std::size_t started = 0;
  std::size_t finished = 0;
  for (const auto& [id, events] : context.calls) {
    const Events decisions = of_kind(events, EventKind::kAuthorizationDecision);
    const bool denies = std::any_of(decisions.begin(), decisions.end(), is_deny);
    allowed += any_allow(decisions) ? 1 : 0;
    denied += !any_allow(decisions) && denies ? 1 : 0;
    started += of_kind(events, EventKind::kExecutorStart).empty() ? 0 : 1;
    finished += of_kind(events, EventKind::kExecutorFinish).empty() ? 0 : 1;
  }
  const NaiveTrace& trace = context.trace;
  return fmt::format(
      "events {} extensions {} ignored fields {} repeats {} invocations {} allowed {} denied {} "
      "started {} finished {}",
      trace.events.size() - trace.extensions, trace.extensions, trace.ignored_fields,
      trace.same_repeats, context.calls.size(), allowed, denied, started, finished);
}

// REQ-GR-012: the first of the owners of an invocation's findings.
std::map<std::string, Owner> first_owners(const Context& context) {
  std::map<std::string, Owner> out;
  for (const NaiveFinding& finding : context.findings) {
    if (finding.invocation.empty()) continue;
    const auto [known, is_new] = out.emplace(finding.invocation, finding.owner);
    if (!is_new) known->second = std::min(known->second, finding.owner);
  }
  return out;
}

Judgement told(const Context& context) {
  Judgement out;
  const std::map<std::string, Owner> owners = first_owners(context);
  for (const NaiveFinding& one : context.findings) {
    const bool consequence = !one.invocation.empty() && owners.at(one.invocation) < one.owner;
    out.findings.insert(finding_text(one.code, one.invocation, one.case_id, one.verdict, one.owner,
                                     one.value, consequence));
  }
  const Values values = invocation_values(context);
  std::map<Verdict, Result> run;
  for (const Verdict verdict : grading::kVerdicts) {
    const Result& result = run[verdict] = run_result(context, values, verdict);
    out.values.insert(value_text("run", verdict, result.value, result.population));
    for (const NaiveCase& each : context.cases) {
      const Result of_case = case_result(context, values, each, verdict);
      out.values.insert(
          value_text("case " + each.definition->id, verdict, of_case.value, of_case.population));
    }
    for (const auto& [id, events] : context.calls) {
      out.values.insert(value_text("invocation " + id, verdict, values.at({id, verdict}), 1));
    }
  }
  for (const auto& [id, events] : context.calls) {
    const auto of_case = context.case_of.find(id);
    const auto owner = owners.find(id);
    out.values.insert(invocation_text(
        id,
        of_case != context.case_of.end() ? of_case->second : first_recorded(events, Field::kCaseId),
        owner != owners.end() ? std::optional(owner->second) : std::nullopt));
  }
  for (const NaiveCase& each : context.cases) {
    out.values.insert(
        fmt::format("case {} has {}", each.definition->id, fmt::join(each.invocations, " ")));
  }
  out.values.insert(fmt::format("exit code {}", exit_code(run)));
  out.population = population_text(context);
  return out;
}

}  // namespace

Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const Criteria& criteria) {
  const NaiveTrace trace = read_trace(inputs);
  Context context{trace, criteria, calls_of(trace), {}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < trace.malformed; ++i) add(context, "malformed_event", "");
  judge_logs(context);
  judge_cases(context);
  judge_repeats(context);
  for (const auto& [id, events] : context.calls) judge_invocation(context, id, events);
  judge_expected_ids(context);
  return told(context);
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
    const grading::VerdictResult& run = grade.verdicts[verdict];
    out.values.insert(value_text("run", verdict, run.value, run.population));
    for (const grading::CaseGrade& each : grade.cases) {
      const grading::VerdictResult& result = each.verdicts[verdict];
      out.values.insert(
          value_text("case " + each.case_id, verdict, result.value, result.population));
    }
    for (const grading::InvocationGrade& each : grade.invocations) {
      out.values.insert(
          value_text("invocation " + each.invocation_id, verdict, each.verdicts[verdict], 1));
    }
  }
  for (const grading::InvocationGrade& each : grade.invocations) {
    out.values.insert(invocation_text(each.invocation_id, each.case_id.value_or(""), each.owner));
  }
  for (const grading::CaseGrade& each : grade.cases) {
    out.values.insert(
        fmt::format("case {} has {}", each.case_id, fmt::join(each.invocation_ids, " ")));
  }
  out.values.insert(fmt::format("exit code {}", grade.exit_code));
  const grading::Population& p = grade.population;
  out.population = fmt::format(
      "events {} extensions {} ignored fields {} repeats {} invocations {} allowed {} denied {} "
      "started {} finished {}",
      p.events, p.ignored_events, p.ignored_fields, p.repeats, p.invocations, p.allowed, p.denied,
      p.started, p.finished);
  return out;
}

std::string difference(const Judgement& naive, const Judgement& streaming) {
  std::string out;
  const auto only = [&](std::string_view whose, const auto& left, const auto& right) {
    std::vector<std::string> lacking;
    std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(lacking));
    for (const std::string& text : lacking) out += fmt::format("only {}: {}\n", whose, text);
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
