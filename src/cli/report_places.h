// Where the reports of a command go, and what must not be there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/grade_request.h"
#include "cli/world.h"
#include "report/formats.h"

namespace remit::cli {

/// A report to write beside what is printed: `FORMAT=FILE`.
struct ReportFile {
  const report::Format* format;
  std::string path;
};

/// What `--write` asks for. Errors: `invalid_input` for what is not `FORMAT=FILE`.
Result<std::vector<ReportFile>> report_files(const Arguments& arguments);

/// Why `reports` or `--handoff` cannot go where they are to go: in the place of anything that the
/// run is graded by, by whatever name, into an evidence directory that is an input, or two into one
/// place (REQ-RP-005). Nothing where all is well; its text may show canaries.
std::optional<Error> misplaced_report(const Arguments& arguments, World& world,
                                      const GradeRequest& request,
                                      const std::vector<ReportFile>& reports);

/// Whether every report and the handoff can be begun in their places, found out before a long grade
/// by beginning a file there that is gone again (REQ-RP-006). Errors: those of
/// `FileReplacement::open`, and of a directory for `--handoff` that is not empty.
Status can_write(const Arguments& arguments, World& world, const std::vector<ReportFile>& reports);

}  // namespace remit::cli
