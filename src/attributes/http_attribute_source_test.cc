// Answers of a service as resources: good ones, bad ones, and services in trouble.
#include "attributes/http_attribute_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "http/server.h"
#include "tests/support/certificates.h"
#include "tests/support/raw_socket.h"

namespace remit::attributes {
namespace {

using namespace std::chrono_literals;
using testing::RawSocket;
using testing::ScriptedServer;

class HttpAttributeSourceTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<HttpAttributeSource> open(
      const std::string& url, std::chrono::milliseconds timeout = 10s) const {
    auto source = HttpAttributeSource::open(
        {.type = "Account", .url = url, .timeout = timeout, .source = "accounts"}, clock_);
    EXPECT_TRUE(source) << source.error().to_string();
    return std::move(*source);
  }
  [[nodiscard]] Result<access::Resource> ask(const AttributeSource& source,
                                             std::string_view reference = "x") const {
    return source.resolve({"Account", reference, clock_.monotonic_now() + 10s});
  }
  static std::string said(const Result<access::Resource>& found) {
    if (found) return "found " + found->id;
    return std::string(error_code_name(found.error().code)) + " " + found.error().to_string();
  }
  /// What becomes of a response that is sent byte for byte.
  [[nodiscard]] std::string raw(const std::string& response) const {
    ScriptedServer server([&](RawSocket& socket) {
      socket.read_to("}");
      socket.send(response);
    });
    std::string out = said(ask(*open(server.url("/resolve"), 500ms)));
    // The port differs from run to run.
    const std::string place = "127.0.0.1:" + std::to_string(server.port());
    if (const std::size_t at = out.find(place); at != std::string::npos) {
      out.replace(at, place.size(), "HOST");
    }
    return out;
  }
  /// What becomes of a body of the right type.
  [[nodiscard]] Result<access::Resource> answer(const std::string& body) const {
    ScriptedServer server([&](RawSocket& socket) {
      socket.read_to("}");
      socket.send(
          "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
          "Content-Length: " +
          std::to_string(body.size()) + "\r\n\r\n" + body);
    });
    return ask(*open(server.url("/resolve")));
  }
  [[nodiscard]] std::string answered(const std::string& body) const { return said(answer(body)); }
  /// The same for one resource.
  [[nodiscard]] std::string resource(const std::string& members) const {
    return answered(R"({"resources":[{)" + members + "}]}");
  }
  SystemClock clock_;
};

const char* const kGood = R"({"resources":[{"id":"a-1","tenant":"tenant-a","revision":"7"}]})";

// REQ-BD-047.
TEST_F(HttpAttributeSourceTest, AsksByTheBodyAndMapsTheAnswer) {
  std::string question;
  {
    ScriptedServer server([&](RawSocket& socket) {
      question = socket.read_to("}");
      socket.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(std::string(kGood).size()) + "\r\n\r\n" + kGood);
    });
    EXPECT_EQ(said(ask(*open(server.url("/resolve?v=1")), "x\"\r\nHost: evil")), "found a-1");
  }
  EXPECT_TRUE(question.starts_with("POST /resolve?v=1 HTTP/1.1\r\n")) << question;
  EXPECT_TRUE(question.ends_with(R"({"type":"Account","reference":"x\"\r\nHost: evil"})"))
      << question;

  const auto found =
      answer(R"({"resources":[{"attributes":{"limit":500,"frozen":true,"note":null,"owner":"ana",)"
             R"("labels":["b","a","b"]},"revision":"7","tenant":"tenant-a","id":"a-1"}]})");
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(*found, (access::Resource{.type = "Account",
                                      .id = "a-1",
                                      .tenant = "tenant-a",
                                      .source = "accounts",
                                      .revision = "7",
                                      .attributes = {{"frozen", true},
                                                     {"labels", std::vector<std::string>{"a", "b"}},
                                                     {"limit", std::int64_t{500}},
                                                     {"owner", std::string("ana")}}}));
  const auto unowned = answer(R"({"resources":[{"id":"a-1","tenant":null,"revision":"7"}]})");
  ASSERT_TRUE(unowned);
  EXPECT_EQ(unowned->tenant, "") << "tenant isolation refuses it, not the resolver";
}

