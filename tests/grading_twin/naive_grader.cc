// The naive verdicts, over what the naive rules found.
#include "naive_grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "naive_context.h"
#include "naive_masks.h"

namespace remit::twin {
namespace {

Value worst_of(Value left, Value right) {
  for (const Value value : {Value::kFailed, Value::kUndetermined, Value::kNotExercised}) {
    if (left == value || right == value) return value;
  }
  return Value::kPassed;
}

std::map<std::string, NaiveCall> calls_of(const NaiveTrace& trace, const NaiveContract& contract) {
  std::map<std::string, NaiveCall> out;
  for (const NaiveEvent& event : trace.events) {
    if (!event::is_call_event(event.kind)) continue;
    NaiveCall& call = out[event.get(Field::kInvocationId)];
    call.id = event.get(Field::kInvocationId);
    call.events.push_back(&event);
  }
  for (auto& [id, call] : out) {
    std::sort(call.events.begin(), call.events.end(),
              [](const NaiveEvent* left, const NaiveEvent* right) {
                return std::tie(left->writer, left->order) < std::tie(right->writer, right->order);
              });
    call.required = requirements(contract, first_recorded(call.events, Field::kTool),
                                 first_recorded(call.events, Field::kRoute));
  }
  return out;
}

void judge_expected_ids(Context& context) {
  const grading::Criteria& criteria = context.criteria.criteria;
  if (!criteria.expected_ids) return;
  const std::set<std::string> expected(criteria.expected_ids->begin(),
                                       criteria.expected_ids->end());
  for (const std::string& id : expected) {
    if (context.calls.contains(id)) continue;
    What missing;
    if (!context.losses.empty()) missing.value = Value::kUndetermined;
    add(context, "missing_invocation", id, missing);
    if (!criteria.manifest) add(context, "expected_request_absent", id);
  }
  if (criteria.manifest) return;
  for (const auto& [id, call] : context.calls) {
    if (expected.contains(id)) continue;
    add(context, "unexpected_invocation", id,
        {"", first_recorded(call.events, Field::kTool), {call.events.front()}});
  }
}

// ---- Verdicts.

// What an invocation's verdict is before its findings of that verdict: REQ-GR-020, REQ-GR-021 and
// what a missing decision, version or fact leaves open.
Value value_without_findings(const Context& context, const NaiveCall& call, Verdict verdict) {
  const auto has = [&](std::string_view code) {
    return std::any_of(context.findings.begin(), context.findings.end(),
                       [&](const NaiveFinding& finding) {
                         return finding.code == code && finding.invocation == call.id;
                       });
  };
  if (verdict == Verdict::kPlanning) {
    const bool by_ids = context.criteria.criteria.expected_ids && context.manifest() == nullptr;
    if (!by_ids && !context.case_of.contains(call.id)) return Value::kNotExercised;
    return has("missing_request") ? Value::kUndetermined : Value::kPassed;
  }
  if (verdict == Verdict::kCompleteness) return Value::kPassed;
  if (has("missing_decision")) return Value::kUndetermined;
  if (verdict == Verdict::kExecution) return Value::kPassed;
  if (has("missing_policy_version") || has("unrecorded_fact")) return Value::kUndetermined;
  const bool is_decided = !call.of(EventKind::kAuthorizationDecision).empty();
  return is_decided ? Value::kPassed : Value::kNotExercised;  // REQ-GR-026
}

using Values = std::map<std::pair<std::string, Verdict>, Value>;  // by invocation and verdict

Values invocation_values(const Context& context) {
  Values out;
  for (const auto& [id, call] : context.calls) {
    for (const Verdict verdict : grading::kVerdicts) {
      out[{id, verdict}] = value_without_findings(context, call, verdict);
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
  for (const auto& [id, call] : context.calls) {
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

// What findings that belong to no seen invocation make of a verdict: REQ-GR-013.
Value worst_outside_invocations(const Context& context, Verdict verdict) {
  Value out = Value::kPassed;
  for (const NaiveFinding& finding : context.findings) {
    if (finding.verdict != verdict || context.calls.contains(finding.invocation)) continue;
    out = worst_of(out, finding.value);
  }
  return out;
}

// What the cases themselves make of a verdict, whatever their invocations do: REQ-GR-003,
// REQ-GR-022, REQ-GR-023.
Value worst_of_cases(const Context& context, const Values& values, Verdict verdict) {
  Value out = Value::kPassed;
  const bool is_planning = verdict == Verdict::kPlanning;
  for (const NaiveCase& each : context.cases) {
    if (each.request_absent && is_planning) out = worst_of(out, Value::kFailed);
    const bool is_unexercised = each.request_absent && !is_planning && each.definition->is_security;
    if (is_unexercised || worst_over(values, each.invocations, verdict).population == 0) {
      out = worst_of(out, Value::kNotExercised);
    }
  }
  return out;
}

// REQ-GR-005. Nothing for a verdict that is not asked for.
std::optional<Value> value_for_gate(const Context& context, const Values& values, Verdict verdict) {
  std::vector<std::string> blocking;
  for (const auto& [id, call] : context.calls) {
    if (call.required.blocking.at(verdict)) blocking.push_back(id);
  }
  const Result of_invocations = worst_over(values, blocking, verdict);
  const bool is_asked = of_invocations.population > 0;
  if (!base_requirements(context.criteria.contract).blocking.at(verdict)) {
    return is_asked ? std::optional(of_invocations.value) : std::nullopt;
  }
  const Value outside = worst_of(worst_outside_invocations(context, verdict),
                                 worst_of_cases(context, values, verdict));
  return worst_of(of_invocations.value, outside);
}

// REQ-GR-004, REQ-GR-083; by REQ-GR-002 a gate that asks for nothing does not pass.
int exit_code(const Context& context, const Values& values) {
  std::set<Value> asked;
  for (const Verdict verdict : grading::kVerdicts) {
    if (const auto value = value_for_gate(context, values, verdict)) asked.insert(*value);
  }
  if (asked.contains(Value::kFailed)) return 1;
  return asked == std::set<Value>{Value::kPassed} ? 0 : 2;
}

std::string gate_text(int exit_code) {
  const std::string_view gate = exit_code == 0   ? "passed"
                                : exit_code == 1 ? "failed"
                                                 : "undetermined";
  return fmt::format("gate {} exit code {}", gate, exit_code);
}

// The verdicts that block for some invocations at least.
std::string blocking_text(const NaiveContract& contract) {
  std::map<Verdict, bool> blocking = base_requirements(contract).blocking;
  for (const NaiveRule& rule : contract.rules) {
    for (const auto& [verdict, blocks] : rule.blocking) {
      if (blocks) blocking[verdict] = true;
    }
  }
  std::string out = "blocking:";
  for (const auto& [verdict, blocks] : blocking) {
    if (blocks) out += fmt::format(" {}", grading::verdict_name(verdict));
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

/// A finding as a text; of events, their places in any order.
std::string finding_text(NaiveFinding finding, bool consequence) {
  std::sort(finding.places.begin(), finding.places.end());
  return fmt::format("{} invocation={} case={} {} {} {}{} expected '{}' recorded '{}' at [{}]: {}",
                     finding.code, finding.invocation, finding.case_id,
                     grading::verdict_name(finding.verdict), grading::owner_name(finding.owner),
                     grading::value_name(finding.value), consequence ? " consequence" : "",
                     finding.expected, finding.recorded, fmt::join(finding.places, "; "),
                     finding.message);
}

std::string population_text(const Context& context) {
  std::size_t allowed = 0;
  std::size_t denied = 0;
  std::size_t would_deny = 0;
  std::size_t started = 0;
  std::size_t finished = 0;
  for (const auto& [id, call] : context.calls) {
    const Events decisions = call.of(EventKind::kAuthorizationDecision);
    bool denies = false;
    bool denies_in_shadow = false;
    for (const NaiveEvent* decision : decisions) {
      if (is_deny(decision)) (is_shadow(call, decision) ? denies_in_shadow : denies) = true;
    }
    allowed += any_allow(decisions) ? 1 : 0;
    denied += !any_allow(decisions) && denies ? 1 : 0;
    would_deny += denies_in_shadow ? 1 : 0;
    started += call.of(EventKind::kExecutorStart).empty() ? 0 : 1;
    finished += call.of(EventKind::kExecutorFinish).empty() ? 0 : 1;
  }
  const NaiveTrace& trace = context.trace;
  return fmt::format(
      "events {} extensions {} ignored fields {} repeats {} invocations {} allowed {} denied {} "
      "would deny {} started {} finished {}",
      trace.events.size() - trace.extensions, trace.extensions, trace.ignored_fields,
      trace.same_repeats, context.calls.size(), allowed, denied, would_deny, started, finished);
}

// REQ-GR-019: only requests are recorded, and a loss may explain why.
bool ends_with_its_request(const Context& context, const std::string& id) {
  const auto call = context.calls.find(id);
  if (call == context.calls.end()) return false;
  if (call->second.of(EventKind::kToolRequest).size() != call->second.events.size()) return false;
  return std::any_of(context.findings.begin(), context.findings.end(), [&](const auto& finding) {
    return finding.invocation == id && finding.code == "missing_decision" &&
           finding.value == Value::kUndetermined;
  });
}

// REQ-GR-012: the first of the owners of an invocation's findings.
std::map<std::string, Owner> first_owners(const Context& context) {
  std::map<std::string, Owner> out;
  for (const bool is_last_resort : {false, true}) {
    std::map<std::string, Owner> of_these;
    for (const NaiveFinding& finding : context.findings) {
      const bool is_open =
          finding.value == Value::kUndetermined && finding.owner == Owner::kObservability;
      const bool is_passed_over =
          !is_last_resort && is_open && ends_with_its_request(context, finding.invocation);
      if (finding.invocation.empty() || is_passed_over) continue;
      const auto [known, is_new] = of_these.emplace(finding.invocation, finding.owner);
      if (!is_new) known->second = std::min(known->second, finding.owner);
    }
    out.merge(of_these);  // what was found without the last resort stays
  }
  return out;
}

// Every text from outside that a grade shows, places apart.
std::set<std::string> texts_of(const Context& context) {
  std::set<std::string> out;
  for (const auto& [id, call] : context.calls) {
    out.insert({id, first_recorded(call.events, Field::kCaseId),
                first_recorded(call.events, Field::kTool),
                first_recorded(call.events, Field::kRoute)});
  }
  for (const NaiveCase& each : context.cases) out.insert(each.definition->id);
  for (const NaiveFinding& one : context.findings) {
    out.insert({one.invocation, one.case_id, one.expected, one.recorded});
  }
  return out;
}

NaiveFinding shown(NaiveFinding finding, const NaiveMasks& masks) {
  for (std::string* text :
       {&finding.invocation, &finding.case_id, &finding.expected, &finding.recorded}) {
    *text = masks.shown(*text);
  }
  const std::string meaning(grading::code_info(*grading::parse_code(finding.code)).meaning);
  finding.message =
      masks.sentence(finding.message, meaning + ": what else is to say shows canary ");
  return finding;
}

Judgement told(const Context& context) {
  Judgement out;
  const NaiveMasks masks(context.criteria.redaction, texts_of(context));
  const std::map<std::string, Owner> owners = first_owners(context);
  for (const NaiveFinding& one : context.findings) {
    const bool consequence = !one.invocation.empty() && owners.at(one.invocation) != one.owner;
    out.findings.insert(finding_text(shown(one, masks), consequence));
  }
  const Values values = invocation_values(context);
  for (const Verdict verdict : grading::kVerdicts) {
    const Result result = run_result(context, values, verdict);
    out.values.insert(value_text("run", verdict, result.value, result.population));
    for (const NaiveCase& each : context.cases) {
      const Result of_case = case_result(context, values, each, verdict);
      out.values.insert(value_text("case " + masks.shown(each.definition->id), verdict,
                                   of_case.value, of_case.population));
    }
    for (const auto& [id, call] : context.calls) {
      out.values.insert(
          value_text("invocation " + masks.shown(id), verdict, values.at({id, verdict}), 1));
    }
  }
  for (const auto& [id, call] : context.calls) {
    const auto of_case = context.case_of.find(id);
    const auto owner = owners.find(id);
    out.values.insert(invocation_text(
        masks.shown(id),
        masks.shown(of_case != context.case_of.end() ? of_case->second
                                                     : first_recorded(call.events, Field::kCaseId)),
        owner != owners.end() ? std::optional(owner->second) : std::nullopt));
  }
  for (const NaiveCase& each : context.cases) {
    std::vector<std::string> ids;
    for (const std::string& id : each.invocations) ids.push_back(masks.shown(id));
    out.values.insert(
        fmt::format("case {} has {}", masks.shown(each.definition->id), fmt::join(ids, " ")));
  }
  out.values.insert(gate_text(exit_code(context, values)));
  out.values.insert(blocking_text(context.criteria.contract));
  out.population = population_text(context);
  for (const std::string& sentence : scope_of(context)) {
    out.scope.push_back(masks.sentence(sentence, "a sentence that shows canary ", " is left out"));
  }
  return out;
}

NaiveFinding named(const grading::Grade& grade, const grading::Finding& finding) {
  NaiveFinding out;
  out.code = grading::code_info(finding.code).name;
  out.invocation = finding.invocation_id.value_or("");
  out.case_id = finding.case_id.value_or("");
  out.verdict = finding.verdict;
  out.owner = finding.owner;
  out.value = finding.value;
  out.expected = finding.expected.value_or("");
  out.recorded = finding.recorded.value_or("");
  out.message = finding.message;
  for (const grading::Position& at : finding.events) {
    out.places.push_back(place_text(at.source, at.at, at.by_sequence, grade.files.at(at.file),
                                    at.line, at.offset, at.bytes));
  }
  return out;
}

std::string blocking_text(const grading::Grade& grade) {
  std::string out = "blocking:";
  for (const Verdict verdict : grading::kVerdicts) {
    if (grade.blocking[verdict]) out += fmt::format(" {}", grading::verdict_name(verdict));
  }
  return out;
}

}  // namespace

What saying(std::string detail, What what) {
  what.detail = std::move(detail);
  return what;
}

// Of the manifest's case, else of what the invocation's events say.
void add(Context& context, const std::string& code, const std::string& invocation, What what) {
  const auto known = context.case_of.find(invocation);
  const auto seen = context.calls.find(invocation);
  std::string case_id;
  if (known != context.case_of.end()) {
    case_id = known->second;
  } else if (seen != context.calls.end()) {
    case_id = first_recorded(seen->second.events, Field::kCaseId);
  }
  add_case_finding(context, code, invocation, case_id, std::move(what));
}

void add_case_finding(Context& context, const std::string& code, const std::string& invocation,
                      const std::string& case_id, What what) {
  const grading::CodeInfo& info = grading::code_info(*grading::parse_code(code));
  NaiveFinding finding;
  finding.code = code;
  finding.invocation = invocation;
  finding.case_id = case_id;
  finding.verdict = info.verdict;
  finding.owner = what.owner.value_or(info.owner);
  finding.value = what.value.value_or(info.soft ? Value::kUndetermined : Value::kFailed);
  finding.expected = what.expected;
  finding.recorded = what.recorded;
  for (const NaiveEvent* event : what.events) finding.places.push_back(event->place);
  finding.message = info.meaning;
  if (!what.detail.empty()) finding.message += ": " + what.detail;
  context.findings.push_back(std::move(finding));
}

std::set<std::string> sightings_told(const grading::Grade& grade) {
  std::set<std::string> out;
  for (const grading::Finding& finding : grade.findings) {
    const std::string start = std::string(grading::code_info(finding.code).meaning) + ": ";
    const NaiveFinding one = named(grade, finding);
    if (one.places.size() != 1 || !one.message.starts_with(start)) continue;
    out.insert(one.places.front() + ": " + one.message.substr(start.size()));
  }
  return out;
}

Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const TwinCriteria& criteria,
                          const std::vector<grading::Alteration>& alterations) {
  return naive_judgement(inputs, criteria, alterations, {});
}

Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const TwinCriteria& criteria,
                          const std::vector<grading::Alteration>& alterations,
                          const std::set<std::string>& told_ways) {
  const NaiveTrace trace = read_trace(inputs);
  Context context{trace, criteria, calls_of(trace, criteria.contract), {}, {}, {}, {}, {}};
  for (const NaiveMistake& mistake : trace.malformed) {
    add(context, "malformed_event", "", saying(mistake.what, {}));
    context.findings.back().places = {mistake.place};
  }
  for (const grading::Alteration& one : alterations) {
    add(context, "evidence_altered", "", saying(one.error.to_string(), {}));
    context.findings.back().places = {place_text(one.input, 0, false, trace.first_file, 0, 0, 0)};
  }
  judge_logs(context);
  judge_cases(context);
  judge_repeats(context);
  judge_environment(context);
  for (const auto& [id, call] : context.calls) {
    judge_presence(context, call);
    judge_open(context, call);
    judge_decisions(context, call);
    judge_facts(context, call);
    judge_execution(context, call);
  }
  judge_expected_ids(context);
  judge_redaction(context, told_ways);
  return told(context);
}

Judgement reduced(const grading::Grade& grade) {
  Judgement out;
  for (const grading::Finding& finding : grade.findings) {
    out.findings.insert(finding_text(named(grade, finding), finding.consequence));
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
  out.values.insert(
      fmt::format("gate {} exit code {}", grading::gate_name(grade.gate), grade.exit_code));
  out.values.insert(blocking_text(grade));
  const grading::Population& p = grade.population;
  out.population = fmt::format(
      "events {} extensions {} ignored fields {} repeats {} invocations {} allowed {} denied {} "
      "would deny {} started {} finished {}",
      p.events, p.ignored_events, p.ignored_fields, p.repeats, p.invocations, p.allowed, p.denied,
      p.would_deny, p.started, p.finished);
  out.scope = grade.scope;
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
  if (naive.scope != streaming.scope) {
    out += fmt::format("scope, naive: {}\nscope, streaming: {}\n", fmt::join(naive.scope, "; "),
                       fmt::join(streaming.scope, "; "));
  }
  return out;
}

}  // namespace remit::twin
