// One run for each fault, reduced to a row.
#include "conformance/fault_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

// What else is wrong with the good form is for `remit conform run` to say.
constexpr std::size_t kMaxWrongTold = 10;

FaultRow row_of(const Fault& fault, const Subject& subject, const Run& run) {
  FaultRow row;
  row.fault = &fault;
  std::set<std::string> others;
  for (const TrialResult& trial : run.trials) {
    if (trial.verdict == Verdict::kFault && row.harness.empty()) row.harness = trial.fault;
    if (trial.case_id != fault.case_id) {
      if (trial.verdict == Verdict::kFailed) others.insert(trial.case_id);
      continue;
    }
    if (!contains(fault.routes, trial.route) || !contains(subject.routes, trial.route)) continue;
    (trial.verdict == Verdict::kFailed ? row.caught : row.missed).push_back(trial.route);
  }
  row.others.assign(others.begin(), others.end());
  if (row.caught.empty() && row.missed.empty()) row.missed = fault.routes;
  return row;
}

}  // namespace

bool SelfTest::passed() const {
  return good_form_passes && absent.empty() && !rows.empty() &&
         std::all_of(rows.begin(), rows.end(), [](const FaultRow& row) { return row.is_caught(); });
}

Result<SelfTest> self_test(const Pack& pack, const Subject& subject, const RunWorld& world,
                           const std::function<void(std::string_view)>& on_fault) {
  SelfTest out;
  REMIT_TRY_ASSIGN(const Run good, run_pack(pack, subject, {}, world));
  out.subject = good.subject;
  out.good_form_passes = good.exit_code == 0;
  for (const TrialResult& trial : good.trials) {
    if (trial.verdict == Verdict::kPassed || out.wrong.size() == kMaxWrongTold) continue;
    out.wrong.push_back(
        fmt::format("{} on {}: {}", trial.case_id, trial.route,
                    trial.mismatches.empty() ? trial.fault : trial.mismatches.front().message));
  }
  for (const Fault& fault : pack.faults) {
    if (!contains(good.offered_faults, fault.name)) {
      out.absent.push_back(fault.name);
      continue;
    }
    if (on_fault) on_fault(fault.name);
    RunOptions options;
    options.fault = fault.name;
    REMIT_TRY_ASSIGN(const Run run, run_pack(pack, subject, options, world));
    out.rows.push_back(row_of(fault, subject, run));
  }
  return out;
}

std::string self_test_text(const SelfTest& test) {
  std::string out =
      fmt::format("{}: without a fault {}\n", quoted(test.subject),
                  test.good_form_passes ? "everything passes" : "NOT everything passes");
  for (const std::string& line : test.wrong) out += fmt::format("  {}\n", line);
  std::size_t name_width = 5;
  std::size_t case_width = 4;
  for (const FaultRow& row : test.rows) {
    name_width = std::max(name_width, row.fault->name.size());
    case_width = std::max(case_width, row.fault->case_id.size());
  }
  out += fmt::format("  {:<{}}  {:<{}}  caught on\n", "fault", name_width, "case", case_width);
  std::size_t caught = 0;
  for (const FaultRow& row : test.rows) {
    caught += row.is_caught() ? 1 : 0;
    out += fmt::format("  {:<{}}  {:<{}}  {}", row.fault->name, name_width, row.fault->case_id,
                       case_width,
                       row.caught.empty() ? "-" : fmt::format("{}", fmt::join(row.caught, " ")));
    if (!row.missed.empty()) out += fmt::format("  NOT CAUGHT on {}", fmt::join(row.missed, " "));
    if (!row.missed.empty() && !row.others.empty()) {
      out += fmt::format(" (only by {})", fmt::join(row.others, ", "));
    }
    if (!row.harness.empty()) out += fmt::format("  harness fault: {}", row.harness);
    out += "\n";
  }
  for (const std::string& name : test.absent) {
    out += fmt::format("  {:<{}}  the subject does not offer this fault\n", name, name_width);
  }
  out += fmt::format("  {} of {} faults caught by the case made for them, on every route\n", caught,
                     test.rows.size() + test.absent.size());
  return out;
}

}  // namespace remit::conformance