// REQ-BD-042.
TEST_F(HttpAttributeSourceTest, RefusesAnswersItCannotTrust) {
  const std::string answer = "data_loss accounts: the service's answer ";
  EXPECT_EQ(answered(R"({"resources":[]})"), "not_found accounts: no such resource");
  const std::string one = R"({"id":"a-1","tenant":"tenant-a","revision":"7"})";
  EXPECT_EQ(answered(R"({"resources":[)" + one + "," + one + "]}"),
            answer + "has more than one resource for one reference");
  const std::string shape = answer + "is no object with a list of resources alone";
  for (const char* const body :
       {"null", "[]", "{}", R"({"resources":null})", R"({"resources":{}})",
        R"({"resources":[],"next":"/2"})", "7", R"("a-1")", R"({"resource":[]})"}) {
    EXPECT_EQ(answered(body), shape) << body;
  }
  EXPECT_TRUE(answered("").starts_with(answer + "is no JSON: byte 0: "));
  EXPECT_TRUE(answered(R"({"resources":[)").starts_with(answer + "is no JSON: byte "));
  EXPECT_TRUE(answered(R"({"resources":[],"resources":[]})").starts_with(answer + "is no JSON"));
  EXPECT_TRUE(answered("{\"resources\":[],\"\xff\":1}").starts_with(answer + "is no JSON"));
  EXPECT_EQ(answered(R"({"resources":["a-1"]})"), answer + "has a resource that is no object");

  const std::string without = answer + "has a resource without ";
  EXPECT_EQ(resource(R"("tenant":"a","revision":"7")"), without + "an id");
  EXPECT_EQ(resource(R"("id":"","tenant":"a","revision":"7")"), without + "an id");
  EXPECT_EQ(resource(R"("id":"i","revision":"7")"), without + "a tenant");
  EXPECT_EQ(resource(R"("id":"i","tenant":"a")"), without + "a revision");
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":"")"), without + "a revision");
  const auto wrong = [&](const std::string& key) {
    return answer + "has a resource whose \"" + key + "\" is unknown or of another type";
  };
  EXPECT_EQ(resource(R"("id":7,"tenant":"a","revision":"7")"), wrong("id"));
  EXPECT_EQ(resource(R"("id":"i","tenant":["a"],"revision":"7")"), wrong("tenant"));
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":7)"), wrong("revision"));
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":null)"), wrong("revision"));
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":"7","attributes":[])"),
            wrong("attributes"));
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":"7","owner":"ana")"), wrong("owner"));
  EXPECT_EQ(resource(R"("id":"i","Tenant":"a","revision":"7")"), wrong("Tenant"));
  EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":"7","attributes":{"tenant":"b"})"),
            answer + "has a tenant among the attributes");
  for (const char* const value : {"1.5", "{}", "[1]", R"(["a",null])", "[[]]"}) {
    EXPECT_EQ(resource(R"("id":"i","tenant":"a","revision":"7","attributes":{"n":)" +
                       std::string(value) + "}"),
              answer + "has the attribute \"n\", which is no truth, integer, text or list of texts")
        << value;
  }
  EXPECT_EQ(resource(R"("id":")" + std::string(kMaxIdBytes + 1, 'i') +
                     R"(","tenant":"a","revision":"7")"),
            "limit_exceeded accounts: an id of more than 256 bytes");
}

TEST_F(HttpAttributeSourceTest, TakesNoOtherStatusOrType) {
  const auto response = [&](const std::string& status, const std::string& headers = "") {
    return raw("HTTP/1.1 " + status + "\r\n" + headers +
               "Content-Length: " + std::to_string(std::string(kGood).size()) + "\r\n\r\n" + kGood);
  };
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(response("200 OK", json), "found a-1");
  EXPECT_EQ(response("200 OK", "content-type: Application/JSON ; charset=utf-8\r\n"), "found a-1");
  for (const char* const status : {"201", "206", "301", "302", "307", "308", "400", "401", "403",
                                   "404", "410", "429", "500", "503"}) {
    EXPECT_EQ(response(status, json + "Location: /elsewhere\r\n"),
              "unavailable accounts: the service answered with the status " + std::string(status));
  }
  const std::string type =
      "data_loss accounts: the service's answer is not of the type application/json";
  EXPECT_EQ(response("200 OK"), type);
  EXPECT_EQ(response("200 OK", "Content-Type: text/html\r\n"), type);
  EXPECT_EQ(response("200 OK", "Content-Type: application/jsonp\r\n"), type);
  EXPECT_EQ(response("200 OK", "Content-Type: application/json, text/html\r\n"), type);
  EXPECT_EQ(raw("HTTP/1.1 204 No Content\r\n\r\n"),
            "unavailable accounts: the service answered with the status 204");
}

TEST_F(HttpAttributeSourceTest, ServicesInTrouble) {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(raw(""),
            "unavailable accounts: HOST: the connection ended before the response was whole");
  EXPECT_EQ(raw(ok + "Content-Length: 100\r\n\r\n" + kGood),
            "unavailable accounts: HOST: the connection ended before the response was whole");
  EXPECT_EQ(raw(ok + "\r\n" + kGood),
            "data_loss accounts: HOST: the response has a fault: a body that does not say where it "
            "ends");
  EXPECT_EQ(raw(ok + "Transfer-Encoding: chunked\r\n\r\n3f\r\n" + kGood + "\r\n0\r\n\r\n"),
            "found a-1");
  EXPECT_EQ(raw(ok + "Transfer-Encoding: chunked\r\n\r\n3f\r\n" + kGood),
            "unavailable accounts: HOST: the connection ended before the response was whole");
  EXPECT_EQ(raw(ok + "Content-Length: 1000000\r\n\r\n"),
            "limit_exceeded accounts: HOST: the response has a fault: the body is too large");
  EXPECT_EQ(raw("220 mail.example ESMTP\r\n\r\n"),
            "data_loss accounts: HOST: the response has a fault: no status line of HTTP/1");
}

