// A run as one JSON document, `remit.conform/1` (spec/conformance.md, "Results").
#include <algorithm>

#include "conformance/formats.h"
#include "report/json_writer.h"

namespace remit::conformance {
namespace {

using report::JsonWriter;

void write_findings(const std::vector<grading::Finding>& findings, JsonWriter& out) {
  out.open_member("findings", '[');
  for (const grading::Finding& each : findings) {
    out.item();
    out.open('{');
    out.member("code", grading::code_info(each.code).name);
    out.member("value", grading::value_name(each.value));
    out.member("message", each.message);
    out.key("expected");
    out.text_or_null(each.expected);
    out.key("recorded");
    out.text_or_null(each.recorded);
    out.close('}');
  }
  out.close(']');
}

void write_texts(std::string_view name, const std::vector<std::string>& texts, JsonWriter& out) {
  out.open_member(name, '[');
  for (const std::string& each : texts) {
    out.item();
    out.text(each);
  }
  out.close(']');
}

void write_trial(const TrialResult& trial, JsonWriter& out) {
  out.item_on_line("  ");
  out.open('{');
  out.member("case", trial.case_id);
  out.member("route", trial.route);
  out.member("verdict", verdict_name(trial.verdict));
  if (trial.is_added) out.plain_member("added", true);
  if (!trial.kept.empty()) out.member("kept", trial.kept);
  if (!trial.fault.empty()) out.member("fault", trial.fault);
  if (trial.verdicts) {
    out.open_member("grade", '{');
    for (const grading::Verdict verdict : grading::kVerdicts) {
      out.member(grading::verdict_name(verdict), grading::value_name((*trial.verdicts)[verdict]));
    }
    out.close('}');
  }
  out.open_member("mismatches", '[');
  for (const Mismatch& each : trial.mismatches) {
    out.item();
    out.open('{');
    out.member("what", each.what);
    if (!each.call.empty()) out.member("call", each.call);
    out.member("message", mismatch_words(each));
    if (!each.findings.empty()) write_findings(each.findings, out);
    out.close('}');
  }
  out.close(']');
  out.close('}');
}

// A requirement is met where every trial of its cases passed, and there was one.
std::string_view state_of(const Requirement& requirement, const Run& run) {
  bool any = false;
  bool failed = false;
  bool open = false;
  for (const TrialResult& trial : run.trials) {
    if (std::find(requirement.cases.begin(), requirement.cases.end(), trial.case_id) ==
        requirement.cases.end()) {
      continue;
    }
    any = true;
    failed = failed || trial.verdict == Verdict::kFailed || trial.verdict == Verdict::kKnown;
    open = open || trial.verdict == Verdict::kFault || trial.verdict == Verdict::kUnproven;
  }
  if (failed) return "failed";
  if (!any) return "not_exercised";
  return open ? "undetermined" : "passed";
}

}  // namespace

std::string run_json(const Run& run) {
  std::string text;
  JsonWriter out(text);
  out.open('{');
  out.member("schema", "remit.conform/1");
  out.plain_member("exit_code", run.exit_code);
  out.member("subject", run.subject);
  out.member("subject_version", run.subject_version);
  out.open_member("pack", '{');
  out.member("version", run.pack_version);
  out.member("digest", run.pack_digest);
  out.close('}');
  out.break_line();
  out.open_member("requirements", '[');
  for (const Requirement& each : run.requirements) {
    out.item_on_line("  ");
    out.open('{');
    out.member("id", each.id);
    out.member("statement", each.statement);
    out.member("state", state_of(each, run));
    out.close('}');
  }
  out.close(']');
  out.break_line();
  out.open_member("trials", '[');
  for (const TrialResult& trial : run.trials) write_trial(trial, out);
  out.close(']');
  out.break_line();
  out.open_member("stale", '[');
  for (const KnownFailure& known : run.stale) {
    out.item();
    out.open('{');
    out.member("case", known.case_id);
    out.member("route", known.route);
    out.close('}');
  }
  out.close(']');
  out.open_member("not_exercised", '{');
  write_texts("routes", run.unexercised_routes, out);
  write_texts("cases", run.unexercised_cases, out);
  out.close('}');
  write_texts("scope", run.scope, out);
  out.close('}');
  text += "\n";
  return text;
}

}  // namespace remit::conformance
