// The agent's door: Remit's own MCP gateway, on the desk's own enforcement point.
#pragma once

#include <string>
#include <vector>

#include "office.h"
#include "process/file_descriptor.h"

namespace remit::examples {

/// Serves one MCP client on the two descriptors until it closes its end. The tools are those of
/// `server`, a command that is started in the office's directory. Who asks is who took the seat
/// (Staff). Errors: where the server cannot be started.
Status serve_agent(Office& office, const std::vector<std::string>& server, int input_fd,
                   int output_fd, const process::TerminationSignals& signals);

}  // namespace remit::examples
