// A grade as JUnit XML: one test for each verdict of the run and of each case (REQ-GR-082).
#pragma once

#include <string>

#include "grading/grade.h"

namespace remit::report {

/// One XML document; equal grades give equal bytes. Failed is `<failure>`; undetermined and not
/// exercised are `<error>`, never skipped. Names are unique, and bytes that XML does not admit are
/// written `\xNN`, so that no id can close an element or be mistaken for another.
std::string grade_junit(const grading::Grade& grade);

}  // namespace remit::report
