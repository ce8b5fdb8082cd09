// What a handler needs is made by the enforcement point only (REQ-BD-060).
// refused: private
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
void reach(ToolHandler& handler) {
  GrantedCall call;
  handler.run(call);
}
#else
std::string read(const GrantedCall& call) {
  return call.arguments_json();
}
#endif
