// A grade for people: the gate, the four verdicts with their populations, what is wrong, the scope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// Whether terminal colours are written.
enum class Colour : std::uint8_t { kNone, kAnsi };

/// Lines of text; equal grades give equal bytes. Outside text is quoted and cut, so that no id can
/// act on a terminal. At most kMaxListedFindings findings are listed, and how many were not is
/// said.
void write_grade_text(const grading::Grade& grade, Colour colour, Outlet& outlet);

inline constexpr std::size_t kMaxListedFindings = 200;

}  // namespace remit::report
