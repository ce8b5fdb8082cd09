// The built-in contract.
#include "grading/contract.h"

namespace remit::grading {

Contract sequential_contract() {
  Contract contract;
  contract.name = "sequential";
  contract.blocking[Verdict::kEnforcement] = true;
  contract.blocking[Verdict::kExecution] = true;
  contract.blocking[Verdict::kCompleteness] = true;
  return contract;
}

}  // namespace remit::grading
