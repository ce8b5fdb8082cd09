// The HTTP adapter before callers with bearer tokens, over real connections.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "adapter/http_adapter.h"
#include "http/client.h"
#include "identity/jwt_authenticator.h"
#include "identity/pinned_authenticator.h"
#include "tests/support/boundary_world.h"
#include "tests/support/raw_socket.h"
#include "tests/support/tokens.h"

namespace remit {
namespace {

using enforcement::testing::text_of;
using enforcement::testing::World;
using testing::FakeClock;
using testing::SigningKey;

constexpr std::int64_t kNow = FakeClock::kStartUnixNs / 1'000'000'000;

class FixedKeys final : public identity::KeySource {
 public:
  explicit FixedKeys(const json::Array& keys)
      : keys_(std::make_shared<const identity::KeySet>(
            identity::KeySet::parse(testing::key_set_text(keys)).value())) {}
  [[nodiscard]] identity::KnownKeys known() const override { return {keys_}; }

 private:
  std::shared_ptr<const identity::KeySet> keys_;
};

/// Sees every header that reaches it.
class OldDesk final : public http::Handler {
 public:
  http::Response handle(const http::Request& request, std::stop_token) override {
    const MutexLock lock(mutex_);
    for (const http::Field& field : request.headers.fields()) seen_ += field.name + field.value;
    return {.status = 200, .body = "done"};
  }
  std::string seen() {
    const MutexLock lock(mutex_);
    return seen_;
  }

