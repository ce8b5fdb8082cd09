// A grade for GitHub workflows: annotations in the log, and Markdown for the page of the run.
#pragma once

#include <cstddef>

#include "grading/grade.h"
#include "report/outlet.h"

namespace remit::report {

/// What GitHub shows of one step for each of error, warning and notice; it drops the rest silently.
inline constexpr std::size_t kMaxAnnotationsPerLevel = 10;

/// Workflow commands, one a line: the totals first, then findings up to what is shown, and how many
/// were left off (REQ-RP-030 to 033). Nothing else is printed, so that no outside text can begin a
/// line.
void write_github_annotations(const grading::Grade& grade, Outlet& outlet);

/// Markdown (REQ-RP-034): verdicts, cases, the first kMaxSummaryFindings findings, scope. Outside
/// text cannot become markup, a link or a mention.
void write_github_summary(const grading::Grade& grade, Outlet& outlet);

inline constexpr std::size_t kMaxSummaryFindings = 100;
inline constexpr std::size_t kMaxSummaryCases = 500;

}  // namespace remit::report
