// What a client may say in `_meta` of a request, and what we say in `_meta` of ours.
#pragma once

#include <optional>
#include <string>

#include "access/proposed_call.h"
#include "base/result.h"
#include "json/value.h"
#include "mcp/message.h"

namespace remit::gateway {

inline constexpr const char* kInvocationIdKey = "io.remit/invocation-id";
inline constexpr const char* kRunIdKey = "io.remit/run-id";
inline constexpr const char* kCaseIdKey = "io.remit/case-id";
inline constexpr const char* kPolicyVersionKey = "io.remit/policy-version";
inline constexpr const char* kIdempotencyKeyKey = "io.remit/idempotency-key";
/// Of revision 2026-07-28: each request names its version.
inline constexpr const char* kProtocolVersionKey = "io.modelcontextprotocol/protocolVersion";

/// The protocol version that a request names by itself, as clients of 2026-07-28 do; empty if none.
std::string named_version(const json::Object& params);

/// Reads `_meta` of `params` into `call` (idempotency key, planner's policy version, trace context)
/// and returns the progress token, if there is one. Run and case ids are never read from it: an
/// agent could choose its own. Errors: `invalid_input` for a key of ours or a token of a wrong
/// shape.
Result<std::optional<mcp::RequestId>> read_meta(const json::Object& params,
                                                access::ProposedCall& call);

}  // namespace remit::gateway
