// What people are told of a finding code beyond its name: the usual cause, and what to do.
#pragma once

#include <span>
#include <string_view>

#include "grading/codes.h"

namespace remit::grading {

/// Each text is one sentence, or a few; lower case at the start and without a full stop at the end,
/// so that it can stand behind a colon.
struct CodeGuide {
  std::string_view name;    ///< of the code, as in `CodeInfo::name`
  std::string_view cause;   ///< what usually brought it about: one sentence
  std::string_view remedy;  ///< what its owner does now
};

/// One row for each code of spec/grades.md, in the order of that page (REQ-GR-110).
std::span<const CodeGuide> code_guides();

/// The row of a code. A code without one is a defect, which the test of this table finds.
const CodeGuide& code_guide(Code code);

/// Who gives a reason of spec/reasons.md, and when.
struct ReasonGuide {
  std::string_view name;
  std::string_view speaker;
  std::string_view when;  ///< without its full stop
};

/// All reasons, in the order of spec/reasons.md.
std::span<const ReasonGuide> reason_guides();

}  // namespace remit::grading
