// A handler cannot be run without a granted call (REQ-BD-060).
// refused: (too few arguments|no matching)
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
HandlerResult reach(ToolHandler& handler) {
  return handler.run();
}
#else
CallOutcome reach(ToolHandler& handler, EnforcementPoint& boundary,
                  const access::ProposedCall& call) {
  return boundary.invoke(call, handler);
}
#endif
