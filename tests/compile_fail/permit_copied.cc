// A permit cannot be copied: one permit, one call (REQ-BD-060).
// refused: deleted
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
CallPermit copy(const CallPermit& permit) {
  return permit;
}
#else
CallPermit move(CallPermit&& permit) {
  return std::move(permit);
}
#endif
