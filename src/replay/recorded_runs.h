// Recorded agent runs as calls that can be made again: tools and arguments, in order.
#pragma once

#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "trace/event_reader.h"

namespace remit::replay {

/// What a model asked for. Both are its own words: nothing of them is trusted.
struct RecordedCall {
  std::string tool;
  std::string arguments_json;  ///< as it was written; empty where there were none
};

/// One run. `id` and `case_id` are those that the grader gives it (spec/inputs.md, Recorded agent
/// runs).
struct RecordedRun {
  std::string id;
  std::string case_id;
  std::vector<RecordedCall> calls;
};

/// Reads the runs of one file, packed or not, in any of the three forms of recorded runs. A file is
/// read whole or not at all: calls that are passed over would be missed by nobody. Memory is the
/// file's. Errors: those of reading; `invalid_input`, with the file and the place in it, for
/// another form, for text that is no strict JSON (json/value.h), and for a run, a message or a call
/// of another shape; `limit_exceeded` for a document beyond kMaxTraceDocumentBytes.
Result<std::vector<RecordedRun>> read_runs(FileSystem& files, const trace::Input& input);

/// The same of a file that is open, which `input` names. Errors: likewise, without the file's name.
Result<std::vector<RecordedRun>> read_runs(ReadFile& file, const trace::Input& input);

}  // namespace remit::replay
