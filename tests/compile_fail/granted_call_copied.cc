// A granted call does not outlive its run by a copy (REQ-BD-060).
// refused: deleted
#include "enforcement/enforcement_point.h"

using namespace remit;
using namespace remit::enforcement;

#ifdef REMIT_BAD
struct Keeper final : ToolHandler {
  HandlerResult run(const GrantedCall& call) override {
    kept = std::make_unique<GrantedCall>(call);
    return {};
  }
  std::unique_ptr<GrantedCall> kept;
};
#else
struct Keeper final : ToolHandler {
  HandlerResult run(const GrantedCall& call) override {
    kept = std::make_unique<std::string>(call.arguments_json());
    return {};
  }
  std::unique_ptr<std::string> kept;
};
#endif
