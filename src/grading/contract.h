// Contracts: which relations between events must hold, and which verdicts block (spec/contract.md).
#pragma once

#include <string>

#include "grading/grade.h"

namespace remit::grading {

/// The relations of this version are those of `sequential` (REQ-CT-001 to REQ-CT-004); what differs
/// is which verdicts block the gate.
struct Contract {
  std::string name;
  ByVerdict<bool> blocking;
};

/// `sequential`: one request, one decision, and after an allow one start and one finish; every
/// verdict but planning blocks (REQ-CT-005).
Contract sequential_contract();

}  // namespace remit::grading
