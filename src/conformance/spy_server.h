// The tool as an MCP server: what an executor that speaks MCP has behind it while it is judged.
#pragma once

#include "base/result.h"
#include "conformance/spy_call.h"

namespace remit::conformance {

/// Serves MCP over a pair of descriptors until the client is gone: lists the fixture's tools, and
/// tells the spy of each call before it is answered. Where the spy loses the reply, so does this
/// server: it ends without an answer. Errors: `unavailable` where the client cannot be written to.
Status serve_spy(const SpyFacts& facts, int input_fd, int output_fd);

}  // namespace remit::conformance
