// The manifest of one trial: what its case expects, as the grader takes it.
#pragma once

#include <string_view>

#include "conformance/pack.h"
#include "conformance/trial.h"
#include "grading/manifest.h"

namespace remit::conformance {

/// The manifest by which the record of a trial is graded (REQ-CF-031).
grading::Manifest case_manifest(const Case& of, std::string_view route, const Observation& seen);

}  // namespace remit::conformance
