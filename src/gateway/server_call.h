// The privileged action of the gateway: one granted call, sent to its server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "enforcement/enforcement_point.h"
#include "gateway/stdio_gateway.h"

namespace remit::gateway {

/// The params of the request that a granted call becomes: JSON text with the bytes of the boundary
/// and, in `_meta`, what joins the server's own record with ours.
std::string request_params(const enforcement::GrantedCall& call, const std::string& method,
                           std::optional<std::int64_t> progress_token);

/// Sends a granted call to the server that its catalogue entry names, under an id of ours, with the
/// bytes of the boundary, and waits for what becomes of it. One object serves one call,
/// and is kept until the client has the answer.
class ServerCall final : public enforcement::ToolHandler {
 public:
  struct Options {
    std::string method;  ///< of the protocol
    std::optional<mcp::RequestId> progress_token;
    ReplyForm form = ReplyForm::kError;
  };
  ServerCall(StdioGateway& gateway, Options options)
      : gateway_(gateway), options_(std::move(options)) {}

  enforcement::HandlerResult run(const enforcement::GrantedCall& call) override;

 private:
  StdioGateway& gateway_;
  Options options_;
  AnswerBytes::Share share_;  // until the caller of `run` has sent what it gave back
};

}  // namespace remit::gateway
