// The legacy route: what is told of each refusal, what the old handler sees, what is recorded.
#include "adapter/http_adapter.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "adapter/denial_response.h"
#include "tests/support/boundary_world.h"
#include "tests/support/raw_socket.h"

namespace remit::adapter {
namespace {

using access::ReasonCode;
using enforcement::testing::text_of;
using enforcement::testing::World;
using testing::RawSocket;

/// The handler that was there before: does what it is asked, for anybody.
class OldDesk final : public http::Handler {
 public:
  std::function<http::Response(const http::Request&)> behave = [](const http::Request&) {
    return http::Response{
        .status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = "done"};
  };
  http::Response handle(const http::Request& request, std::stop_token) override {
    const MutexLock lock(mutex_);
    seen.push_back(request);
    return behave(request);
  }
  std::vector<http::Request> seen;

 private:
  Mutex mutex_;
};

class HttpAdapterTest : public ::testing::Test {
 protected:
  static HttpAdapterOptions options() {
    return {.endpoints = {{"GET", "/invoices/{invoice}", "invoice.read"},
                          {"POST", "/invoices/move", "invoice.move"},
                          {"POST", "/notes/{invoice}", "note.add"},
                          {"POST", "/export", "admin.export"},
                          {"POST", "/sums", "sums.add"},
                          {"GET", "/gone", "no.such.tool"}},
            .run_id = "run-1"};
  }
  void make(HttpAdapterOptions with = options()) {
    adapter_ = HttpAdapter::create(std::move(with), *world_.boundary, desk_, world_.clock).value();
  }
  static http::Request request(const std::string& method, const std::string& target,
                               const std::string& body = "") {
    http::Request out{.method = method, .target = target, .headers = {}, .body = body};
    out.headers.set("Host", "localhost");
    out.headers.set("Authorization", "Bearer secret-token");
    if (!body.empty()) out.headers.set("Content-Type", "application/json");
    return out;
  }
  http::Response ask(const http::Request& asked) { return adapter_->handle(asked, {}); }
  /// Members of the recorded events of one kind.
  [[nodiscard]] std::vector<std::string> recorded(const std::string& event,
                                                  const std::string& key) const {
    std::vector<std::string> out;
    for (const json::Value& one : world_.evidence.events()) {
      if (text_of(one, "event") == event) out.push_back(text_of(one, key));
    }
    return out;
  }
  static std::string header(const http::Response& response, std::string_view name) {
    const std::string* value = response.headers.find(name);
    return value == nullptr ? "-" : *value;
  }

