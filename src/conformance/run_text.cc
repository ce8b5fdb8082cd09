// A run for people: a table of cases and routes, then what is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/shell_quoted.h"
#include "conformance/formats.h"
#include "report/finding_words.h"

namespace remit::conformance {
namespace {

std::string_view mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "ok";
    case Verdict::kKnown:
      return "known";
    case Verdict::kFailed:
      return "FAILED";
    case Verdict::kUnproven:
      return "unproven";
    case Verdict::kFault:
      return "fault";
  }
  return "fault";
}

constexpr int kColumn = 10;
constexpr std::string_view kUsualContract = "sequential";  // of `remit grade` as well

void write_table(const Run& run, std::string& out) {
  std::map<std::string, std::map<std::string, std::string_view>> cells;
  std::map<std::string, bool> routes;
  std::size_t width = 4;
  for (const TrialResult& trial : run.trials) {
    cells[trial.case_id][trial.route] = mark_of(trial.verdict);
    routes[trial.route] = true;
    width = std::max(width, trial.case_id.size());
  }
  out += fmt::format("{:<{}}", "case", width + 2);
  for (const std::string_view route : kRoutes) {
    if (routes.contains(std::string(route))) out += fmt::format("{:<{}}", route, kColumn);
  }
  while (out.ends_with(' ')) out.pop_back();
  out += "\n";
  for (const Case& one : run.cases) {
    const auto found = cells.find(one.id);
    if (found == cells.end()) continue;
    std::string line = fmt::format("{:<{}}", one.id, width + 2);
    for (const std::string_view route : kRoutes) {
      if (!routes.contains(std::string(route))) continue;
      const auto cell = found->second.find(std::string(route));
      line += fmt::format("{:<{}}", cell == found->second.end() ? "" : cell->second, kColumn);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
}

/// What is told once of several routes.
struct Told {
  std::string what, routes;
  const TrialResult* first;
};

// What did not fit, without the answers: their words differ from route to route. A finding that
// several verdicts share is told once.
std::string what_is_wrong(const TrialResult& trial) {
  std::string out;
  std::set<std::string> findings;
  if (trial.verdict == Verdict::kFault) out = "    harness fault: " + trial.fault + "\n";
  if (trial.verdict == Verdict::kUnproven) {
    out = "    as expected, but the control of the route did not pass: nothing is shown\n";
  }
  for (const Mismatch& mismatch : trial.mismatches) {
    out += fmt::format("    {}: {}\n", mismatch.what, mismatch.message);
    for (const grading::Finding& finding : mismatch.findings) {
      const std::string words = finding_words(finding);
      if (findings.insert(words).second) out += fmt::format("      {}\n", words);
    }
  }
  return out;
}

// A word as a shell takes it from a line; what would break the line is shown and not for a shell.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+";
  if (word.find_first_not_of(kPlain) == std::string::npos) return word;
  const bool is_on_one_line = std::none_of(
      word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return is_on_one_line ? shell_quoted(word) : quoted(word);
}

std::string look_at(const std::string& kept, const Case& one) {
  return fmt::format(
      "    look at it: remit grade {} --manifest {}{}\n", shell_word(kept + "/record"),
      shell_word(kept + "/manifest.json"),
      one.contract == kUsualContract ? "" : fmt::format(" --contract {}", one.contract));
}

// The routes on which a case fails in one and the same way are told together.
void write_failures(const Run& run, std::string& out) {
  for (const Case& one : run.cases) {
    std::vector<Told> told;
    for (const TrialResult& trial : run.trials) {
      if (trial.case_id != one.id || trial.verdict == Verdict::kPassed) continue;
      const std::string what = what_is_wrong(trial);
      const auto same = std::find_if(told.begin(), told.end(),
                                     [&](const auto& each) { return each.what == what; });
      if (same == told.end()) {
        told.push_back({what, trial.route, &trial});
      } else {
        same->routes += ", " + trial.route;
      }
    }
    if (told.empty()) continue;
    out += fmt::format("\n{}: {}\n  proves {}\n", one.id, one.title, one.proves);
    for (const Told& each : told) {
      out += fmt::format("  on {}:\n{}", each.routes, each.what);
      for (const Mismatch& mismatch : each.first->mismatches) {
        if (mismatch.answer.empty()) continue;
        out += fmt::format("    {} by {} was answered {}\n", mismatch.call, each.first->route,
                           mismatch.answer);
      }
      if (each.first->kept.empty()) continue;
      out += look_at(each.first->kept, one);
    }
  }
}

}  // namespace

std::string subject_words(const Run& run) {
  if (run.subject_version.empty()) return quoted(run.subject);
  return fmt::format("{} {}", quoted(run.subject), quoted(run.subject_version));
}

std::string run_text(const Run& run) {
  std::string out =
      fmt::format("{}: pack v{}, {}\n\n", subject_words(run), run.pack_version, run.pack_digest);
  write_table(run, out);
  write_failures(run, out);
  if (!run.stale.empty()) out += "\n";
  for (const KnownFailure& known : run.stale) {
    out += fmt::format("{}:{}: {} on {} passes: take it off the list\n", quoted(run.known_file),
                       known.line, known.case_id, known.route);
  }
  out += "\n";
  for (const std::string& sentence : run.scope) out += fmt::format("scope: {}\n", sentence);
  out += fmt::format(
      "{}: {} passed, {} failed, {} known, {} unproven, {}\n",
      report::counted(run.trials.size(), "trial", "trials"), run.count(Verdict::kPassed),
      run.count(Verdict::kFailed), run.count(Verdict::kKnown), run.count(Verdict::kUnproven),
      report::counted(run.count(Verdict::kFault), "harness fault", "harness faults"));
  const std::string_view words[] = {"conforms", "does not conform", "undetermined"};
  out += fmt::format("{}\n", words[static_cast<std::size_t>(run.exit_code)]);
  return out;
}

}  // namespace remit::conformance
