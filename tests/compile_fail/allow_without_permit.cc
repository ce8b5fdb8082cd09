// An allow names the policies that permit (invariant *no allow with errors*).
// refused: too few arguments|no matching
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
access::Decision forged() {
  return access::Decision::allow();
}
#else
access::Decision made() {
  return access::Decision::allow({"permit"});
}
#endif
