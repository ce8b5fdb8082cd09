// What was seen of a trial, held against what its case expects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "conformance/pack.h"
#include "conformance/trial.h"
#include "grading/grade.h"

namespace remit::conformance {

/// One thing that is not as the case expects it. Texts of the subject are quoted and cut.
struct Mismatch {
  std::string what;  ///< a stable word: `caller_saw`, `effects`, `verdict` and so on (REQ-CF-040)
  std::string call;  ///< the call it is about; empty for the trial as a whole
  std::string message;  ///< one sentence; lower case
  /// Of a `verdict`: the grade's findings that made it so, the worst first, each way once.
  std::vector<grading::Finding> findings = {};
  /// Of a `caller_saw`: what the caller was answered; quoted and cut, empty for nothing.
  std::string answer = {};
};

/// `MESSAGE; the answer was "x"`, as every report says it.
std::string mismatch_words(const Mismatch& mismatch);

/// `CODE: message; expected "x", recorded "y"`, as every report of a run says it.
std::string finding_words(const grading::Finding& finding);

struct Judgement {
  std::vector<Mismatch> mismatches;
  grading::ByVerdict<grading::Value> verdicts;
  std::string spy_events;  ///< what the spy counted, as the lines that were graded
  std::string manifest;    ///< what was graded by, remit.manifest/1 as JSON
};

/// Judges. The events are graded with a manifest made of the case, beside the spy's count as
/// evidence of its own. Errors: those of grading, which are ours.
Result<Judgement> judge(const Case& of, std::string_view route, const Observation& seen,
                        FileSystem& files);

}  // namespace remit::conformance
