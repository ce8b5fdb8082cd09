// Spending a permit takes it from the caller (REQ-BD-060).
// refused: deleted
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
CallOutcome run(EnforcementPoint& boundary, CallPermit& permit, ToolHandler& handler) {
  return boundary.spend(permit, "tool", "{}", handler);
}
#else
CallOutcome run(EnforcementPoint& boundary, CallPermit& permit, ToolHandler& handler) {
  return boundary.spend(std::move(permit), "tool", "{}", handler);
}
#endif
