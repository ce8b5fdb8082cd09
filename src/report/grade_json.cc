// Writing `remit.grade/1`.
#include "report/grade_json.h"

#include <string_view>
#include <vector>

#include "report/json_writer.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::Verdict;
using grading::VerdictResult;

/// Hands on what it wrote between any two items, however deep they stand: one finding may have as
/// many events as there are.
class Writer : public JsonWriter {
 public:
  explicit Writer(Outlet& outlet) : JsonWriter(outlet.text()), outlet_(outlet) {}
  void drain() { outlet_.drain(); }

 private:
  Outlet& outlet_;
};

void write_position(const grading::Position& position, Writer& out) {
  out.item();
  out.open('{');
  out.member(position.by_sequence ? "writer" : "input", position.source);
  if (!position.by_sequence && position.line > 0) out.plain_member("line", position.line);
  out.key(position.by_sequence ? "seq" : "byte");
  out.plain(position.at);
  out.close('}');
}

void write_finding(const Finding& finding, Writer& out) {
  out.open('{');
  out.member("code", grading::code_info(finding.code).name);
  out.key("invocation_id");
  out.text_or_null(finding.invocation_id);
  out.key("case_id");
  out.text_or_null(finding.case_id);
  out.member("verdict", grading::verdict_name(finding.verdict));
  out.member("value", grading::value_name(finding.value));
  out.member("owner", grading::owner_name(finding.owner));
  if (finding.consequence) {
    out.key("consequence");
    out.plain(true);
  }
  if (finding.known) {
    out.key("known");
    out.plain(true);
  }
  out.key("expected");
  out.text_or_null(finding.expected);
  out.key("recorded");
  out.text_or_null(finding.recorded);
  out.key("events");
  out.open('[');
  for (const grading::Position& position : finding.events) {
    write_position(position, out);
    out.drain();
  }
  out.close(']');
  out.member("message", finding.message);
  out.close('}');
}

void write_findings(const Grade& grade, const std::vector<std::size_t>& indices,
                    std::string_view indent, Writer& out) {
  out.key("findings");
  out.open('[');
  for (const std::size_t index : indices) {
    out.item_on_line(indent);
    write_finding(grade.findings[index], out);
    out.drain();
  }
  out.close(']');
}

void write_results(const grading::ByVerdict<VerdictResult>& results, Writer& out) {
  out.key("verdicts");
  out.open('{');
  for (const Verdict verdict : grading::kVerdicts) {
    out.key(grading::verdict_name(verdict));
    out.open('{');
    out.member("value", grading::value_name(results[verdict].value));
    out.key("population");
    out.plain(results[verdict].population);
    out.close('}');
  }
  out.close('}');
}

void write_invocation(const Grade& grade, const grading::InvocationGrade& one, Writer& out) {
  out.open('{');
  out.member("invocation_id", one.invocation_id);
  out.key("case_id");
  out.text_or_null(one.case_id);
  if (one.owner) out.member("owner", grading::owner_name(*one.owner));
  out.key("verdicts");
  out.open('{');
  for (const Verdict verdict : grading::kVerdicts) {
    out.member(grading::verdict_name(verdict), grading::value_name(one.verdicts[verdict]));
  }
  out.close('}');
  write_findings(grade, one.findings, "   ", out);
  out.close('}');
}

void write_case(const Grade& grade, const grading::CaseGrade& one, Writer& out) {
  out.open('{');
  out.member("case_id", one.case_id);
  out.member("kind", one.is_security ? "security" : "task");
  write_results(one.verdicts, out);
  out.key("invocations");
  out.open('[');
  for (const std::string& id : one.invocation_ids) {
    out.item();
    out.text(id);
    out.drain();
  }
  out.close(']');
  write_findings(grade, one.findings, "   ", out);
  out.close('}');
}

void write_population(const grading::Population& population, Writer& out) {
  out.key("population");
  out.open('{');
  const auto count = [&](std::string_view name, std::uint64_t value) {
    out.key(name);
    out.plain(value);
  };
  count("events", population.events);
  count("invocations", population.invocations);
  count("allowed", population.allowed);
  count("denied", population.denied);
  count("started", population.started);
  count("finished", population.finished);
  count("ignored_fields", population.ignored_fields);
  count("ignored_events", population.ignored_events);
  count("repeats", population.repeats);
  count("would_deny", population.would_deny);
  out.close('}');
}

void write_entry(const grading::KnownFinding& entry, Writer& out) {
  out.open('{');
  out.member("code", grading::code_info(entry.code).name);
  const auto key = [&](std::string_view name, const std::optional<std::string>& value) {
    if (value) out.member(name, *value);
  };
  key("case", entry.case_id);
  key("tool", entry.tool);
  key("route", entry.route);
  key("invocation", entry.invocation_id);
  out.member("owner", entry.owner);
  out.member("reason", entry.reason);
  out.member("expires", entry.expires);
  out.key("expired");
  out.plain(entry.is_expired);
  out.key("line");
  out.plain(entry.line);
  out.key("count");
  out.plain(entry.count);
  out.key("matched");
  out.plain(entry.matched);
  out.close('}');
}

void write_baseline(const grading::BaselineUse& use, Writer& out) {
  out.key("baseline");
  out.open('{');
  out.member("file", use.file);
  out.key("known");
  out.plain(use.known);
  out.key("verdicts");
  out.open('{');
  for (const Verdict verdict : grading::kVerdicts) {
    out.member(grading::verdict_name(verdict), grading::value_name(use.verdicts[verdict]));
  }
  out.close('}');
  out.key("entries");
  out.open('[');
  for (const grading::KnownFinding& entry : use.entries) {
    out.item_on_line("  ");
    write_entry(entry, out);
  }
  out.close(']');
  out.close('}');
  out.break_line();
}

}  // namespace

void write_grade_json(const Grade& grade, Outlet& outlet) {
  Writer out(outlet);
  out.open('{');
  out.member("schema", "remit.grade/1");
  out.member("gate", grading::gate_name(grade.gate));
  out.plain_member("exit_code", grade.exit_code);
  out.break_line();
  write_results(grade.verdicts, out);
  out.break_line();
  out.open_member("invocations", '[');
  for (const grading::InvocationGrade& one : grade.invocations) {
    out.item_on_line("  ");
    write_invocation(grade, one, out);
    out.drain();
  }
  out.close(']');
  out.break_line();
  out.open_member("cases", '[');
  for (const grading::CaseGrade& one : grade.cases) {
    out.item_on_line("  ");
    write_case(grade, one, out);
    out.drain();
  }
  out.close(']');
  out.break_line();
  out.open_member("findings", '[');
  for (const Finding& finding : grade.findings) {
    out.item_on_line("  ");
    write_finding(finding, out);
    out.drain();
  }
  out.close(']');
  out.break_line();
  if (grade.baseline) write_baseline(*grade.baseline, out);
  write_population(grade.population, out);
  out.break_line();
  out.open_member("scope", '[');
  for (const std::string& sentence : grade.scope) {
    out.item_on_line("  ");
    out.text(sentence);
  }
  out.close(']');
  out.close('}');
  outlet.text() += '\n';
}

}  // namespace remit::report
