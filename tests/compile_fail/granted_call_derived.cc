// A class of one's own is no way to a granted call (REQ-BD-060).
// refused: deleted|private
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
struct Forged : GrantedCall {};
void reach(ToolHandler& handler) {
  handler.run(Forged{});
}
#else
HandlerResult reach(ToolHandler& handler, const GrantedCall& call) {
  return handler.run(call);
}
#endif
