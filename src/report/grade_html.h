// A grade as one page that needs nothing but itself: REQ-RP-040 to 047.
#pragma once

#include <cstddef>
#include <string_view>

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// HTML with its style sheet and script in it. Timelines are those of `InvocationGrade::record`.
/// Equal grades give equal bytes.
void write_grade_html(const grading::Grade& grade, std::string_view version, Outlet& outlet);

inline constexpr std::size_t kMaxPageItems = 10'000;  ///< invocations and other findings
inline constexpr std::size_t kMaxPageCases = 5'000;
inline constexpr std::size_t kMaxPageFindings = 100;  ///< of one invocation
inline constexpr std::size_t kMaxPageEvents = 50;     ///< of one timeline

}  // namespace remit::report
