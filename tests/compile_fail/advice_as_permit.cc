// Advice cannot be turned into a permit (REQ-BD-065).
// refused: no matching|cannot conver|could not convert|no viable
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
CallOutcome run(EnforcementPoint& boundary, const access::ProposedCall& call,
                ToolHandler& handler) {
  return boundary.spend(boundary.would_allow(call), call.tool, call.arguments_json, handler);
}
#else
bool ask(const EnforcementPoint& boundary, const access::ProposedCall& call) {
  return boundary.would_allow(call).allowed();
}
#endif
