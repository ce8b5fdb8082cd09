// One request to the engine: what the boundary knows, put in by typed calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "access/resource.h"
#include "base/clock.h"
#include "cedar/engine.h"
#include "decision/decision_point.h"
#include "json/value.h"

namespace remit::cedar {

/// Where the engine finds what a request names, looked up once per decision.
struct Target {
  std::uint32_t action = 0;
  std::uint32_t principal_type = 0;
  std::uint32_t resource_type = 0;
  const Shape* arguments = nullptr;  ///< of `context.arguments` for this action
};

/// What the engine said, as numbers of policies, ascending.
struct Answer {
  bool allows = false;
  std::vector<std::uint32_t> permits;
  std::vector<std::uint32_t> forbids;
  std::vector<std::uint32_t> failed;
  std::string detail;  ///< what does not fit or which policies failed, without values
};

/// Asks the engine. `approval` stands for the request's own. Whatever does not fit the schema is an
/// answer that does not allow, names no policy and says in `detail` what it is.
Answer ask(const Engine& engine, const Target& target, const decision::DecisionRequest& request,
           const decision::ApprovalFacts& approval);

}  // namespace remit::cedar
