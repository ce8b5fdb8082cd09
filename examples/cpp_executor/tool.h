// The tool that the executor protects; in a conformance run it is the runner's spy.
#pragma once

#include <string>

#include "executor.h"

namespace remit::examples {

/// Where the tool listens, and the token of the trial (spec/driver.md, "The spy").
struct Spy {
  std::string socket, token;
};

/// Uses the tool once. A reply that does not come, and a socket that does not answer, are lost.
ToolResult use_tool(const Spy& spy, const Call& call, const std::string& resource);

}  // namespace remit::examples
