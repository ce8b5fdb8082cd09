// A short session with one server.
#include "gateway/tool_listing.h"

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

// A client that does nothing and hears nothing.
class DeafListener final : public UpstreamListener {
 public:
  void on_request(Upstream& upstream, mcp::Request request) override {
    const bool is_ping = request.method == "ping";
    upstream.post(is_ping ? mcp::result_line(request.id, "{}")
                          : mcp::error_line({.id = request.id,
                                             .code = mcp::kMethodNotFound,
                                             .message = "the client does not offer this"}));
  }
  void on_notification(Upstream& /*upstream*/, mcp::Notification /*notification*/) override {}
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
  REMIT_TRY(upstream.shake_hands(everything(), {}, patience));
  REMIT_TRY_ASSIGN(std::vector<json::Object> tools, upstream.list_tools(patience, {}));
  upstream.close(kServerGrace);
  json::Array out;
  for (json::Object& tool : tools) out.emplace_back(std::move(tool));
  return json::Value{std::move(out)};
}

}  // namespace remit::gateway
