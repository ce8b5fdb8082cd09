// What a sound bundle says and hardly means: tools that nobody can use, and tools whose parts
// disagree.
#pragma once

#include <vector>

#include "base/error.h"
#include "cedar/engine.h"
#include "decision/decision_point.h"
#include "policy/bundle.h"

namespace remit::cedar {

/// Warnings, each with its file in `where` (REQ-BN-027): a bundle without a permit; tools whose
/// action the scope of no permit admits and no forbid names without a condition; a tool whose
/// scopes end as those of another effect do
/// (`:read`, `:write`, `:destructive`); a tool that acts on its server as a whole and that policy
/// denies to whoever holds just the scopes that the catalogue asks for (or, where they end as those
/// of another effect, the one that would be right), but permits with one more that the policies
/// name. The last is found by asking `decision_point` about a caller of that kind, so that a
/// condition on anything else (a class, a time) leaves it unsaid. For people: takes some decisions
/// for each tool, 20,000 at most, and says where it stopped at that.
std::vector<Error> doubts(const policy::Bundle& bundle, const Engine& engine,
                          const decision::DecisionPoint& decision_point);

}  // namespace remit::cedar