// REQ-BD-040.
TEST_F(HttpAttributeSourceTest, AnswersByTheDeadline) {
  std::atomic<bool> is_over{false};
  ScriptedServer server([&](RawSocket& socket) {
    socket.read_to("}");
    while (!is_over) std::this_thread::sleep_for(1ms);
  });
  const auto source = open(server.url("/resolve"), 100ms);
  EXPECT_EQ(ask(*source).error().code, ErrorCode::kDeadlineExceeded) << "its own";
  is_over = true;
  const auto patient = open(server.url("/resolve"), 10s);
  is_over = false;
  const auto late = patient->resolve({"Account", "x", clock_.monotonic_now() + 100ms});
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded) << "the call's";
  is_over = true;
}

TEST_F(HttpAttributeSourceTest, SeesAServiceThatDiesAndComesBack) {
  class Good final : public http::Handler {
    http::Response handle(const http::Request&, std::stop_token) override {
      return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = kGood};
    }
  } handler;
  auto server = http::Server::start({}, handler, clock_).value();
  const std::uint16_t port = server->port();
  const auto source = open("http://127.0.0.1:" + std::to_string(port) + "/");
  EXPECT_EQ(said(ask(*source)), "found a-1");
  server.reset();
  EXPECT_EQ(ask(*source).error().code, ErrorCode::kUnavailable);
  server = http::Server::start({.port = port}, handler, clock_).value();
  EXPECT_EQ(said(ask(*source)), "found a-1");
}

TEST_F(HttpAttributeSourceTest, AsksBeyondThisMachineByHttpsOnly) {
  const auto said_of = [&](const std::string& url, const std::string& trust = "") {
    const auto source = HttpAttributeSource::open(
        {.type = "Account", .url = url, .timeout = 1s, .trust_pem = trust, .source = "accounts"},
        clock_);
    return source ? "opened" : source.error().message;
  };
  EXPECT_EQ(said_of("http://127.0.0.1:9000/resolve"), "opened");
  EXPECT_EQ(said_of("http://localhost/"), "opened");
  EXPECT_EQ(said_of("http://[::1]/"), "opened");
  EXPECT_EQ(said_of("https://accounts.example/"), "opened");
  for (const char* const url : {"http://accounts.example/", "http://10.0.0.1/",
                                "http://localhost.example/", "http://[::2]/"}) {
    EXPECT_EQ(said_of(url), "a service beyond this machine must be asked by https, not by \"" +
                                std::string(url) + "\"");
  }
  EXPECT_NE(said_of("ftp://h/"), "opened");
  EXPECT_NE(said_of("https://h/", "no certificate"), "opened");
}

TEST_F(HttpAttributeSourceTest, TrustsTheCertificatesItWasGiven) {
  class Good final : public http::Handler {
    http::Response handle(const http::Request&, std::stop_token) override {
      return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = kGood};
    }
  } handler;
  const testing::Certificate authority = testing::make_certificate({.is_authority = true});
  const testing::Certificate shown = testing::make_certificate({}, &authority);
  const auto server =
      http::Server::start({.tls = http::TlsIdentity{shown.certificate_pem, shown.key_pem}}, handler,
                          clock_)
          .value();
  const auto source_with = [&](const std::string& trust) {
    return HttpAttributeSource::open(
               {.type = "Account",
                .url = "https://localhost:" + std::to_string(server->port()) + "/",
                .timeout = 10s,
                .trust_pem = trust,
                .source = "accounts"},
               clock_)
        .value();
  };
  EXPECT_EQ(said(ask(*source_with(authority.certificate_pem))), "found a-1");
  EXPECT_EQ(ask(*source_with("")).error().code, ErrorCode::kUnavailable);
}

// REQ-BD-047
TEST_F(HttpAttributeSourceTest, PresentsItsCredential) {
  const auto open_with = [&](const std::string& url, const std::string& credential) {
    return HttpAttributeSource::open({.type = "Account",
                                      .url = url,
                                      .timeout = 10s,
                                      .credential = credential,
                                      .source = "accounts"},
                                     clock_);
  };
  for (const std::string credential : {"", "abc-._~+/123=="}) {
    std::string head;
    ScriptedServer server([&](RawSocket& socket) {
      head = socket.read_to("}");
      socket.send(
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
          R"({"resources":[]})");
    });
    EXPECT_EQ(ask(**open_with(server.url("/"), credential)).error().code, ErrorCode::kNotFound);
    const std::string line = "Authorization: Bearer " + credential + "\r\n";
    EXPECT_EQ(head.find(line) != std::string::npos, !credential.empty()) << head;
    EXPECT_EQ(head.find("Authorization") != std::string::npos, !credential.empty()) << head;
  }
  for (const std::string& bad :
       {std::string("two words"), std::string("a\nb"), std::string("a\r\nX: y"), std::string("=="),
        std::string("a=b"), std::string("\xc3\xa9"), std::string(5000, 'a')}) {
    const auto source = open_with("http://127.0.0.1:1/", bad);
    ASSERT_FALSE(source) << bad;
    EXPECT_EQ(source.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(source.error().to_string().find(bad), std::string::npos) << "it is not told";
  }
}

}  // namespace
}  // namespace remit::attributes
