// A grade as SARIF 2.1.0 (OASIS), for code scanning and editors: REQ-RP-020 to 026.
#pragma once

#include <string_view>

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// One log with one run: a rule for each finding code, a result for each finding. `version` is
/// Remit's own. Equal grades give equal bytes.
void write_grade_sarif(const grading::Grade& grade, std::string_view version, Outlet& outlet);

}  // namespace remit::report
