// Workflow commands and Markdown.
#include "report/grade_github.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/finding_words.h"
#include "report/reading_order.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Gate;
using grading::Grade;
using grading::Position;
using grading::Value;
using grading::Verdict;

enum class Level : std::uint8_t { kError, kWarning, kNotice };
constexpr std::array<std::string_view, 3> kLevelNames = {"error", "warning", "notice"};

/// Text behind `::`, in which a line's end would end the command.
std::string command_data(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

/// The value of a property, which `,` and `:` would end as well.
std::string command_property(std::string_view text) {
  std::string out;
  for (const char c : command_data(text)) {
    if (c == ':') {
      out += "%3A";
    } else if (c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

Level level_of(const Grade& grade, const Finding& finding, bool blocks) {
  const bool is_error = finding.value == Value::kFailed && blocks && !finding.consequence &&
                        !finding.known && !grade.advisory;
  return is_error ? Level::kError : Level::kWarning;
}

Level level_of_totals(const Grade& grade) {
  if (grade.gate == Gate::kPassed) return Level::kNotice;
  return grade.gate == Gate::kFailed && !grade.advisory ? Level::kError : Level::kWarning;
}

std::string_view words_of_rank(const Finding& finding) {
  if (finding.known) return ", known by the baseline";
  return finding.consequence ? ", a consequence of what comes first" : "";
}

std::string verdict_words(const Grade& grade, Verdict verdict) {
  const grading::VerdictResult& result = grade.verdicts[verdict];
  return fmt::format("{} {} over {}{}", grading::verdict_name(verdict),
                     grading::value_name(result.value), result.population,
                     grade.blocking[verdict] ? "" : " (does not block)");
}

std::string place_properties(const Grade& grade, const Finding& finding) {
  const Position* at = first_line(finding);
  if (at == nullptr) return "";
  const std::string_view file = plain_path(grade, *at);
  if (file.empty()) return "";
  return fmt::format("file={},line={},", command_property(file), at->line);
}

void write_command(Level level, std::string_view properties, std::string_view title,
                   std::string_view text, std::string& out) {
  out += fmt::format("::{} {}title={}::{}\n", kLevelNames[static_cast<std::size_t>(level)],
                     properties, command_property(title), command_data(text));
}

void write_totals(const Grade& grade, const std::array<std::size_t, 3>& totals,
                  const std::array<std::size_t, 3>& shown, std::size_t together, std::string& out) {
  std::string text;
  for (const Verdict verdict : grading::kVerdicts) {
    text.append(text.empty() ? "" : "; ").append(verdict_words(grade, verdict));
  }
  text += fmt::format("\n{}, {} of them shown as annotations",
                      counted(grade.findings.size(), "finding", "findings"),
                      shown[0] + shown[1] + shown[2] + together);
  if (together > 0) text += fmt::format("; {} of these together as one", together);
  for (const Level level : {Level::kError, Level::kWarning}) {
    const auto i = static_cast<std::size_t>(level);
    if (totals[i] > shown[i]) {
      text += fmt::format("; {} {}s left off", totals[i] - shown[i], kLevelNames[i]);
    }
  }
  if (grade.advisory) {
    text += fmt::format("\nadvisory: the exit code is 0; without --advisory it would be {}",
                        grading::exit_code_of(grade.gate));
  }
  write_command(level_of_totals(grade), "",
                fmt::format("remit grade: {}", grading::gate_name(grade.gate)), text, out);
}

void write_annotation(const Grade& grade, const Finding& finding, Level level, std::string& out) {
  std::string title(grading::code_info(finding.code).name);
  if (finding.invocation_id) {
    title += " of " + quoted(*finding.invocation_id);
  } else if (finding.case_id) {
    title += " of case " + quoted(*finding.case_id);
  }
  std::string text =
      fmt::format("{}\nverdict {} {}, owner {}{}", sentence(finding_sentence(finding)),
                  grading::verdict_name(finding.verdict), grading::value_name(finding.value),
                  grading::owner_name(finding.owner), words_of_rank(finding));
  const Position* at = first_line(finding);
  if (at != nullptr) text += "\n" + place_words(grade, *at);
  write_command(level, place_properties(grade, finding), title, text, out);
}

/// Outside or inside text as nothing but text: every mark that Markdown, HTML or GitHub could read
/// is written as a reference to its character.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x80 || (byte >= '0' && byte <= '9') ||
                          (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                          c == ' ' || c == ',' || c == ';' || c == '(' || c == ')' || c == '"' ||
                          c == '%';
    if (is_plain) {
      out += c;
    } else {
      out += fmt::format("&#{};", byte);
    }
  }
  return out;
}

std::string_view value_mark(Value value) {
  switch (value) {
    case Value::kPassed:
      return "✅ passed";
    case Value::kFailed:
      return "❌ failed";
    case Value::kUndetermined:
      return "❔ undetermined";
    case Value::kNotExercised:
      break;
  }
  return "➖ not exercised";
}

void write_verdict_table(const Grade& grade, std::string& out) {
  out += "| Verdict | Value | Over | Blocks |\n|---|---|---|---|\n";
  for (const Verdict verdict : grading::kVerdicts) {
    const grading::VerdictResult& result = grade.verdicts[verdict];
    out += fmt::format("| {} | {} | {} | {} |\n", grading::verdict_name(verdict),
                       value_mark(result.value),
                       counted(result.population, "invocation", "invocations"),
                       grade.blocking[verdict] ? "yes" : "no");
  }
}

void write_case_table(const Grade& grade, Outlet& outlet) {
  if (grade.cases.empty()) return;
  std::string& out = outlet.text();
  out += "\n### Cases\n\n| Case | Kind | Planning | Enforcement | Execution | Completeness |\n";
  out += "|---|---|---|---|---|---|\n";
  const std::size_t listed = std::min(grade.cases.size(), kMaxSummaryCases);
  for (std::size_t i = 0; i < listed; ++i) {
    const grading::CaseGrade& one = grade.cases[i];
    out += fmt::format("| {} | {} |", markdown_text(quoted(one.case_id)),
                       one.is_security ? "security" : "task");
    for (const Verdict verdict : grading::kVerdicts) {
      out += fmt::format(" {} |", value_mark(one.verdicts[verdict].value));
    }
    out += '\n';
    outlet.drain();
  }
  if (listed < grade.cases.size()) {
    out += fmt::format("\nand {} more\n", grade.cases.size() - listed);
  }
}

void write_finding_table(const Grade& grade, Outlet& outlet) {
  if (grade.findings.empty()) return;
  std::string& out = outlet.text();
  out += fmt::format("\n### Findings: {}\n\n", grade.findings.size());
  out += "| Value | Code | Invocation | Owner | What | Where |\n|---|---|---|---|---|---|\n";
  const ReadingOrder order = reading_order(grade);
  const std::size_t room = kMaxSummaryFindings - (order.of_form.empty() ? 0 : 1);
  const std::size_t listed = std::min(order.single.size(), room);
  for (std::size_t i = 0; i < listed; ++i) {
    const Finding& finding = grade.findings[order.single[i]];
    const Position* at = first_line(finding);
    out += fmt::format("| {}{} | {} | {} | {} | {} | {} |\n", value_mark(finding.value),
                       finding.consequence ? ", a consequence" : "",
                       markdown_text(grading::code_info(finding.code).name),
                       finding.invocation_id ? markdown_text(quoted(*finding.invocation_id)) : "",
                       markdown_text(grading::owner_name(finding.owner)),
                       markdown_text(sentence(finding_sentence(finding))),
                       at == nullptr ? "" : markdown_text(place_words(grade, *at)));
    outlet.drain();
  }
  if (!order.of_form.empty()) {
    out += fmt::format("| {} | {} | | {} | {} | |\n", value_mark(Value::kUndetermined),
                       markdown_text(words_of(told_together(grade, order))),
                       grading::owner_name(grading::Owner::kObservability),
                       markdown_text(sentence(kOfFormWords)));
  }
  if (listed < order.single.size()) {
    out += fmt::format("\nand {} more, all of which the JSON report lists\n",
                       order.single.size() - listed);
  }
}

}  // namespace

void write_github_annotations(const Grade& grade, Outlet& outlet) {
  std::array<std::size_t, 3> totals{};
  std::array<std::size_t, 3> room;
  room.fill(kMaxAnnotationsPerLevel);
  --room[static_cast<std::size_t>(level_of_totals(grade))];
  const ReadingOrder order = reading_order(grade);
  if (!order.of_form.empty()) --room[static_cast<std::size_t>(Level::kWarning)];
  std::vector<std::pair<const Finding*, Level>> listed;
  for (const std::size_t i : order.single) {
    const Level level = level_of(grade, grade.findings[i], order.blocking[i]);
    const auto at = static_cast<std::size_t>(level);
    if (totals[at]++ < room[at]) listed.emplace_back(&grade.findings[i], level);
  }
  std::array<std::size_t, 3> shown{};
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = std::min(totals[i], room[i]);
  write_totals(grade, totals, shown, order.of_form.size(), outlet.text());
  for (const auto& [finding, level] : listed) {
    write_annotation(grade, *finding, level, outlet.text());
  }
  if (order.of_form.empty()) return;
  write_command(Level::kWarning, "", words_of(told_together(grade, order)), sentence(kOfFormWords),
                outlet.text());
}

void write_github_summary(const Grade& grade, Outlet& outlet) {
  std::string& out = outlet.text();
  out += fmt::format("## remit grade: {}\n\n", grading::gate_name(grade.gate));
  if (grade.advisory) {
    out += fmt::format("Advisory: the exit code is 0; otherwise it would be {}.\n\n",
                       grading::exit_code_of(grade.gate));
  }
  write_verdict_table(grade, out);
  write_case_table(grade, outlet);
  write_finding_table(grade, outlet);
  if (!grade.scope.empty()) out += "\n### Scope\n\n";
  for (const std::string& one : grade.scope) out += "- " + markdown_text(sentence(one)) + "\n";
}

}  // namespace remit::report
