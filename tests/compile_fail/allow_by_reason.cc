// A decision is not turned into an allow (invariant *no allow with errors*).
// refused: private
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
void turn(access::Decision& decision) {
  decision.reason_ = access::ReasonCode::kAllowed;
}
#else
bool read(const access::Decision& decision) {
  return decision.reason() == access::ReasonCode::kAllowed;
}
#endif
