// A grade in lines of text.
#include "report/grade_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "report/finding_words.h"
#include "report/reading_order.h"

namespace remit::report {
namespace {

using grading::Code;
using grading::Finding;
using grading::Grade;
using grading::Value;
using grading::Verdict;

std::string_view ansi_of(Value value) {
  switch (value) {
    case Value::kPassed:
      return "\x1b[32m";
    case Value::kFailed:
      return "\x1b[31m";
    case Value::kUndetermined:
    case Value::kNotExercised:
      break;
  }
  return "\x1b[33m";
}

std::string painted(std::string_view text, Value value, Colour colour) {
  if (colour == Colour::kNone) return std::string(text);
  return fmt::format("{}{}\x1b[0m", ansi_of(value), text);
}

/// Pads before painting, since colours have no width.
std::string value_column(Value value, Colour colour) {
  return painted(fmt::format("{:<14}", grading::value_name(value)), value, colour);
}

void write_gate(const Grade& grade, Colour colour, std::string& out) {
  const std::string gate = painted(grading::gate_name(grade.gate), value_of(grade.gate), colour);
  out += fmt::format("gate: {}\n", gate);
  if (grade.advisory) {
    out += fmt::format("ADVISORY: the exit code is 0; without --advisory it would be {}\n",
                       grading::exit_code_of(grade.gate));
  }
}

std::string named(const grading::KnownFinding& entry) {
  std::string out(grading::code_info(entry.code).name);
  const auto key = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) out += fmt::format(", {} {}", name, quoted(*value));
  };
  key("case", entry.case_id);
  key("tool", entry.tool);
  key("route", entry.route);
  key("invocation", entry.invocation_id);
  return out;
}

/// What the baseline did, and which of its entries have to go (REQ-BL-008).
void write_baseline(const Grade& grade, std::string& out) {
  if (!grade.baseline) return;
  const grading::BaselineUse& use = *grade.baseline;
  const auto beyond = std::count_if(
      grade.findings.begin(), grade.findings.end(),
      [](const Finding& finding) { return !finding.known && finding.value == Value::kFailed; });
  out += fmt::format("\nbaseline {}: {} known, {} beyond it\n", quoted(use.file),
                     counted(use.known, "finding", "findings"), beyond);
  for (const grading::KnownFinding& entry : use.entries) {
    std::string what;
    if (entry.is_expired) {
      what = fmt::format("expired on {} and counts no more; owner {}", entry.expires,
                         quoted(entry.owner));
    } else if (entry.matched == 0) {
      what = "nothing is found of it: `remit baseline shrink` removes it if this run could show it";
    } else if (entry.matched < entry.count) {
      what = fmt::format("lower its count from {} to {}", entry.count, entry.matched);
    } else {
      continue;
    }
    out += fmt::format("  line {}: {}: {}\n", entry.line, named(entry), what);
  }
}

void write_verdicts(const Grade& grade, Colour colour, std::string& out) {
  for (const Verdict verdict : grading::kVerdicts) {
    const grading::VerdictResult& result = grade.verdicts[verdict];
    out += fmt::format("  {:<14}{}over {}{}\n", grading::verdict_name(verdict),
                       value_column(result.value, colour),
                       counted(result.population, "invocation", "invocations"),
                       grade.blocking[verdict] ? "" : ", does not block");
    if (!grade.baseline || grade.baseline->verdicts[verdict] == result.value) continue;
    out.insert(out.size() - 1, fmt::format(", {} beyond the baseline",
                                           grading::value_name(grade.baseline->verdicts[verdict])));
  }
  const grading::Population& seen = grade.population;
  out += fmt::format("\n{}, {}: {} allowed, {} denied, {} started, {} finished\n",
                     counted(seen.events, "event", "events"),
                     counted(seen.invocations, "invocation", "invocations"), seen.allowed,
                     seen.denied, seen.started, seen.finished);
  if (seen.denied == 0) return;
  const bool has_run =
      std::any_of(grade.findings.begin(), grade.findings.end(), [](const Finding& finding) {
        return finding.code == Code::kStartAfterDeny || finding.code == Code::kFinishAfterDeny;
      });
  const Value value = has_run ? Value::kFailed : Value::kPassed;
  out += fmt::format("denied work never started: {} over {}\n",
                     painted(grading::value_name(value), value, colour),
                     counted(seen.denied, "denied invocation", "denied invocations"));
}

