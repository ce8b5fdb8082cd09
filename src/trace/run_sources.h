// What stands for a file in the ids of the runs that it records.
#pragma once

#include <string_view>
#include <vector>

#include "trace/event_reader.h"

namespace remit::trace {

/// A file's name without directory and endings: `runs` of `some/runs.jsonl.gz`.
std::string_view file_stem(std::string_view path);

/// Gives inputs whose files have the same stem a `run_source` each, of as much of their paths as
/// tells them apart (REQ-IN-051): runs of different files are different runs.
void tell_runs_apart(std::vector<Input>& inputs);

}  // namespace remit::trace
