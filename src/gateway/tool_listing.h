// Asks one stdio MCP server which tools it has: what `remit init` starts from.
#pragma once

#include <chrono>

#include "base/result.h"
#include "json/value.h"
#include "process/child.h"

namespace remit::gateway {

/// Starts `command`, shakes hands, reads every page of tools/list and stops the server again.
/// Returns the tools as one array, as the server gave them. `timeout` bounds each answer. Errors:
/// those of process::Child::start; `unavailable` when the server ends, `deadline_exceeded` when it
/// does not answer, `invalid_input` when what it answers is not MCP, `limit_exceeded` for too many
/// tools. Blocks.
Result<json::Value> list_server_tools(const process::Command& command,
                                      std::chrono::milliseconds timeout);

}  // namespace remit::gateway
