// The books as an MCP server over stdio: what stands behind the agent's door.
#pragma once

#include <string>
#include <vector>

#include "books.h"

namespace remit::examples {

/// A tool as the server lists it.
struct OfferedTool {
  std::string name;
  std::string description;
  std::string input_schema;  ///< JSON text
};

/// Serves standard input and output until the input ends. Gives the exit code: 1 where the answer
/// of a tool was lost, since who cannot say what became of a call has nothing to answer.
int serve_mcp(Books& books, const std::vector<OfferedTool>& tools);

}  // namespace remit::examples
