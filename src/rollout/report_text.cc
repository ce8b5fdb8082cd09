// A rollout report in lines of text.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/rfc3339.h"
#include "report/finding_words.h"
#include "rollout/report_forms.h"

namespace remit::rollout {
namespace {

constexpr std::size_t kMaxShownPolicies = 5;
constexpr std::size_t kMaxNameShown = 64;

std::string shown(std::string_view name) {
  return name.empty() ? "-" : quoted(name, kMaxNameShown);
}

std::string ids_of(const Examples& calls) {
  std::string out;
  for (const std::string& id : calls.ids()) out += (out.empty() ? "" : ", ") + quoted(id);
  if (!out.empty() && calls.calls() > calls.ids().size()) {
    out += fmt::format(" and {} more", calls.calls() - calls.ids().size());
  }
  return out.empty() ? out : ": " + out;
}

void write_table(const std::vector<Row>& rows, RowsBy by, std::string& out) {
  struct Line {
    std::vector<std::string> cells;
  };
  std::vector<Line> lines;
  Line head;
  if (by != RowsBy::kTool) head.cells.emplace_back("route");
  if (by != RowsBy::kRoute) head.cells.emplace_back("tool");
  for (const char* cell : {"verdict", "calls", "agreed", "would deny", "would allow", "unsettled",
                           "undecided", "enforced"}) {
    head.cells.emplace_back(cell);
  }
  lines.push_back(std::move(head));
  for (const Row& row : rows) {
    Line line;
    if (by != RowsBy::kTool) line.cells.push_back(shown(row.route));
    if (by != RowsBy::kRoute) line.cells.push_back(shown(row.tool));
    line.cells.emplace_back(verdict_name(row.verdict));
    const Tally& tally = row.tally;
    const auto sum = [&](Sort left, Sort right) {
      return std::to_string(tally.of(left).calls() + tally.of(right).calls());
    };
    line.cells.push_back(std::to_string(tally.calls()));
    line.cells.push_back(sum(Sort::kAgreedAllow, Sort::kAgreedDeny));
    line.cells.push_back(std::to_string(tally.of(Sort::kWouldDeny).calls()));
    line.cells.push_back(std::to_string(tally.of(Sort::kWouldAllow).calls()));
    line.cells.push_back(std::to_string(tally.of(Sort::kUnsettled).calls()));
    line.cells.push_back(sum(Sort::kUndecided, Sort::kAgainstDenial));
    line.cells.push_back(sum(Sort::kEnforcedAllow, Sort::kEnforcedDeny));
    lines.push_back(std::move(line));
  }
  std::vector<std::size_t> widths(lines.front().cells.size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      widths[i] = std::max(widths[i], line.cells[i].size());
    }
  }
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      const bool is_last = i + 1 == line.cells.size();
      out += is_last ? line.cells[i] : fmt::format("{:<{}}  ", line.cells[i], widths[i]);
    }
    out += '\n';
  }
}

void write_policies(const Tally& tally, std::string& out) {
  if (tally.policies.empty()) return;
  std::size_t told = 0;
  out += "  policies:";
  for (const auto& [policy, calls] : tally.policies) {
    if (++told > kMaxShownPolicies) break;
    out += fmt::format("{} {}{} of {}", told == 1 ? "" : ",",
                       policy.version.empty() ? "none recorded" : quoted(policy.version),
                       policy.digest.empty() ? "" : fmt::format(" ({})", quoted(policy.digest, 24)),
                       report::counted(calls, "call", "calls"));
  }
  const std::size_t more = tally.policies.size() - std::min(told, tally.policies.size());
  if (told > kMaxShownPolicies) out += fmt::format(" and {} more", more + 1);
  out += '\n';
}

void write_calls(std::string_view what, const Examples& calls, std::string& out) {
  if (calls.calls() == 0) return;
  out += fmt::format("  {}, {}{}\n", what, report::counted(calls.calls(), "call", "calls"),
                     ids_of(calls));
}

