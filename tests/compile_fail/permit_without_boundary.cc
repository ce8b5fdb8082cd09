// A permit is made by the enforcement point and by nobody else (REQ-BD-060).
// refused: private
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
CallPermit forged() {
  return CallPermit{std::shared_ptr<PermitState>{}};
}
#else
CallPermit passed_on(CallPermit permit) {
  return permit;
}
#endif
