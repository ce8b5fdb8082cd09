// The forms in which a grade can be written, as one table for the command line and the tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grading/grade.h"
#include "report/grade_text.h"
#include "report/outlet.h"

namespace remit::report {

/// What a report says that the grade does not hold.
struct Style {
  Colour colour = Colour::kNone;       ///< of the text form
  std::string_view version = "0.0.0";  ///< of Remit
};

/// One form.
struct Format {
  std::string_view name;  ///< on the command line
  std::string_view what;  ///< a few words for help texts
  void (*write)(const grading::Grade& grade, const Style& style, Outlet& outlet);
};

/// In the order in which help lists them; `text` is the first.
std::span<const Format> formats();
/// Null for a name that no form has.
const Format* find_format(std::string_view name);

/// Writes `grade` to `sink`. Errors: the sink's.
Status write_report(const Format& format, const grading::Grade& grade, const Style& style,
                    Sink& sink);
/// The same as one text, for grades that are known to be small. `name` is a form's.
std::string report_text(std::string_view name, const grading::Grade& grade,
                        const Style& style = {});

}  // namespace remit::report
