// A decision has no constructor that allows (invariant *no allow with errors*).
// refused: no matching|no viable|could not convert
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
access::Decision forged() {
  return access::Decision{access::ReasonCode::kAllowed};
}
#else
access::Decision made() {
  return access::Decision{};
}
#endif
