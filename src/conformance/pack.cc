// The words of packs, and their files put together.
#include "conformance/pack.h"

#include <algorithm>

namespace remit::conformance {
namespace {

constexpr std::array<std::string_view, 14> kStepNames = {
    "call",        "submit",     "run",           "plant",        "retry",
    "force_start", "set_policy", "set_principal", "set_resource", "revoke_approval",
    "take_down",   "bring_up",   "restart",       "downstream"};

}  // namespace

bool is_route(std::string_view name) {
  return std::find(kRoutes.begin(), kRoutes.end(), name) != kRoutes.end();
}

std::string_view step_name(StepKind kind) {
  return kStepNames[static_cast<std::size_t>(kind)];
}

bool is_asked_of_driver(StepKind kind) {
  return kind != StepKind::kDownstream;
}

const Case* Pack::find_case(std::string_view id) const {
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const Case& each) { return each.id == id; });
  return found == cases.end() ? nullptr : &*found;
}

}  // namespace remit::conformance
