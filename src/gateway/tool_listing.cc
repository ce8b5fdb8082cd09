// A short session with one server.
#include "gateway/tool_listing.h"

#include <atomic>
#include <stop_token>
#include <utility>

#include "gateway/upstream.h"

namespace remit::gateway {
namespace {

// Some servers list a tool only to a client that can do what the tool asks back for. So everything
// is offered, for a listing alone: what is asked back is refused.
json::Object everything() {
  return {{"roots", json::Object{}}, {"sampling", json::Object{}}, {"elicitation", json::Object{}}};
}

// A client that does nothing, and hears nothing but its own words.
class DeafListener final : public UpstreamListener {
 public:
  void on_request(Upstream& upstream, mcp::Request request) override {
    const bool is_ping = request.method == "ping";
    if (request.method == "initialize") is_echoed_ = true;  // a server never asks for that
    upstream.post(is_ping ? mcp::result_line(request.id, "{}")
                          : mcp::error_line({.id = request.id,
                                             .code = mcp::kMethodNotFound,
                                             .message = "the client does not offer this"}));
  }
  void on_notification(Upstream& /*upstream*/, mcp::Notification /*notification*/) override {}

  /// Whether the other side sends back what it is sent.
  [[nodiscard]] bool is_echoed() const { return is_echoed_; }

 private:
  std::atomic<bool> is_echoed_ = false;
};

}  // namespace

Result<json::Value> list_server_tools(const process::Command& server,
                                      std::chrono::milliseconds patience) {
  constexpr int kStandardError = 2;
  const Notices notices(kStandardError);
  DeafListener listener;
  AnswerBytes answers(kMaxQueuedBytes);
  Upstream upstream("server", listener, notices, answers);
  REMIT_TRY(upstream.start(server));
  const Status shaken = upstream.shake_hands(everything(), {}, patience);
  if (!shaken && listener.is_echoed()) {
    return Error{ErrorCode::kUnavailable,
                 "the command sends back what it is sent: it is no server of MCP"};
  }
  if (!shaken) return shaken.error();
  REMIT_TRY_ASSIGN(std::vector<json::Object> tools, upstream.list_tools(patience, {}));
  upstream.close(kServerGrace);
  json::Array out;
  for (json::Object& tool : tools) out.emplace_back(std::move(tool));
  return json::Value{std::move(out)};
}

}  // namespace remit::gateway
