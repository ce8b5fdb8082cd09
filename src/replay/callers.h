// Who called in each recorded run: `remit.callers/1`, which an operator writes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remit::replay {

/// What is said of one run.
struct Caller {
  std::string principal;  ///< a reference, as the configuration's directory has it
  std::string label;      ///< what others say of the run, `reward 1` say; empty: nothing
};

/// By the ids of runs.
using Callers = std::map<std::string, Caller, std::less<>>;

/// The file, or everything that is wrong with it.
struct CallersOutcome {
  std::optional<Callers> callers;  ///< nothing exactly when there are problems
  std::vector<Error> problems;     ///< in the order of the file, each with FILE:LINE:COLUMN
};

/// Reads `text` of the file that messages call `file` (spec/replay.md).
CallersOutcome parse_callers(std::string_view text, const std::string& file);

}  // namespace remit::replay
