// A class of one's own is no way to a permit (REQ-BD-060).
// refused: deleted|private
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

struct Shell : CallPermit {
  explicit Shell(CallPermit permit) : CallPermit(std::move(permit)) {}
};

#ifdef REMIT_BAD
struct Forged : CallPermit {
  Forged() : CallPermit(nullptr) {}
};
#else
Shell wrap(CallPermit permit) {
  return Shell{std::move(permit)};
}
#endif
