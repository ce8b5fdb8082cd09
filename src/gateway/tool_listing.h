// The tools of a live server, for a first bundle.
#pragma once

#include <chrono>

#include "base/result.h"
#include "json/value.h"
#include "process/child.h"

namespace remit::gateway {

/// Starts `server`, initializes the protocol and returns the `tools` of its whole `tools/list`,
/// then ends it. What the server says on standard error goes to ours. Errors: as of
/// process::Child::start; `unavailable`, `unsupported` or `deadline_exceeded` when it does not
/// speak the protocol, or not within `patience`.
Result<json::Value> list_server_tools(const process::Command& server,
                                      std::chrono::milliseconds patience);

}  // namespace remit::gateway
