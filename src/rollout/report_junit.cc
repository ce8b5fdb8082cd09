// A rollout report as tests of a continuous integration server.
#include <string>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/error.h"
#include "report/xml_text.h"
#include "rollout/report_forms.h"

namespace remit::rollout {
namespace {

/// What a server makes of a verdict.
enum class Outcome : std::uint8_t { kPassed, kFailed, kError };

Outcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReady:
    case Verdict::kEnforcing:
    case Verdict::kUnused:
      return Outcome::kPassed;
    case Verdict::kNotReady:
      return Outcome::kFailed;
    case Verdict::kNotExercised:
    case Verdict::kUndetermined:
      break;
  }
  return Outcome::kError;
}

void write_test(const std::string& name, Verdict verdict, const std::vector<std::string>& why,
                std::string& out) {
  std::string details;
  for (const std::string& one : why) details += one + "\n";
  out += fmt::format("    <testcase classname=\"remit.rollout\" name=\"{}\" time=\"0.000\">\n",
                     report::xml_escaped(name));
  const std::string_view word = verdict_name(verdict);
  switch (outcome_of(verdict)) {
    case Outcome::kPassed:
      out += fmt::format("      <system-out>{}\n{}</system-out>\n", word,
                         report::xml_escaped(details));
      break;
    case Outcome::kFailed:
      out += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", word, word,
                         report::xml_escaped(details));
      break;
    case Outcome::kError:
      out += fmt::format("      <error type=\"{}\" message=\"{}\">{}</error>\n", word, word,
                         report::xml_escaped(details));
      break;
  }
  out += "    </testcase>\n";
}

// Servers take equal names for one test: a long one is cut and told by its digest.
std::string shown(std::string_view name) {
  constexpr std::size_t kMostShown = 100;
  constexpr std::size_t kDigestBytes = 23;  // scheme and 16 digits
  if (name.size() <= kMostShown) return quoted(name, 4 * kMostShown);
  return fmt::format("{} {}", quoted(name, kMostShown),
                     digest_text(sha256(name)).substr(0, kDigestBytes));
}

std::string name_of(const Row& row, RowsBy by) {
  switch (by) {
    case RowsBy::kRoute:
      return "route " + shown(row.route);
    case RowsBy::kTool:
      return "tool " + shown(row.tool);
    case RowsBy::kPair:
      break;
  }
  return fmt::format("route {} tool {}", shown(row.route), shown(row.tool));
}

}  // namespace

void write_junit(const Report& report, RowsBy by, report::Outlet& outlet) {
  const std::vector<Row> rows = rows_by(report, by);
  std::size_t failures = 0;
  std::size_t errors = 0;
  const auto count = [&](Verdict verdict) {
    failures += outcome_of(verdict) == Outcome::kFailed ? 1U : 0U;
    errors += outcome_of(verdict) == Outcome::kError ? 1U : 0U;
  };
  for (const Row& row : rows) count(row.verdict);
  count(report.verdict);
  const std::string counts = fmt::format(
      "name=\"remit rollout\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" "
      "time=\"0.000\"",
      rows.size() + 1, failures, errors);
  std::string& out = outlet.text();
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites {}>\n  <testsuite {}>\n", counts, counts);
  write_test("rollout", report.verdict, report.why, out);
  for (const Row& row : rows) {
    write_test(name_of(row, by), row.verdict, row.why, out);
    outlet.drain();
  }
  out += "    <system-out>";
  for (const std::string& sentence : report.scope) out += report::xml_escaped(sentence) + "\n";
  out += "</system-out>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace remit::rollout
