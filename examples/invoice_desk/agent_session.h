// One agent at the desk: the gateway on a thread of its own, and a client at its other ends.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mcp_client.h"
#include "office.h"
#include "process/file_descriptor.h"

namespace remit::examples {

/// Ends with the object: the client goes away, and the gateway closes behind it.
class AgentSession {
 public:
  /// `office` and `signals` outlive it. `server` is what stands behind the gateway. Errors: of the
  /// pipes and of the handshake.
  static Result<std::unique_ptr<AgentSession>> start(Office& office,
                                                     std::vector<std::string> server,
                                                     const process::TerminationSignals& signals);
  AgentSession(Office& office, std::vector<std::string> server,
               const process::TerminationSignals& signals, process::Pipe to, process::Pipe from);
  ~AgentSession();
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  [[nodiscard]] McpClient& client() { return client_; }

 private:
  process::Pipe to_;
  process::Pipe from_;
  McpClient client_;
  std::thread thread_;
};

}  // namespace remit::examples
