// The outcome of a commit cannot be passed over in silence (invariant *record before run*).
// refused: nodiscard|ignoring
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
void record(evidence::EvidenceSink& sink) {
  sink.commit({});
}
#else
Status record(evidence::EvidenceSink& sink) {
  return sink.commit({});
}
#endif
