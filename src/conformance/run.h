// A run of the pack against one subject, and what came of it.
//
//     PackParse parsed = parse_pack(built_in_pack_files());
//     Result<Run> run = run_pack(*parsed.pack, subject, {}, world);
//     if (!run) return complain(run.error());  // of ours: the spy's socket, a scratch file
//     print(run_text(*run));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "conformance/judgement.h"
#include "conformance/known_failures.h"
#include "conformance/pack.h"
#include "conformance/subject.h"

namespace remit::conformance {

/// What came of one case on one route. Starts at the honest value.
enum class Verdict : std::uint8_t {
  kFault,     ///< the harness failed: nothing is said of the subject
  kUnproven,  ///< as expected, but the control of the route failed, so nothing is shown
  kFailed,
  kKnown,  ///< failed, and an entry of the known failures says so
  kPassed,
};
std::string_view verdict_name(Verdict verdict);

struct TrialResult {
  std::string case_id, route;
  Verdict verdict = Verdict::kFault;
  std::vector<Mismatch> mismatches;  ///< of one that failed
  std::string fault;                 ///< what the harness says, where it failed
  std::optional<grading::ByVerdict<grading::Value>> verdicts;  ///< of the record, where graded
  bool is_added = false;  ///< a control that nobody asked for, run for what was asked for
  std::string kept;       ///< the directory of its record; empty where none was kept
};

/// What a trial was graded on and by.
struct TrialRecord {
  std::string_view case_id, route;
  std::string_view subject_events, spy_events;  ///< remit.event/1, a line each
  std::string_view manifest;                    ///< remit.manifest/1
};

struct Run {
  std::string subject, subject_version;  ///< as the driver calls them, else the subject's file
  std::string subject_file, known_file;
  std::vector<std::string> offered_faults;  ///< of a known-bad subject
  std::string pack_version, pack_digest;
  std::vector<Requirement> requirements;
  std::vector<Case> cases;          ///< those of the pack, for titles and what they prove
  std::vector<TrialResult> trials;  ///< by case, then by route, in the order of the pack
  std::vector<KnownFailure> stale;  ///< known failures that passed
  std::vector<std::string> unexercised_routes, unexercised_cases;
  std::vector<std::string> scope;  ///< sentences: what was not exercised
  int exit_code = 2;               ///< 0 passed, 1 failed or stale, 2 faults or nothing shown

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] const Case& case_of(const TrialResult& trial) const;
};

/// What is run. Empty lists are everything.
struct RunOptions {
  std::vector<std::string> routes, cases;
  std::string fault;  ///< what a known-bad subject is told to do wrong
  std::optional<KnownFailures> known;
  std::function<void(const TrialResult&)> on_trial;  ///< after each, as a sign of life
  /// Keeps the record of each trial that was graded; returns the directory where it is now.
  std::function<std::string(const TrialRecord&)> keep;
};

/// What a run works with. All outlive it.
struct RunWorld {
  FileSystem& files;
  const Clock& clock;
  Random& random;
  std::string scratch_directory;  ///< for the spy's socket, and a directory of each trial
  std::string program = {};       ///< path of `remit`: the tool that an executor over MCP starts
};

/// Runs `pack` against `subject` (spec/conformance.md). The driver is started once and again after
/// a fault. Errors: those of the spy and of grading, which are ours; what the driver does wrong is
/// told trial by trial.
Result<Run> run_pack(const Pack& pack, const Subject& subject, const RunOptions& options,
                     const RunWorld& world);

}  // namespace remit::conformance
