// What a planner proposes is not what a handler takes (REQ-BD-060).
// refused: (cannot|could not|no known) conver|no viable conversion|invalid initialization|no
// matching|cannot bind
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
HandlerResult reach(ToolHandler& handler, const access::ProposedCall& call) {
  return handler.run(call);
}
#else
CallOutcome reach(ToolHandler& handler, EnforcementPoint& boundary,
                  const access::ProposedCall& call) {
  return boundary.invoke(call, handler);
}
#endif
