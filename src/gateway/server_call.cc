// A granted call as a request to a server.
#include "gateway/server_call.h"

#include <utility>

#include "gateway/call_meta.h"

namespace remit::gateway {
namespace {

json::Object meta_for(const enforcement::GrantedCall& call, std::optional<std::int64_t> token) {
  json::Object meta{{kInvocationIdKey, call.invocation_id()}};
  if (!call.run_id().empty()) meta.set(kRunIdKey, call.run_id());
  if (!call.case_id().empty()) meta.set(kCaseIdKey, call.case_id());
  if (token) meta.set("progressToken", *token);
  return meta;
}

}  // namespace

// `arguments` is JSON text of an object: for a tool a member of the params, for another method the
// params themselves.
std::string request_params(const enforcement::GrantedCall& call, const std::string& method,
                           std::optional<std::int64_t> progress_token) {
  std::string out = R"({"_meta":)" + json::write(json::Value{meta_for(call, progress_token)});
  const std::string& arguments = call.arguments_json();
  if (method == "tools/call") {
    out.append(R"(,"name":)");
    json::write_string(call.tool().upstream_tool, out);
    out.append(R"(,"arguments":)").append(arguments).append("}");
  } else if (arguments == "{}") {
    out.append("}");
  } else {
    out.append(",").append(arguments, 1);
  }
  return out;
}

enforcement::HandlerResult ServerCall::run(const enforcement::GrantedCall& call) {
  Upstream* upstream = gateway_.servers_.find(call.tool().upstream_server);
  if (upstream == nullptr) {
    return handler_result(Answer{.kind = AnswerKind::kUnreachable}, options_.form);
  }
  // The server may have changed its tools while the call was decided.
  if (!gateway_.servers_.is_offered(call.tool())) {
    return handler_result(Answer{.kind = AnswerKind::kChanged}, options_.form);
  }
  const std::int64_t id = upstream->next_id();
  // The server's token is the id of its request: it names one live call and nothing else.
  std::optional<std::int64_t> token;
  if (options_.progress_token) token = id;
  const std::string params = request_params(call, options_.method, token);
  Answer answer = upstream->ask({.id = id,
                                 .method = options_.method,
                                 .params = params,
                                 .timeout = gateway_.parts_.limits.call_timeout,
                                 .is_call = true,
                                 .progress_token = options_.progress_token},
                                call.stop());
  share_ = std::move(answer.share);
  gateway_.end_of_call(*upstream);
  if (answer.kind == AnswerKind::kMalformed) {
    gateway_.parts_.notices.say("server " + quoted(upstream->name()) + " answered " +
                                options_.method + " with something else: " + answer.detail);
  }
  if (answer.kind == AnswerKind::kResult) {
    gateway_.note_subscription(options_.method, call, *upstream);
  }
  return handler_result(std::move(answer), options_.form);
}

}  // namespace remit::gateway
