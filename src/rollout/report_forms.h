// A rollout report as text, JSON and JUnit.
#pragma once

#include <string_view>

#include "report/outlet.h"
#include "rollout/readiness.h"

namespace remit::rollout {

/// For people: a table, then what keeps each row from being ready and which calls to look at.
void write_text(const Report& report, RowsBy by, report::Outlet& outlet);
/// `remit.rollout-report/1` (REQ-RO-041).
void write_json(const Report& report, RowsBy by, report::Outlet& outlet);
/// A test for each row: not ready is a failure, what is not known an error (REQ-RO-042).
void write_junit(const Report& report, RowsBy by, report::Outlet& outlet);

}  // namespace remit::rollout
