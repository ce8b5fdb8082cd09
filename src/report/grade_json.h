// A grade as JSON, `remit.grade/1` (REQ-GR-080).
#pragma once

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// One JSON document with a newline at its end; equal grades give equal bytes. Findings stand one a
/// line, so that two grades can be compared by line.
void write_grade_json(const grading::Grade& grade, Outlet& outlet);

}  // namespace remit::report