void write_cases(const Grade& grade, Colour colour, Outlet& outlet) {
  if (grade.cases.empty()) return;
  std::string& out = outlet.text();
  out += fmt::format("\n{:<40}", "cases");
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format("{:<14}", grading::verdict_name(verdict));
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  for (const grading::CaseGrade& one : grade.cases) {
    std::string line = fmt::format(
        "  {:<36}  ",
        fmt::format("{}, {}", quoted(one.case_id, 24), one.is_security ? "security" : "task"));
    for (const Verdict verdict : grading::kVerdicts) {
      line += value_column(one.verdicts[verdict].value, colour);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
    outlet.drain();
  }
}

std::string fact(const std::optional<std::string>& value) {
  return value ? quoted(*value, 120) : "nothing";
}

void write_finding(const Grade& grade, const Finding& finding, Colour colour, std::string& out) {
  out += fmt::format("  {}  {}", painted(grading::value_name(finding.value), finding.value, colour),
                     grading::code_info(finding.code).name);
  if (finding.invocation_id) out += fmt::format("  {}", quoted(*finding.invocation_id));
  if (finding.case_id) out += fmt::format("  case {}", quoted(*finding.case_id));
  out += fmt::format("\n      {}\n", finding.message);
  if (finding.expected || finding.recorded) {
    out += fmt::format("      expected {}, recorded {}\n", fact(finding.expected),
                       fact(finding.recorded));
  }
  out += fmt::format("      verdict {}, owner {}{}\n", grading::verdict_name(finding.verdict),
                     grading::owner_name(finding.owner),
                     finding.consequence ? ", a consequence of what comes first" : "");
  if (finding.known && grade.baseline) {
    const grading::KnownFinding& entry = grade.baseline->entries[*finding.known];
    out += fmt::format("      known until {}, owner {}: {}\n", entry.expires, quoted(entry.owner),
                       quoted(entry.reason, 120));
  }
  if (finding.events.empty()) return;
  out += "      at";
  for (std::size_t i = 0; i < finding.events.size(); ++i) {
    const grading::Position& position = finding.events[i];
    if (i == 8) {
      out += fmt::format(" and {} more", finding.events.size() - i);
      break;
    }
    out += fmt::format("{} {} ", i == 0 ? "" : ",", quoted(position.source, 200));
    if (!position.by_sequence && position.line > 0) out += fmt::format("line {} ", position.line);
    out += fmt::format("{} {}", position.by_sequence ? "seq" : "byte", position.at);
  }
  out += '\n';
}

void write_findings(const Grade& grade, Colour colour, Outlet& outlet) {
  std::string& out = outlet.text();
  if (grade.findings.empty()) return;
  out += fmt::format("\nfindings: {}\n", grade.findings.size());
  const ReadingOrder order = reading_order(grade);
  const std::size_t room = kMaxListedFindings - (order.of_form.empty() ? 0 : 1);
  const std::size_t listed = std::min(order.single.size(), room);
  for (std::size_t i = 0; i < listed; ++i) {
    write_finding(grade, grade.findings[order.single[i]], colour, out);
  }
  if (listed < order.single.size()) {
    out += fmt::format("  and {} more, all of which the JSON report lists\n",
                       order.single.size() - listed);
  }
  if (order.of_form.empty()) return;
  out +=
      fmt::format("  {}  {}\n      {}; the JSON report lists each\n",
                  painted(grading::value_name(Value::kUndetermined), Value::kUndetermined, colour),
                  words_of(told_together(grade, order)), kOfFormWords);
}

}  // namespace

void write_grade_text(const Grade& grade, Colour colour, Outlet& outlet) {
  std::string& out = outlet.text();
  write_gate(grade, colour, out);
  write_verdicts(grade, colour, out);
  write_cases(grade, colour, outlet);
  write_baseline(grade, out);
  write_findings(grade, colour, outlet);
  if (!grade.scope.empty()) out += "\nscope\n";
  for (const std::string& sentence : grade.scope) out += fmt::format("  - {}\n", sentence);
}

}  // namespace remit::report