  World world_;
  OldDesk desk_;
  std::unique_ptr<HttpAdapter> adapter_;
};

TEST_F(HttpAdapterTest, LetsTheOldHandlerAnswerWhatIsAllowed) {
  make();
  const http::Response response = ask(request("GET", "/invoices/march"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(recorded("authorization.decision", "reason"), std::vector<std::string>{"allowed"});
  EXPECT_EQ(recorded("tool.request", "route"), std::vector<std::string>{"legacy"});
  EXPECT_EQ(recorded("tool.request", "run_id"), std::vector<std::string>{"run-1"});
  EXPECT_EQ(recorded("executor.finish", "outcome"), std::vector<std::string>{"succeeded"});
}

// REQ-BD-122.
TEST_F(HttpAdapterTest, ShowsTheOldHandlerWhatWasJudgedAndNoCredential) {
  HttpAdapterOptions with = options();
  with.passed_headers.emplace_back("X-Locale");
  make(std::move(with));
  http::Request asked = request("POST", "/invoices/move", R"({ "to":"b", "note":1, "from":"a" })");
  asked.headers.set("Cookie", "session=secret-cookie");
  asked.headers.set("X-Forwarded-User", "root");
  asked.headers.set("X-Locale", "de");
  asked.headers.set("Remit-Invocation-Id", "forged");
  asked.headers.set("Remit-Resource-Revision", "forged");
  ASSERT_EQ(ask(asked).status, 200);
  ASSERT_EQ(desk_.seen.size(), 1U);
  const http::Request& seen = desk_.seen.front();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/invoices/move");
  EXPECT_EQ(seen.body, R"({"from":"canonical-a","note":1,"to":"canonical-b"})");
  EXPECT_EQ(seen.headers.fields(),
            (std::vector<http::Field>{
                {"Content-Type", "application/json"},
                {"X-Locale", "de"},
                {"Remit-Invocation-Id", recorded("executor.start", "invocation_id").at(0)},
                {"Remit-Resource-Revision", "12"}}));
  ASSERT_EQ(ask(request("GET", "/invoices/a%2Fb")).status, 200);
  EXPECT_EQ(desk_.seen.back().target, "/invoices/canonical-a%2Fb");
}

struct Refused {
  const char* name;
  std::function<void(World&, http::Request&)> arrange;
  int status;
  std::string code;
  std::string challenge;
  std::string reason;
};

std::function<void(World&, http::Request&)> decision(ReasonCode reason) {
  return [reason](World& world, http::Request&) {
    world.decision_point->behave = [reason](const decision::DecisionRequest&) {
      return Result<access::Decision>(access::Decision::deny(reason, {"p"}));
    };
  };
}

std::function<void(World&, http::Request&)> identity(access::PrincipalState state) {
  return [state](World& world, http::Request&) {
    world.authenticator.behave = [state](const access::Credential&) {
      return identity::Identity{.state = state};
    };
  };
}

// REQ-BD-121.
TEST_F(HttpAdapterTest, TellsEachRefusalAsTheTableSays) {
  const Refused table[] = {
      {"no credential",
       [](World&, http::Request& asked) {
         asked = {.method = "GET", .target = "/invoices/march", .headers = {}, .body = {}};
       },
       401, "unauthenticated", R"(Bearer realm="remit")", "missing_identity"},
      {"an invalid one", identity(access::PrincipalState::kInvalid), 401, "unauthenticated",
       R"(Bearer realm="remit", error="invalid_token")", "invalid_identity"},
      {"an expired one", identity(access::PrincipalState::kExpired), 401, "unauthenticated",
       R"(Bearer realm="remit", error="invalid_token")", "expired_identity"},
      {"no scope", [](World&, http::Request& asked) { asked = request("POST", "/export"); }, 403,
       "missing_scope", R"(Bearer realm="remit", error="insufficient_scope", scope="admin:export")",
       "missing_scope"},
      {"no tool", [](World&, http::Request& asked) { asked = request("GET", "/gone"); }, 404,
       "unknown_tool", "-", "unknown_tool"},
      {"no endpoint", [](World&, http::Request& asked) { asked.target = "/admin"; }, 404,
       "unknown_tool", "-", "unknown_tool"},
      {"no JSON",
       [](World&, http::Request& asked) { asked = request("POST", "/invoices/move", "{"); }, 400,
       "invalid_request", "-", "invalid_request"},
      {"a form",
       [](World&, http::Request& asked) {
         asked = request("POST", "/invoices/move", "from=a");
         asked.headers.set("Content-Type", "application/x-www-form-urlencoded");
       },
       400, "invalid_request", "-", "invalid_request"},
      {"an argument that the schema lacks",
       [](World&, http::Request& asked) { asked.target += "?tenant=tenant-b"; }, 422,
       "invalid_arguments", "-", "invalid_arguments"},
      {"not found",
       [](World&, http::Request& asked) { asked = request("GET", "/invoices/missing"); }, 403,
       "not_available", "-", "resource_not_found"},
      {"foreign", [](World&, http::Request& asked) { asked = request("GET", "/invoices/foreign"); },
       403, "not_available", "-", "tenant_mismatch"},
      {"forbidden", decision(ReasonCode::kForbidden), 403, "not_available", "-", "forbidden"},
      {"not permitted", decision(ReasonCode::kNotPermitted), 403, "not_available", "-",
       "not_permitted"},
      {"a store that is down",
       [](World& world, http::Request&) {
         world.invoices.behave = [](const attributes::ResourceQuery&) {
           return Result<access::Resource>(Error{ErrorCode::kUnavailable, "down"});
         };
       },
       503, "unavailable", "-", "resolver_unavailable"},
      {"policy that errs", decision(ReasonCode::kPolicyError), 503, "unavailable", "-",
       "policy_error"},
      {"a key of nothing",
       [](World&, http::Request& asked) { asked.headers.set("Idempotency-Key", ""); }, 400,
       "invalid_request", "-", "invalid_request"},
      {"a long key",
       [](World&, http::Request& asked) {
         asked.headers.set("Idempotency-Key", std::string(257, 'k'));
       },
       400, "invalid_request", "-", "invalid_request"},
  };
  std::set<std::string> not_available;
  for (const Refused& row : table) {
    World world;
    OldDesk desk;
    const auto adapter = HttpAdapter::create(options(), *world.boundary, desk, world.clock).value();
    http::Request asked = request("GET", "/invoices/march");
    row.arrange(world, asked);
    const http::Response response = adapter->handle(asked, {});
    EXPECT_EQ(response.status, row.status) << row.name;
    const Result<json::Value> body = json::parse(response.body);
    ASSERT_TRUE(body) << row.name;
    EXPECT_EQ(text_of(*body, "status"), "denied") << row.name;
    EXPECT_EQ(text_of(*body, "code"), row.code) << row.name;
    EXPECT_EQ(header(response, "WWW-Authenticate"), row.challenge) << row.name;
    EXPECT_EQ(header(response, "Content-Type"), "application/json") << row.name;
    EXPECT_EQ(header(response, "Cache-Control"), "no-store") << row.name;
    EXPECT_EQ(header(response, "Retry-After"), row.status == 503 ? "1" : "-") << row.name;
    EXPECT_TRUE(desk.seen.empty()) << row.name;
    std::vector<std::string> reasons;
    for (const json::Value& one : world.evidence.events()) {
      if (text_of(one, "event") == "authorization.decision") {
        reasons.push_back(text_of(one, "reason"));
      }
    }
    EXPECT_EQ(reasons, std::vector<std::string>{row.reason}) << row.name;
    EXPECT_EQ(world.evidence.text().find("secret-token"), std::string::npos) << row.name;
    if (row.code == "not_available") {
      std::string bytes = std::to_string(response.status) + response.body;
      for (const auto& [name, value] : response.headers.fields()) bytes += name + value;
      not_available.insert(bytes);
    }
  }
  EXPECT_EQ(not_available.size(), 1U) << "four reasons, one answer, byte for byte";
}

TEST_F(HttpAdapterTest, TellsOfTheReasonsThatOnlyOtherPartsGive) {
  const auto status = [](ReasonCode reason, bool is_too_large = false) {
    enforcement::Denial denial;
    denial.reason = reason;
    return denial_response(denial, {}, is_too_large).status;
  };
  EXPECT_EQ(status(ReasonCode::kApprovalRequired), 403);
  EXPECT_EQ(status(ReasonCode::kStaleApproval), 403);
  EXPECT_EQ(status(ReasonCode::kDuplicateInvocation), 409);
  EXPECT_EQ(status(ReasonCode::kOutcomeUnknown), 409);
  EXPECT_EQ(status(ReasonCode::kLimitExceeded), 429);
  EXPECT_EQ(status(ReasonCode::kLimitExceeded, true), 413);
  EXPECT_EQ(status(ReasonCode::kUnknownRoute), 404);
  EXPECT_EQ(status(ReasonCode::kPolicyUnavailable), 503);
  EXPECT_EQ(status(ReasonCode::kEvidenceUnavailable), 503);
  enforcement::Denial odd;
  odd.reason = ReasonCode::kMissingScope;
  odd.scopes_needed = {"a\"b"};
  EXPECT_EQ(*denial_response(odd).headers.find("WWW-Authenticate"),
            R"(Bearer realm="remit", error="insufficient_scope")");
  odd.scopes_needed = {"a", "b"};
  EXPECT_EQ(*denial_response(odd, {.realm = "desk", .resource_metadata = "https://d/m"})
                 .headers.find("WWW-Authenticate"),
            R"(Bearer realm="desk", error="insufficient_scope", scope="a b", )"
            R"(resource_metadata="https://d/m")");
}

// REQ-BD-123.
TEST_F(HttpAdapterTest, TakesNoCredentialForNone) {
  make();
  std::vector<access::Credential> seen;
  world_.authenticator.behave = [&](const access::Credential& credential) {
    seen.push_back(credential);
    return identity::Identity{.state = access::PrincipalState::kInvalid};
  };
  for (const char* const value :
       {"Bearer abc", "bearer  abc", "Basic dTpw", "abc", "Bearer", "", "Bearer ", "Bearer    "}) {
    http::Request asked = request("GET", "/invoices/march");
    asked.headers.set("Authorization", value);
    EXPECT_EQ(ask(asked).status, 401) << value;
  }
  ASSERT_EQ(seen.size(), 8U);
  EXPECT_EQ(seen[0].secret(), "abc");
  EXPECT_EQ(seen[1].secret(), "abc");
  EXPECT_EQ(seen[2].secret(), "Basic dTpw");
  for (std::size_t i = 3; i < seen.size(); ++i) EXPECT_EQ(seen[i].secret(), "") << i;
  for (const access::Credential& credential : seen) {
    EXPECT_EQ(credential.kind(), access::Credential::Kind::kBearer);
  }
}

TEST_F(HttpAdapterTest, IdentityComesBeforeWhatExists) {
  make();
  world_.authenticator.behave = [](const access::Credential&) {
    return identity::Identity{.state = access::PrincipalState::kMissing};
  };
  EXPECT_EQ(ask(request("GET", "/nowhere")).status, 401);
  EXPECT_EQ(ask(request("GET", "/gone")).status, 401);
}

// REQ-BD-124.
TEST_F(HttpAdapterTest, RecordsWhatBecameOfTheCall) {
  make();
  struct {
    std::function<http::Response(const http::Request&)> behave;
    int status;
    const char* outcome;
    const char* error_type;
  } const table[] = {
      {[](const http::Request&) { return http::Response{.status = 204}; }, 204, "succeeded", ""},
      {[](const http::Request&) { return http::Response{.status = 302}; }, 302, "succeeded", ""},
      {[](const http::Request&) { return http::text_response(404, "no"); }, 404, "failed",
       "http_404"},
      {[](const http::Request&) { return http::text_response(500, "no"); }, 500, "unknown",
       "http_500"},
      {[](const http::Request&) {
         return http::Response{.status = 200, .stream = std::make_shared<http::BodyStream>()};
       },
       500, "unknown", "streamed_response"},
      {[](const http::Request&) -> http::Response { throw std::runtime_error("secret"); }, 500,
       "unknown", nullptr},
  };
  for (const auto& row : table) {
    world_.evidence.clear();
    desk_.behave = row.behave;
    const http::Response response = ask(request("GET", "/invoices/march"));
    EXPECT_EQ(response.status, row.status);
    EXPECT_EQ(response.stream, nullptr);
    EXPECT_EQ(recorded("executor.finish", "outcome"), std::vector<std::string>{row.outcome});
    if (row.error_type != nullptr) {
      EXPECT_EQ(recorded("executor.finish", "error_type"),
                std::vector<std::string>{row.error_type});
    }
  }
  const http::Response thrown = ask(request("GET", "/invoices/march"));
  EXPECT_EQ(text_of(json::parse(thrown.body).value(), "status"), "unknown");
}

TEST_F(HttpAdapterTest, EntersNoHandlerForARequestThatCannotBeWritten) {
  world_.invoices.behave = [](const attributes::ResourceQuery& query) {
    auto found = World::find(query);
    found->id = "..";
    return found;
  };
  make();
  const http::Response response = ask(request("GET", "/invoices/march"));
  EXPECT_EQ(response.status, 500);
  EXPECT_TRUE(desk_.seen.empty());
  EXPECT_EQ(recorded("executor.finish", "error_type"),
            std::vector<std::string>{"unwritable_request"});
}

TEST_F(HttpAdapterTest, BoundsTheRateOfCalls) {
  HttpAdapterOptions with = options();
  with.calls_per_second = 2;
  make(std::move(with));
  EXPECT_EQ(ask(request("GET", "/invoices/march")).status, 200);
  EXPECT_EQ(ask(request("GET", "/invoices/march")).status, 200);
  const http::Response fast = ask(request("GET", "/invoices/march"));
  EXPECT_EQ(fast.status, 429);
  EXPECT_EQ(header(fast, "Retry-After"), "1");
  EXPECT_EQ(recorded("authorization.decision", "reason").back(), "limit_exceeded");
  world_.clock.advance(std::chrono::milliseconds{500});
  EXPECT_EQ(ask(request("GET", "/invoices/march")).status, 200);
}

// REQ-BD-126: a stranger uses up nobody else's calls.
TEST_F(HttpAdapterTest, BoundsTheRateOfEachAddressByItself) {
  HttpAdapterOptions with = options();
  with.calls_per_second = 2;
  make(std::move(with));
  http::Request strangers = request("GET", "/invoices/march");
  strangers.peer = "192.0.2.1";
  std::multiset<int> told;
  for (int i = 0; i < 20; ++i) told.insert(ask(strangers).status);
  EXPECT_EQ(told.count(200), 2U);
  EXPECT_EQ(told.count(429), 18U);
  http::Request ours = request("GET", "/invoices/march");
  ours.peer = "198.51.100.7";
  EXPECT_EQ(ask(ours).status, 200);
}

// REQ-BD-127: the trace of the caller joins its record, also where it is refused.
TEST_F(HttpAdapterTest, JoinsTheRecordWithTheCallersTrace) {
  make();
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const std::string span = "00f067aa0ba902b7";
  http::Request asked = request("GET", "/invoices/march");
  asked.headers.set("Traceparent", "00-" + trace + "-" + span + "-01");
  EXPECT_EQ(ask(asked).status, 200);
  asked.target = "/nowhere";
  EXPECT_EQ(ask(asked).status, 404);
  asked.headers.set("Traceparent", "00-" + trace + "-nonsense-01");
  EXPECT_EQ(ask(asked).status, 404) << "what is none is not there";
  EXPECT_EQ(recorded("tool.request", "trace_id"), (std::vector<std::string>{trace, trace, ""}));
  EXPECT_EQ(recorded("tool.request", "span_id"), (std::vector<std::string>{span, span, ""}));
}

TEST_F(HttpAdapterTest, RefusesOptionsThatPassACredential) {
  for (const char* const name : {"authorization", "Cookie", "X-API-Key"}) {
    HttpAdapterOptions with = options();
    with.passed_headers = {name};
    const auto made = HttpAdapter::create(std::move(with), *world_.boundary, desk_, world_.clock);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidInput);
  }
  for (const Challenge& challenge : {Challenge{.realm = "a\"b"}, Challenge{.realm = "a\r\nX: y"},
                                     Challenge{.resource_metadata = "http://desk.example/m"},
                                     Challenge{.resource_metadata = "m"}}) {
    HttpAdapterOptions with = options();
    with.challenge = challenge;
    EXPECT_FALSE(HttpAdapter::create(std::move(with), *world_.boundary, desk_, world_.clock));
  }
  HttpAdapterOptions with = options();
  with.endpoints.push_back({"GET", "/invoices/march", "other"});
  EXPECT_FALSE(HttpAdapter::create(std::move(with), *world_.boundary, desk_, world_.clock));
}

// REQ-BD-125.
TEST_F(HttpAdapterTest, RecordsWhatTheServerRefusesToRead) {
  make();
  const SystemClock clock;
  const auto server =
      http::Server::start({.limits = {.body_bytes = 100}}, *adapter_, clock).value();
  const auto send = [&](const std::string& bytes) {
    RawSocket socket = RawSocket::to(server->port());
    socket.send(bytes);
    return socket.read_all();
  };
  const std::string allowed = send(
      "GET /invoices/march HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_TRUE(allowed.starts_with("HTTP/1.1 200 OK\r\n")) << allowed;
  EXPECT_TRUE(allowed.ends_with("done"));
  EXPECT_TRUE(send("POST /invoices/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n")
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(send("POST /invoices/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n")
                  .starts_with("HTTP/1.1 400 "));
  const std::string origin = send(
      "POST /invoices/move HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n"
      "Authorization: Bearer t\r\n\r\n");
  EXPECT_TRUE(origin.starts_with("HTTP/1.1 403 ")) << origin;
  EXPECT_NE(origin.find(R"("code":"invalid_request")"), std::string::npos) << origin;
  EXPECT_EQ(desk_.seen.size(), 1U);
  EXPECT_EQ(recorded("authorization.decision", "reason"),
            (std::vector<std::string>{"allowed", "limit_exceeded", "invalid_request",
                                      "invalid_request"}));
  EXPECT_EQ(recorded("tool.request", "tool"),
            (std::vector<std::string>{"invoice.read", "invoice.move", "", "invoice.move"}));
}

}  // namespace
}  // namespace remit::adapter