void write_details(const Row& row, RowsBy by, std::string& out) {
  out += "\n";
  if (by != RowsBy::kTool) out += shown(row.route) + " ";
  if (by != RowsBy::kRoute) out += shown(row.tool) + " ";
  out.back() = ':';
  out += fmt::format(" {}\n", verdict_name(row.verdict));
  for (const std::string& why : row.why) out += fmt::format("  - {}\n", why);
  const Tally& tally = row.tally;
  for (const auto& [reason, calls] : tally.would_deny) {
    const auto expected = row.expected.find(reason);
    std::string mark;
    if (expected != row.expected.end()) {
      mark = expected->second == calls.calls() ? " (expected)"
                                               : fmt::format(" ({} expected)", expected->second);
    }
    write_calls(fmt::format("would deny as {}{}", reason, mark), calls, out);
  }
  for (const auto& [refusal, calls] : tally.would_allow) {
    write_calls(fmt::format("would allow what was refused, {}", refusal_name(refusal)), calls, out);
  }
  write_calls("of unknown end", tally.of(Sort::kUnsettled), out);
  write_calls("ran without a decision", tally.of(Sort::kUndecided), out);
  write_calls("ran though denied in earnest", tally.of(Sort::kAgainstDenial), out);
  write_calls("with effects that no decision explains", tally.unexplained, out);
  for (const auto& [reason, calls] : tally.denied) {
    write_calls(fmt::format("denied in earnest as {}", reason), calls, out);
  }
  write_calls("by a policy that is not asked about", tally.of(Sort::kOtherPolicy), out);
  write_policies(tally, out);
  if (tally.principals.count() > 0) {
    out += fmt::format("  principals: {}{}\n", tally.principals.is_more() ? "more than " : "",
                       tally.principals.count());
  }
  if (tally.first) {
    out += fmt::format("  decided from {} to {}\n", format_rfc3339(*tally.first),
                       format_rfc3339(*tally.last));
  }
}

void write_early(const Seen& seen, std::string& out) {
  if (seen.early.empty()) return;
  out += "\nrefused before a tool was looked up\n";
  for (const auto& [route, reasons] : seen.early) {
    for (const auto& [reason, calls] : reasons) {
      out += fmt::format("  {} {}, {}{}\n", shown(route), reason,
                         report::counted(calls.calls(), "call", "calls"), ids_of(calls));
    }
  }
}

void write_expected(const Report& report, std::string& out) {
  if (report.expected.empty()) return;
  out += "\nexpected denials\n";
  for (const ExpectedUse& use : report.expected) {
    std::string what = report::counted(use.calls, "call", "calls");
    if (use.is_expired) {
      what = fmt::format("expired on {} and counts no more", use.entry.expires);
    } else if (use.calls == 0) {
      what = "nothing came of it: remove it, or see whether it is told right";
    }
    out += fmt::format("  line {}: {}, owner {}: {}\n", use.entry.line,
                       access::reason_name(use.entry.reason), quoted(use.entry.owner), what);
  }
}

}  // namespace

void write_text(const Report& report, RowsBy by, report::Outlet& outlet) {
  std::string& out = outlet.text();
  const std::vector<Row> rows = rows_by(report, by);
  out += fmt::format("rollout: {}\n", verdict_name(report.verdict));
  for (const std::string& why : report.why) out += fmt::format("  - {}\n", why);
  for (const std::string& problem : report.seen.problems) out += fmt::format("    {}\n", problem);
  const auto ready = std::ranges::count(report.rows, Verdict::kReady, &Row::verdict);
  const auto judged = std::ranges::count_if(report.rows, [](const Row& row) {
    return row.verdict != Verdict::kEnforcing && row.verdict != Verdict::kUnused;
  });
  out += fmt::format("{}, {}; {} of {} ready\n\n",
                     report::counted(report.seen.events, "event", "events"),
                     report::counted(report.seen.calls, "call", "calls"), ready,
                     report::counted(static_cast<std::uint64_t>(judged), "pair", "pairs"));
  if (!rows.empty()) write_table(rows, by, out);
  for (const Row& row : rows) {
    write_details(row, by, out);
    outlet.drain();
  }
  write_early(report.seen, out);
  write_expected(report, out);
  out += "\nscope\n";
  for (const std::string& sentence : report.scope) out += fmt::format("  - {}\n", sentence);
}

}  // namespace remit::rollout