 private:
  Mutex mutex_;
  std::string seen_ REMIT_GUARDED_BY(mutex_);
};

class HttpDoor : public ::testing::Test {
 protected:
  HttpDoor() {
    world_.authenticator.behave = [this](const access::Credential& credential) {
      return who_.authenticate(credential, world_.clock.wall_now());
    };
    adapter::HttpAdapterOptions options{
        .endpoints = {{"GET", "/invoices/{invoice}", "invoice.read"},
                      {"POST", "/export", "admin.export"}},
        .challenge = {.realm = "desk", .resource_metadata = "https://desk.example/metadata"}};
    adapter_ =
        adapter::HttpAdapter::create(std::move(options), *world_.boundary, desk_, real_clock_)
            .value();
    server_ = http::Server::start({}, *adapter_, real_clock_).value();
  }
  static json::Object claims() {
    const access::Principal alice = enforcement::testing::FakeAuthenticator::alice();
    std::string scopes;
    for (const std::string& scope : alice.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
    return {{"iss", "https://id.example/"},
            {"aud", "desk"},
            {"sub", alice.subject},
            {"exp", kNow + 60},
            {"tenant", alice.tenant},
            {"class", alice.class_name},
            {"scope", scopes}};
  }
  static json::Object with(const std::string& name, json::Value value) {
    json::Object out = claims();
    out.set(name, std::move(value));
    return out;
  }
  /// `STATUS CHALLENGE`.
  std::string ask(const std::string& authorization, const std::string& target = "/invoices/march",
                  const std::string& method = "GET") {
    http::ClientRequest request{
        .method = method,
        .url = http::Url::parse("http://127.0.0.1:" + std::to_string(server_->port()) + target)
                   .value(),
        .deadline = real_clock_.monotonic_now() + std::chrono::minutes{2}};
    if (!authorization.empty()) request.headers.set("Authorization", authorization);
    const Result<http::Response> response = client_->send(request);
    if (!response) return response.error().to_string();
    const std::string* challenge = response->headers.find("WWW-Authenticate");
    return std::to_string(response->status) + (challenge == nullptr ? "" : " " + *challenge);
  }

  const SigningKey key_{"ES256"};
  const FixedKeys keys_{{key_.jwk()}};
  const SystemClock real_clock_;
  World world_;
  const identity::PinnedAuthenticator nobody_{std::nullopt, world_.key};
  const identity::JwtAuthenticator who_{{.issuer = "https://id.example/", .audiences = {"desk"}},
                                        keys_,
                                        nullptr,
                                        world_.key,
                                        nobody_};
  OldDesk desk_;
  std::unique_ptr<adapter::HttpAdapter> adapter_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Client> client_ = http::Client::create({}, real_clock_).value();
};

// REQ-BD-121, REQ-BD-123.
TEST_F(HttpDoor, LetsInWhoeverATokenSays) {
  const std::string metadata = R"(, resource_metadata="https://desk.example/metadata")";
  const std::string nobody = R"(401 Bearer realm="desk")" + metadata;
  const std::string wrong = R"(401 Bearer realm="desk", error="invalid_token")" + metadata;
  const std::string token = key_.token(claims());
  EXPECT_EQ(ask("Bearer " + token), "200");
  EXPECT_EQ(ask("bearer   " + token), "200");
  EXPECT_EQ(ask(""), nobody);
  EXPECT_EQ(ask("", "/invoices/march?access_token=" + token), nobody)
      << "a token in a URL ends up in logs, and is none (RFC 6750 section 5.3)";
  for (const std::string& bad :
       {token, std::string("Bearer"), "Basic " + token, "Bearer " + token + "x",
        "Bearer " + token + " x", "Bearer " + token + "," + token, "Bearer Bearer " + token,
        "DPoP " + token, "Bearer " + SigningKey("ES256").token(claims()),
        "Bearer " + key_.token(with("aud", "x")), "Bearer " + key_.token(with("exp", kNow - 60)),
        "Bearer " + testing::symmetric_token(R"({"alg":"HS256","kid":"k1"})",
                                             json::write(json::Value{claims()}),
                                             key_.public_pem())}) {
    EXPECT_EQ(ask(bad), wrong) << bad;
  }
  EXPECT_EQ(
      ask("Bearer " + token, "/export", "POST"),
      R"(403 Bearer realm="desk", error="insufficient_scope", scope="admin:export")" + metadata);
  EXPECT_EQ(ask("Bearer " + key_.token(with("tenant", "tenant-z"))), "403");
  EXPECT_EQ(ask("Bearer " + token), "200") << "the server holds nothing against anybody";
}

// REQ-ID-013, REQ-ID-016.
TEST_F(HttpDoor, RecordsWhoItWasAndNothingOfTheToken) {
  const std::string token = key_.token(with("act", json::Object{{"sub", "agent-7"}}));
  EXPECT_EQ(ask("Bearer " + token), "200");
  const std::string log = world_.evidence.text();
  const std::size_t signature = token.rfind('.') + 1;
  for (const std::string& trace :
       {token, token.substr(signature), token.substr(signature, 20), std::string("agent-7"),
        std::string("\"alice\""), std::string("id.example")}) {
    EXPECT_EQ(log.find(trace), std::string::npos) << trace;
    EXPECT_EQ(desk_.seen().find(trace), std::string::npos) << trace;
  }
  std::string revision;
  for (const json::Value& event : world_.evidence.events()) {
    if (text_of(event, "event") == "authorization.decision") {
      revision = text_of(event, "principal_revision");
    }
  }
  EXPECT_TRUE(revision.starts_with("sha256:")) << revision;
}

TEST_F(HttpDoor, ATokenBeyondEveryBoundIsRefusedUnread) {
  testing::RawSocket socket = testing::RawSocket::to(server_->port());
  const std::string head =
      "GET /invoices/march HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ";
  socket.send(head + std::string(kMaxHeadBytes, 'A') + "\r\n\r\n");
  EXPECT_TRUE(socket.read_to("\r\n").starts_with("HTTP/1.1 431 "));
  const std::string twice = "Authorization: Bearer " + key_.token(claims()) + "\r\n";
  testing::RawSocket two = testing::RawSocket::to(server_->port());
  two.send("GET /invoices/march HTTP/1.1\r\nHost: localhost\r\n" + twice + twice + "\r\n");
  EXPECT_TRUE(two.read_to("\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(desk_.seen(), "");
}

}  // namespace
}  // namespace remit
