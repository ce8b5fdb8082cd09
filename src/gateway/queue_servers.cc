// Granted calls of deferred work as requests to servers.
#include "gateway/queue_servers.h"

#include <optional>
#include <utility>

#include "gateway/replies.h"
#include "gateway/server_call.h"

namespace remit::gateway {

QueueServers::QueueServers(QueueServersParts parts)
    : parts_(parts),
      servers_({.listener = *this,
                .notices = parts_.notices,
                .clock = parts_.clock,
                .policy = parts_.policy,
                .answers = answers_}) {}

QueueServers::~QueueServers() {
  stop_.request_stop();
  workers_.close();
  servers_.close(parts_.patience.server_end);
}

Status QueueServers::start(const std::vector<UpstreamSettings>& upstreams,
                           const std::string& directory) {
  return servers_.start(upstreams, directory);
}

Status QueueServers::get_ready(const std::stop_token& stop) {
  for (const auto& upstream : servers_.all()) {
    const Status ready = servers_.shake_hands(*upstream, {}, parts_.patience.handshake, stop);
    if (!ready) return in_place("upstream " + upstream->name(), ready.error());
  }
  return {};
}

bool QueueServers::has_lost_one() const {
  for (const auto& upstream : servers_.all()) {
    if (upstream->has_ended()) return true;
  }
  return false;
}

Status QueueServers::is_ready() const {
  for (const auto& upstream : servers_.all()) {
    const auto unavailable = [&](const char* why) {
      return Error{ErrorCode::kUnavailable, "server " + quoted(upstream->name()) + why};
    };
    if (upstream->has_ended()) return unavailable(" has ended");
    if (!servers_.listings().is_settled(upstream->name())) {
      return unavailable(" does not have its tools listed");
    }
  }
  return {};
}

bool QueueServers::is_offered(std::string_view tool) const {
  const auto snapshot = parts_.policy.get();
  const policy::Tool* entry = snapshot == nullptr ? nullptr : snapshot->bundle->find_tool(tool);
  // What the catalogue does not have is the boundary's to refuse.
  return entry == nullptr || servers_.is_offered(*entry);
}

enforcement::HandlerResult QueueServers::run(const enforcement::GrantedCall& call) {
  const std::string& name = call.tool().name;
  const bool is_method = is_method_entry(name);
  const ReplyForm form = is_method ? ReplyForm::kError : ReplyForm::kToolStructured;
  const auto told = [&](Answer answer) {
    enforcement::HandlerResult result = handler_result(std::move(answer), form);
    result.payload.clear();
    return result;
  };
  Upstream* upstream = servers_.find(call.tool().upstream_server);
  if (upstream == nullptr) return told({.kind = AnswerKind::kUnreachable});
  // The server may have changed its tools while the call was decided.
  if (!servers_.is_offered(call.tool())) return told({.kind = AnswerKind::kChanged});
  const std::string method = is_method ? name.substr(4) : "tools/call";
  const std::string params = request_params(call, method, std::nullopt);
  Answer answer = upstream->ask({.id = upstream->next_id(),
                                 .method = method,
                                 .params = params,
                                 .timeout = parts_.limits.call_timeout,
                                 .is_call = true},
                                call.stop());
  if (answer.kind == AnswerKind::kMalformed) {
    parts_.notices.say("server " + quoted(upstream->name()) + " answered " + method +
                       " with something else: " + answer.detail);
  }
  return told(std::move(answer));
}

void QueueServers::on_request(Upstream& upstream, mcp::Request request) {
  if (request.method == "ping") {
    upstream.post(mcp::result_line(request.id, "{}"));
    return;
  }
  upstream.post(mcp::error_line({.id = request.id,
                                 .code = mcp::kMethodNotFound,
                                 .message = "this is deferred work: there is no client to ask"}));
}

void QueueServers::on_notification(Upstream& upstream, mcp::Notification notification) {
  if (notification.method != "notifications/tools/list_changed") return;
  servers_.note_change(
      upstream,
      {.workers = workers_, .patience = parts_.patience.handshake, .stop = stop_.get_token()});
}

}  // namespace remit::gateway
