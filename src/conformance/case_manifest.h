// The manifest of one trial: what its case expects, as the grader takes it and as a file.
#pragma once

#include <string>
#include <string_view>

#include "conformance/pack.h"
#include "conformance/trial.h"
#include "grading/manifest.h"

namespace remit::conformance {

/// The manifest by which the record of a trial is graded (REQ-CF-031).
grading::Manifest case_manifest(const Case& of, std::string_view route, const Observation& seen);

/// Such a manifest as a file: JSON that `grading::parse_manifest` reads as the same.
std::string manifest_json(const grading::Manifest& manifest);

}  // namespace remit::conformance
