// One life of the simulated world, from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/node.h"

namespace remit::simulation {

struct Life {
  std::vector<std::string> violations;  ///< of the invariants; empty if they held
  std::map<std::string, std::uint64_t> counts;
};

/// Lets two processes share a ledger for a while. `state` is where the ledger is kept, a file of
/// this life alone. Equal seeds give equal lives.
Life live(std::uint64_t seed, Twist twist, const std::string& state);

/// Looks at what is left of a life: the logs, the effects, the approvals.
void judge(World& world, Node& node);
void judge_effects(World& world);

}  // namespace remit::simulation
