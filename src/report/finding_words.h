// What several forms say of a finding in the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grading/grade.h"

namespace remit::report {

/// The value of a verdict that looks as the gate does.
grading::Value value_of(grading::Gate gate);

/// `message; expected "x", recorded "y"`: outside text quoted and cut, one line.
std::string finding_sentence(const grading::Finding& finding);

/// Where an event stands: `"trace.jsonl" line 3, byte 210`, and for a numbered one its writer and
/// number behind it.
std::string place_words(const grading::Grade& grade, const grading::Position& position);

/// The first event of a finding that stands on a line; null if none does.
const grading::Position* first_line(const grading::Finding& finding);

/// The file of a position as a path for other programs: without `./` before it; empty for standard
/// input, and where the name could not be shown as it is.
std::string_view plain_path(const grading::Grade& grade, const grading::Position& position);

/// For each finding whether its verdict blocks: of an invocation by the rules of the contract that
/// fit it, else as for the run (REQ-GR-005).
std::vector<bool> blocking_findings(const grading::Grade& grade);

/// `1 case`, `2 cases`.
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

/// The text with a capital and a full stop.
std::string sentence(std::string_view text);

}  // namespace remit::report
