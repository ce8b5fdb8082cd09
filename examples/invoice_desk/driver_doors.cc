// A call of the pack through each door whose caller waits, and the answer in one word.
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "admin.h"
#include "agent.h"
#include "agent_session.h"
#include "direct.h"
#include "driver.h"
#include "http/client.h"
#include "mcp_client.h"

namespace remit::examples {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string status_in(const json::Value* told) {
  const json::Value* status = told == nullptr ? nullptr : told->find("status");
  const std::string* word = status == nullptr ? nullptr : status->if_string();
  return word == nullptr ? "" : *word;
}

// A result, or an error's object; both carry what the boundary says in a place of its own.
Told told_by_agent(const json::Value& answer) {
  std::string status = status_in(answer.find("structuredContent"));
  if (status.empty()) status = status_in(answer.find("data"));
  if (status.empty()) {
    const json::Value* is_error = answer.find("isError");
    const bool has_failed =
        answer.find("code") != nullptr || (is_error != nullptr && *is_error == json::Value(true));
    status = has_failed ? "failed" : "result";
  }
  return {status, json::write(answer)};
}

Told told_by_response(const http::Response& response) {
  const Result<json::Value> body = json::parse(response.body);
  std::string status = body ? status_in(&*body) : "";
  if (status.empty()) {
    status = response.status < 400 ? "result" : response.status < 500 ? "failed" : "unknown";
  }
  return {status, fmt::format("{} {}", response.status, response.body)};
}

/// An old handler with one endpoint, which is one tool.
class OldEndpoint final : public http::Handler {
 public:
  OldEndpoint(Books& books, std::string tool) : books_(books), tool_(std::move(tool)) {}

  http::Response handle(const http::Request& request, std::stop_token /*stop*/) override {
    const std::string* invocation = request.headers.find("Remit-Invocation-Id");
    Result<json::Value> arguments = json::parse(request.body);
    if (!arguments) return http::text_response(400, "no such body");
    const json::Value* resource = arguments->find("invoice");
    if (resource == nullptr) resource = arguments->find("from");
    const std::string* id = resource == nullptr ? nullptr : resource->if_string();
    const Result<json::Value> done =
        books_.use({.tool = tool_,
                    .resource = id == nullptr ? "" : *id,
                    .arguments = *std::move(arguments),
                    .origin = {.invocation_id = invocation == nullptr ? "" : *invocation,
                               .run_id = {},
                               .case_id = {}}});
    if (done) return {.status = 200, .body = json::write(*done)};
    const bool is_lost = done.error().code == ErrorCode::kDataLoss;
    return http::text_response(is_lost ? 502 : 409, "not done");
  }

 private:
  Books& books_;
  std::string tool_;
};

}  // namespace

AgentSession::AgentSession(Office& office, std::vector<std::string> server,
                           const process::TerminationSignals& signals, process::Pipe to,
                           process::Pipe from)
    : to_(std::move(to)),
      from_(std::move(from)),
      client_(to_.write_end.get(), from_.read_end.get()),
      thread_([this, &office, server = std::move(server), &signals] {
        // A server that does not start is seen by the client, which gets no answer.
        static_cast<void>(
            serve_agent(office, server, to_.read_end.get(), from_.write_end.get(), signals));
        from_.write_end.close();
      }) {}

AgentSession::~AgentSession() {
  to_.write_end.close();
  thread_.join();
}

Result<std::unique_ptr<AgentSession>> AgentSession::start(
    Office& office, std::vector<std::string> server, const process::TerminationSignals& signals) {
  REMIT_TRY_ASSIGN(process::Pipe to, process::make_pipe());
  REMIT_TRY_ASSIGN(process::Pipe from, process::make_pipe());
  auto session = std::make_unique<AgentSession>(office, std::move(server), signals, std::move(to),
                                                std::move(from));
  REMIT_TRY(session->client().shake_hands());
  return session;
}

Result<Told> Driver::through_direct(const Asked& asked) {
  return ask_directly(office(), asked);
}

Result<Told> Driver::through_admin(const Asked& asked) {
  std::vector<std::string> words{asked.tool, asked.arguments_json};
  if (!asked.key.empty()) words.insert(words.end(), {"--key", asked.key});
  const std::string badge =
      asked.credential.kind() == access::Credential::Kind::kNone ? "" : asked.credential.secret();
  std::ostringstream out;
  switch (run_admin(office(), words, badge, out)) {
    case 0:
      return Told{"result", out.str()};
    case 1:
      return Told{"denied", out.str()};
    case 2:
      return Told{"failed", out.str()};
    case 3:
      return Told{"unknown", out.str()};
    default:
      return Error{ErrorCode::kInternal, "the command line is refused: " + out.str()};
  }
}

Result<Told> Driver::through_agent(const Asked& asked) {
  // Over stdio nobody presents a badge: who started the session is who asks.
  office().staff().take_seat(
      asked.credential.kind() == access::Credential::Kind::kNone ? "" : asked.credential.secret());
  REMIT_TRY_ASSIGN(AgentSession * session, agent());
  REMIT_TRY_ASSIGN(json::Value arguments, json::parse(asked.arguments_json));
  json::Object params{{"name", asked.tool}, {"arguments", std::move(arguments)}};
  if (!asked.key.empty()) {
    params.set("_meta", json::Object{{"io.remit/idempotency-key", asked.key}});
  }
  REMIT_TRY_ASSIGN(const json::Value answer,
                   session->client().request("tools/call", std::move(params)));
  return told_by_agent(answer);
}

Result<std::unique_ptr<http::Handler>> Driver::before(http::Handler& old,
                                                      std::vector<adapter::Endpoint> endpoints) {
  REMIT_TRY_ASSIGN(auto guarded, guard_old_desk(office(), old, std::move(endpoints)));
  return std::unique_ptr<http::Handler>(std::move(guarded));
}

Result<Told> Driver::through_legacy(const Asked& asked) {
  OldEndpoint old(books(), asked.tool);
  REMIT_TRY_ASSIGN(const std::unique_ptr<http::Handler> front,
                   before(old, {{"POST", "/old", asked.tool}}));
  REMIT_TRY_ASSIGN(const std::unique_ptr<http::Server> server,
                   http::Server::start({.workers = 1}, *front, clock_));
  REMIT_TRY_ASSIGN(const std::unique_ptr<http::Client> client, http::Client::create({}, clock_));
  http::ClientRequest request{
      .method = "POST",
      .url = {.is_secure = false, .host = "127.0.0.1", .port = server->port(), .target = "/old"},
      .headers = {{"Content-Type", "application/json"}},
      .body = asked.arguments_json,
      .deadline = clock_.monotonic_now() + kPatience};
  if (asked.credential.kind() != access::Credential::Kind::kNone) {
    request.headers.set("Authorization", "Bearer " + asked.credential.secret());
  }
  if (!asked.key.empty()) request.headers.set("Idempotency-Key", asked.key);
  REMIT_TRY_ASSIGN(const http::Response response, client->send(request));
  return told_by_response(response);
}

}  // namespace remit::examples
