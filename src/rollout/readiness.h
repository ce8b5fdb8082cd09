// What the evidence of a rollout supports: ready to enforce, or not and why (spec/rollout.md).
//
//     Result<Seen> seen = collect(files, evidence, criteria, reading);
//     Report report = assess(*std::move(seen), criteria, {.bundle = bundle, .today = today});
//     return exit_code_of(report.verdict);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grading/baseline.h"
#include "policy/bundle.h"
#include "rollout/criteria.h"
#include "rollout/tally.h"

namespace remit::rollout {

/// In the order from best to worst: a whole is what the worst of its parts is. What enforces
/// already is no part of a rollout.
enum class Verdict : std::uint8_t {
  kEnforcing,
  kUnused,  ///< said to be so, and not seen
  kReady,
  kNotExercised,
  kUndetermined,
  kNotReady,
};
/// `ready` and so on.
std::string_view verdict_name(Verdict verdict);
/// 0 ready, 1 not ready, 2 anything else.
int exit_code_of(Verdict verdict);

/// One pair of route and tool, or several together.
struct Row {
  std::string route, tool;  ///< empty where none is recorded, or where rows stand for all of them
  Tally tally;
  std::map<std::string_view, std::uint64_t> expected;  ///< would-denials by reason that are wanted
  Verdict verdict = Verdict::kNotExercised;
  std::vector<std::string> why;  ///< sentences: what keeps it from being ready
};

/// An entry of the criteria, and what it did.
struct ExpectedUse {
  ExpectedDenial entry;
  std::uint64_t calls = 0;
  bool is_expired = false;
};

struct Report {
  Verdict verdict = Verdict::kNotExercised;
  std::vector<std::string> why;  ///< what is wrong with the record as a whole
  std::vector<Row> rows;         ///< of each pair, in the order of route and tool
  std::vector<ExpectedUse> expected;
  Seen seen;                       ///< without its pairs, which are in the rows
  std::vector<std::string> scope;  ///< sentences: what was not judged
  std::size_t examples = 3;
};

/// What a rollout is judged against beside its criteria.
struct Against {
  std::shared_ptr<const policy::Bundle> bundle = nullptr;  ///< the one in shadow mode
  grading::Day today = 0;
  std::size_t examples = 3;
};

/// Judges each pair, and the whole by its worst. Pure.
Report assess(Seen seen, const Criteria& criteria, const Against& against);

enum class RowsBy : std::uint8_t { kPair, kRoute, kTool };

/// The rows added up by route or by tool, in the order of their names.
std::vector<Row> rows_by(const Report& report, RowsBy by);

}  // namespace remit::rollout
