// What a client is told: denials and failures in the protocol's own forms.
#pragma once

#include <string>
#include <string_view>

#include "enforcement/enforcement_point.h"
#include "gateway/upstream.h"
#include "mcp/message.h"

namespace remit::gateway {

/// JSON-RPC error for a denied method that has no `isError` result (resources/read and its like).
inline constexpr int kDenied = -32010;

/// How a method can say that it was refused.
enum class ReplyForm : std::uint8_t {
  kError,           ///< a JSON-RPC error with the denial as its data
  kToolText,        ///< an `isError` result with the denial as text: the tool has an output schema
                    ///< of its own that a client may hold `structuredContent` against
  kToolStructured,  ///< an `isError` result with the denial as text and as `structuredContent`
};

/// The line that answers a denied request (spec/boundary.md, "What a caller is told", over stdio):
/// `unknown_tool` is -32602, `invalid_request` -32600, any other of a tool an `isError` result.
std::string denial_line(const mcp::RequestId& id, const enforcement::Denial& denial,
                        ReplyForm form);

/// The answer of a server as a handler's result: its outcome for the log, and as payload the
/// member of the response that the caller gets, `"result":…` or `"error":…`. Empty when a
/// cancelled call is owed none.
enforcement::HandlerResult handler_result(Answer answer, ReplyForm form);

/// What the caller gets for a call whose `result` has no payload: the handler was not entered, or
/// an exception left it.
enforcement::HandlerResult result_without_answer(const enforcement::HandlerResult& result,
                                                 ReplyForm form);

/// The response line of a payload of `handler_result`.
std::string payload_line(const mcp::RequestId& id, std::string_view payload);

}  // namespace remit::gateway
