// What a run is graded by, as the commands that grade take it from their command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/world.h"
#include "evidence/verify.h"
#include "grading/baseline.h"
#include "grading/grading.h"

namespace remit::cli {

struct GradeRequest {
  grading::Criteria criteria;
  std::optional<evidence::Head> head;
  trace::Form form = trace::Form::kAuto;
};

/// A request, or everything that is wrong with its contract, manifest, expect file, head or
/// baseline: each is a refused command line (exit 64).
struct GradeRequestParse {
  std::optional<GradeRequest> request;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Reads the options `--contract`, `--manifest`, `--expect`, `--expect-file`, `--head`,
/// `--baseline`, `--input-format`, `--all` and `--advisory` of a command, as far as it has them.
GradeRequestParse read_grade_request(const Arguments& arguments, World& world);

/// Grades what `inputs` name, with the baseline in force today, and tells `progress`, if any, what
/// is read. Errors: those of opening and reading the inputs, and `internal` where the control of
/// the redaction fails (REQ-RD-040). Neither a grade nor an error shows a canary.
Result<grading::Grade> grade_inputs(World& world, const std::vector<std::string>& inputs,
                                    const GradeRequest& request, Progress* progress = nullptr);

/// What a command exits with after an error of `grade_inputs`: kExitInternal or kExitBadInput.
int exit_code_of_failure(const Error& error);

/// Says every error and returns kExitUsage.
int refuse(World& world, const std::vector<Error>& errors);

}  // namespace remit::cli
