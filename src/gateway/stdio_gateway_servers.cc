// The servers' side: what they say on their own account, and where it belongs.
#include <array>
#include <utility>

#include "gateway/stdio_gateway.h"

namespace remit::gateway {
namespace {

bool is_number(const json::Value* value) {
  return value != nullptr && (value->if_integer() != nullptr || value->if_double() != nullptr);
}

// The params of a server's request as the client gets them: no progress token, since nothing could
// come back by it; no task, since none is spoken here; no keys that only we may write.
std::string passed_params(json::Object params) {
  params.erase("task");
  strip_own_meta(params);
  if (json::Value* meta = params.find("_meta")) {
    meta->if_object()->erase("progressToken");
    meta->if_object()->erase("io.modelcontextprotocol/related-task");
    if (meta->if_object()->empty()) params.erase("_meta");
  }
  return json::write(json::Value{std::move(params)});
}

}  // namespace

// Why a server's request is not passed on; empty if it is.
std::string StdioGateway::refusal_of(Upstream& upstream, const mcp::Request& request) {
  const auto facts = client();
  const mcp::Method* method =
      facts == nullptr ? nullptr
                       : mcp::find_method(mcp::Sender::kServer, mcp::MethodKind::kRequest,
                                          request.method, facts->revision);
  if (method == nullptr || facts->capabilities.find(method->capability) == nullptr) {
    return "the client does not offer this";
  }
  if (!upstream.has_live_call()) return "this belongs to no call in flight";
  return "";
}

void StdioGateway::on_request(Upstream& upstream, mcp::Request request) {
  if (request.method == "ping") {
    upstream.post(mcp::result_line(request.id, "{}"));
    return;
  }
  std::string refusal = refusal_of(upstream, request);
  int code = refusal.empty() ? mcp::kInternalError : mcp::kMethodNotFound;
  std::optional<std::int64_t> id;
  if (refusal.empty()) {
    id = server_requests_.open({.upstream = &upstream, .id = request.id});
    if (!id) {
      refusal = "too many requests are open, or one of this id";
      code = mcp::kInvalidRequest;
    }
  }
  if (id) {
    const std::string params = passed_params(std::move(request.params));
    if (outbox_.offer(mcp::request_line(mcp::RequestId{*id}, request.method, params))) {
      // The call may have ended meanwhile, and with it what belongs to it.
      if (!upstream.has_live_call()) end_of_call(upstream);
      return;
    }
    if (!server_requests_.take(mcp::RequestId{*id})) return;
    refusal = "the client takes nothing";
  }
  upstream.post(mcp::error_line({.id = request.id, .code = code, .message = refusal}));
}

// Takes back what a server asked of the client once none of its calls is in flight.
void StdioGateway::end_of_call(Upstream& upstream) {
  if (upstream.has_live_call()) return;
  for (const ServerRequests::Orphan& orphan : server_requests_.take_all(upstream)) {
    outbox_.offer(mcp::notification_line(
        "notifications/cancelled",
        json::write(json::Object{{"requestId", orphan.client_id}, {"reason", "the call ended"}})));
    upstream.post(mcp::error_line({.id = orphan.request.id,
                                   .code = mcp::kInvalidRequest,
                                   .message = "the call that this belonged to has ended"}));
  }
}

void StdioGateway::on_notification(Upstream& upstream, mcp::Notification notification) {
  if (notification.method == "notifications/tools/list_changed") {
    return note_changed_tools(upstream);
  }
  const auto facts = client();
  const mcp::Method* method =
      facts == nullptr ? nullptr
                       : mcp::find_method(mcp::Sender::kServer, mcp::MethodKind::kNotification,
                                          notification.method, facts->revision);
  if (method == nullptr) {
    // Before the client is there, or nothing that is known.
    return server_notifications_.count(
        parts_.notices,
        "server " + quoted(upstream.name()) + " sent a notification that is not passed on");
  }
  const std::string_view name = method->name;
  if (name == "notifications/cancelled") return pass_cancellation(upstream, notification.params);
  if (name == "notifications/progress") return pass_progress(upstream, notification.params);
  if (name.ends_with("/list_changed")) return pass_list_change(notification.method);
  if (name == "notifications/resources/updated") return pass_update(upstream, notification.params);
  if (!upstream.has_live_call()) return;
  if (name == "notifications/message") return pass_log_message(upstream, notification.params);
  if (name == "notifications/elicitation/complete") {
    const json::Value* id = notification.params.find("elicitationId");
    if (id == nullptr || id->if_string() == nullptr) return;
    outbox_.offer(mcp::notification_line(name, json::write(json::Object{{"elicitationId", *id}})),
                  kMaxQueuedBytesForNotifications);
  }
}

void StdioGateway::pass_progress(Upstream& upstream, const json::Object& params) {
  const json::Value* token = params.find("progressToken");
  const json::Value* progress = params.find("progress");
  if (token == nullptr || !is_number(progress)) return;
  const auto client_token = upstream.progress_token_of(*token);
  if (!client_token) {
    return stray_progress_.count(parts_.notices, "server " + quoted(upstream.name()) +
                                                     " reported progress of no call in flight");
  }
  json::Object passed{{"progressToken", client_token->value()}, {"progress", *progress}};
  if (is_number(params.find("total"))) passed.set("total", *params.find("total"));
  const json::Value* message = params.find("message");
  if (message != nullptr && message->if_string() != nullptr) passed.set("message", *message);
  outbox_.offer(
      mcp::notification_line("notifications/progress", json::write(json::Value{std::move(passed)})),
      kMaxQueuedBytesForNotifications);
}

void StdioGateway::pass_cancellation(Upstream& upstream, const json::Object& params) {
  const json::Value* given = params.find("requestId");
  const auto id = given == nullptr ? std::nullopt : mcp::RequestId::from(*given);
  if (!id) return;
  const auto client_id = server_requests_.take_back({.upstream = &upstream, .id = *id});
  if (!client_id) return;
  outbox_.offer(mcp::notification_line("notifications/cancelled",
                                       json::write(json::Object{{"requestId", *client_id}})));
}

void StdioGateway::pass_update(Upstream& upstream, const json::Object& params) {
  const json::Value* uri = params.find("uri");
  if (uri == nullptr || uri->if_string() == nullptr) return;
  {
    const MutexLock lock(mutex_);
    if (!subscriptions_.contains({upstream.name(), *uri->if_string()})) return;
  }
  outbox_.offer(mcp::notification_line("notifications/resources/updated",
                                       json::write(json::Object{{"uri", *uri}})),
                kMaxQueuedBytesForNotifications);
}

void StdioGateway::note_subscription(const std::string& method,
                                     const enforcement::GrantedCall& call,
                                     const Upstream& upstream) {
  const bool is_begin = method == "resources/subscribe";
  if (!is_begin && method != "resources/unsubscribe") return;
  const json::Value* uri = call.arguments().find("uri");
  if (uri == nullptr || uri->if_string() == nullptr) return;
  const MutexLock lock(mutex_);
  if (!is_begin) {
    subscriptions_.erase({upstream.name(), *uri->if_string()});
  } else if (subscriptions_.size() < kMaxSubscriptions) {
    subscriptions_.emplace(upstream.name(), *uri->if_string());
  }
}

void StdioGateway::pass_list_change(const std::string& method) {
  const auto facts = client();
  const std::string_view capability =
      method.starts_with("notifications/resources") ? "resources" : "prompts";
  if (facts == nullptr || !facts->offered.contains(capability)) return;
  outbox_.offer(mcp::notification_line(method, ""), kMaxQueuedBytesForNotifications);
}

void StdioGateway::note_changed_tools(Upstream& upstream) {
  servers_.note_change(upstream, {.workers = workers_,
                                  .patience = parts_.patience.handshake,
                                  .stop = stop_.get_token(),
                                  .then = [this] { tell_changed_tools(); }});
}

void StdioGateway::tell_changed_tools() {
  if (client() == nullptr) return;
  outbox_.offer(mcp::notification_line("notifications/tools/list_changed", ""),
                kMaxQueuedBytesForNotifications);
}

}  // namespace remit::gateway
