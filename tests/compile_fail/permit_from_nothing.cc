// There is no empty permit to begin with (REQ-BD-060).
// refused: no matching (function|constructor)
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
CallPermit forged() {
  return CallPermit{};
}
#else
AuthorizeOutcome asked(EnforcementPoint& boundary, const access::ProposedCall& call) {
  return boundary.authorize(call);
}
#endif
