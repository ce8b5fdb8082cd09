// A grade as JUnit XML: one test for each verdict of the run and of each case (REQ-GR-082).
#pragma once

#include <cstddef>

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// One XML 1.0 document; equal grades give equal bytes. Failed is `<failure>`; undetermined and not
/// exercised are `<error>`, never skipped. Names are unique and at most kMaxTestNameBytes long, and
/// bytes that XML does not admit are written `\xNN`, so that no id can close an element or be
/// mistaken for another (REQ-RP-010 to 014).
void write_grade_junit(const grading::Grade& grade, Outlet& outlet);

inline constexpr std::size_t kMaxTestNameBytes = 200;

}  // namespace remit::report
