// One MCP client session of the runner's with an executor, over pipes.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "conformance/spy.h"
#include "json/value.h"
#include "mcp/message.h"
#include "process/child.h"
#include "process/lines.h"

namespace remit::conformance {

/// What an executor answered to one request.
using McpAnswer = std::variant<mcp::ResultResponse, mcp::ErrorResponse>;

/// A started executor and the session with it. The spy is served while an answer is awaited. Not
/// thread-safe.
class McpSession {
 public:
  /// Starts `command`, shakes hands and lists the tools, as any client does. `spy` and `clock`
  /// outlive the session. Errors, each meaning that nothing was asked of the executor yet: those
  /// of starting a process and of `ask`; `failed_precondition` for a handshake that is refused.
  static Result<std::unique_ptr<McpSession>> start(const process::Command& command, Spy& spy,
                                                   const Clock& clock,
                                                   std::chrono::milliseconds deadline);
  /// Ends the executor in order: its input is closed, and it is given time to write its record.
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  /// Sends a request and awaits its answer. Notifications are passed over; a `ping` is answered and
  /// any other request of the executor refused. Errors: `deadline_exceeded`; `unavailable` for one
  /// that ended; `invalid_input` for a line that is no message or a second answer; the session is
  /// then of no further use.
  Result<McpAnswer> ask(std::string_view method, const json::Object& params);
  /// Lists the tools, page by page. Errors: those of `ask`.
  Status list_tools();

  [[nodiscard]] pid_t pid() const { return child_.pid(); }

 private:
  McpSession(process::Child child, Spy& spy, const Clock& clock,
             std::chrono::milliseconds deadline);
  Status shake_hands();
  Status send(const std::string& line);
  Result<std::string> next_line(MonotonicTime until);
  [[nodiscard]] Error too_late() const;
  Error ended();

  process::Child child_;
  process::LineReader reader_;
  Spy& spy_;
  const Clock& clock_;
  const std::chrono::milliseconds deadline_;
  std::int64_t last_id_ = 0;
};

}  // namespace remit::conformance
