// A client before servers of every kind, and TLS between the two of ours.
#include "http/client.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/server.h"
#include "tests/support/certificates.h"
#include "tests/support/raw_socket.h"

namespace remit::http {
namespace {

using namespace std::chrono_literals;
using testing::Certificate;
using testing::make_certificate;
using testing::RawSocket;
using testing::ScriptedServer;

class ClientTest : public ::testing::Test {
 protected:
  ClientRequest request(const std::string& url, Duration patience = 20s) {
    const Result<Url> parsed = Url::parse(url);
    EXPECT_TRUE(parsed) << url;
    return {.url = *parsed, .deadline = clock_.monotonic_now() + patience};
  }
  std::unique_ptr<Client> client(const ClientOptions& options = {}) {
    return Client::create(options, clock_).value();
  }
  /// `STATUS BODY` or `code: message`.
  static std::string said(const Result<Response>& response) {
    if (response) return std::to_string(response->status) + " " + response->body;
    return std::string(error_code_name(response.error().code)) + ": " + response.error().message;
  }
  SystemClock clock_;
};

const char* const kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(ClientTest, SendsWhatItWasGiven) {
  std::string got;
  {
    ScriptedServer server([&](RawSocket& socket) {
      got = socket.read_to("\r\n\r\n{}");
      socket.send(kOk);
    });
    ClientRequest post = request(server.url("/a?b=c"));
    post.method = "POST";
    post.headers = {{"Content-Type", "application/json"},
                    {"Host", "evil"},
                    {"Content-Length", "99"},
                    {"Transfer-Encoding", "chunked"},
                    {"Accept-Encoding", "gzip"}};
    post.body = "{}";
    EXPECT_EQ(said(client()->send(post)), "200 ok");
    EXPECT_EQ(got, "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                       "\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\n"
                       "Content-Length: 2\r\n\r\n{}");
  }
}

TEST_F(ClientTest, SendsNoSplitHeader) {
  ScriptedServer server([](RawSocket&) {});
  for (const Field& field : {Field{"X", "a\r\nY: b"}, Field{"X", "a\nb"}, Field{"X Y", "a"},
                             Field{"", "a"}, Field{"X:", "a"}, Field{"X", std::string("\0", 1)}}) {
    ClientRequest bad = request(server.url());
    bad.headers.set(field.name, field.value);
    EXPECT_EQ(said(client()->send(bad)), "invalid_input: a header that cannot be sent");
  }
  ClientRequest bad = request(server.url());
  bad.method = "GET / HTTP/1.1\r\nX: y\r\n\r\nGET";
  EXPECT_EQ(said(client()->send(bad)), "invalid_input: the method is no token");
  EXPECT_EQ(server.connections(), 0);
}

// REQ-HT-030, REQ-HT-031, REQ-HT-032.
TEST_F(ClientTest, ServersInTrouble) {
  const auto ask = [&](const std::string& response) {
    ScriptedServer server([&](RawSocket& socket) {
      socket.read_to("\r\n\r\n");
      socket.send(response);
    });
    return said(client({.limits = {.body_bytes = 100}})->send(request(server.url())));
  };
  const std::string cut = "unavailable: the connection ended before the response was whole";
  EXPECT_EQ(ask(kOk), "200 ok");
  EXPECT_EQ(ask(""), cut);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-"), cut);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), cut);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), cut);
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
            "200 ok");
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\n\r\nok"),
            "data_loss: the response has a fault: a body that does not say where it ends");
  EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"),
            "limit_exceeded: the response has a fault: the body is too large");
  EXPECT_EQ(ask("SSH-2.0\r\n\r\n"),
            "data_loss: the response has a fault: no status line of HTTP/1");
}

// REQ-HT-033.
TEST_F(ClientTest, FollowsNoRedirect) {
  ScriptedServer elsewhere([](RawSocket& socket) { socket.send(kOk); });
  ScriptedServer server([&](RawSocket& socket) {
    socket.read_to("\r\n\r\n");
    socket.send("HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: " +
                elsewhere.url() + "\r\n\r\n");
  });
  EXPECT_EQ(said(client()->send(request(server.url()))), "307 ");
  EXPECT_EQ(elsewhere.connections(), 0);
}

// REQ-HT-034.
TEST_F(ClientTest, RetriesNothing) {
  std::atomic<int> asked{0};
  ScriptedServer server([&](RawSocket& socket) {
    while (!socket.read_to("\r\n\r\n").empty()) {
      if (++asked > 1) return;
      socket.send(kOk);
    }
  });
  const auto one = client();
  EXPECT_EQ(said(one->send(request(server.url()))), "200 ok");
  EXPECT_EQ(said(one->send(request(server.url()))),
            "unavailable: the connection ended before the response was whole");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(server.connections(), 1) << "the second went by the first one's connection";
}

TEST_F(ClientTest, UsesNoConnectionThatIsNotQuiet) {
  const std::vector<std::string> responses = {
      std::string(kOk) + kOk,  // one more than was asked for
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
  };
  for (const std::string& response : responses) {
    ScriptedServer server([&](RawSocket& socket) {
      while (!socket.read_to("\r\n\r\n").empty()) socket.send(response);
    });
    const auto one = client();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(said(one->send(request(server.url()))), "200 ok");
    EXPECT_EQ(server.connections(), 3) << response;
  }
  // One that the server closed in the meantime.
  ScriptedServer closing([&](RawSocket& socket) {
    socket.read_to("\r\n\r\n");
    socket.send(kOk);
  });
  const auto one = client();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(said(one->send(request(closing.url()))), "200 ok");
    std::this_thread::sleep_for(20ms);
  }
}

TEST_F(ClientTest, TellsThatNobodyListens) {
  std::uint16_t port = 0;
  {
    const ScriptedServer server([](RawSocket&) {});
    port = server.port();
  }
  const Result<Response> got =
      client()->send(request("http://127.0.0.1:" + std::to_string(port) + "/"));
  EXPECT_EQ(said(got), "unavailable: cannot connect: Connection refused");
  EXPECT_EQ(got.error().where, "127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(said(client()->send(request("http://no-such-name.invalid/"))),
            "unavailable: the name is not known");
}

TEST_F(ClientTest, SaysWhetherSomebodyListensAndAsksForNothing) {
  std::uint16_t port = 0;
  const auto reached = [&] {
    return client()->reach(request("http://127.0.0.1:" + std::to_string(port) + "/").url,
                           clock_.monotonic_now() + 60s);
  };
  {
    std::promise<std::string> received;
    const ScriptedServer server([&](RawSocket& socket) { received.set_value(socket.read_all()); });
    port = server.port();
    EXPECT_TRUE(reached());
    EXPECT_EQ(received.get_future().get(), "");
  }
  const Status refused = reached();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "cannot connect: Connection refused");
  EXPECT_EQ(refused.error().where, "127.0.0.1:" + std::to_string(port));
}

// REQ-HT-035.
TEST_F(ClientTest, WaitsNoLongerThanTheDeadline) {
  std::atomic<bool> is_over{false};
  const auto hang = [&] {
    while (!is_over) std::this_thread::sleep_for(1ms);
  };
  const auto late = [&](const ScriptedServer::Script& script) {
    is_over = false;
    ScriptedServer server(script);
    const std::string out = said(client()->send(request(server.url(), 150ms)));
    is_over = true;
    return out;
  };
  const std::string message = "deadline_exceeded: the server did not answer in time";
  EXPECT_EQ(late([&](RawSocket&) { hang(); }), message);
  EXPECT_EQ(late([&](RawSocket& socket) {
              socket.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
              hang();
            }),
            message);
  EXPECT_EQ(late([&](RawSocket& socket) {
              socket.send("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n");
              while (!is_over && socket.send("x")) std::this_thread::sleep_for(5ms);
            }),
            message)
      << "a byte now and then is no progress";
  ScriptedServer server([&](RawSocket& socket) { socket.send(kOk); });
  EXPECT_EQ(said(client()->send(request(server.url(), 0ms))),
            "deadline_exceeded: no connection was free in time");
}

TEST_F(ClientTest, CanBeCancelled) {
  std::promise<void> asked;
  std::atomic<bool> is_over{false};
  ScriptedServer server([&](RawSocket& socket) {
    socket.read_to("\r\n\r\n");
    asked.set_value();
    while (!is_over) std::this_thread::sleep_for(1ms);
  });
  std::stop_source stop;
  const auto one = client({.connections = 1});
  auto answer = std::async(std::launch::async,
                           [&] { return one->send(request(server.url()), stop.get_token()); });
  auto waiting = std::async(std::launch::async,
                            [&] { return one->send(request(server.url()), stop.get_token()); });
  asked.get_future().wait();
  stop.request_stop();
  EXPECT_EQ(said(answer.get()), "unavailable: cancelled");
  EXPECT_EQ(said(waiting.get()), "unavailable: cancelled");
  EXPECT_EQ(said(one->send(request(server.url()), stop.get_token())), "unavailable: cancelled");
  is_over = true;
}

TEST_F(ClientTest, HoldsNoMoreConnectionsThanItMay) {
  class Counting final : public Handler {
   public:
    Response handle(const Request& request, std::stop_token) override {
      const int now = ++inside;
      int most = peak;
      while (now > most && !peak.compare_exchange_weak(most, now)) {
      }
      std::this_thread::sleep_for(5ms);
      --inside;
      return {.status = 200, .body = request.target};
    }
    std::atomic<int> inside{0};
    std::atomic<int> peak{0};
  } handler;
  auto server = Server::start({.workers = 8}, handler, clock_).value();
  const std::string url = "http://127.0.0.1:" + std::to_string(server->port()) + "/";
  const auto one = client({.connections = 3});
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::string path = std::to_string(t) + "/" + std::to_string(i);
        if (said(one->send(request(url + path))) == "200 /" + path) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
  EXPECT_LE(handler.peak, 3);
}

class TlsTest : public ClientTest {
 protected:
  class Secret final : public Handler {
   public:
    Response handle(const Request& request, std::stop_token) override {
      return {.status = 200, .body = "secret" + request.body};
    }
  };
  /// What a client that trusts `authority_` gets from a server that shows `shown`.
  std::string ask(const Certificate& shown, const std::string& host = "localhost") {
    auto server =
        Server::start({.tls = TlsIdentity{shown.certificate_pem, shown.key_pem}}, handler_, clock_);
    EXPECT_TRUE(server) << server.error().to_string();
    const auto one = client({.trust_pem = authority_.certificate_pem});
    const std::string url = "https://" + host + ":" + std::to_string((*server)->port()) + "/";
    std::string out = said(one->send(request(url)));
    if (out.starts_with("200")) {
      ClientRequest large = request(url);
      large.method = "POST";
      large.body = std::string(500'000, 'x');
      EXPECT_EQ(said(one->send(large)), "200 secret" + large.body);
    }
    return out;
  }
  const Certificate authority_ = make_certificate({.is_authority = true});
  Secret handler_;
};

// REQ-HT-020, REQ-HT-036.
TEST_F(TlsTest, TrustsWhatIsSignedForTheName) {
  EXPECT_EQ(ask(make_certificate({}, &authority_)), "200 secret");
  EXPECT_EQ(ask(make_certificate({}, &authority_), "127.0.0.1"), "200 secret");
  const std::string untrusted = "unavailable: the certificate is not trusted: ";
  EXPECT_EQ(ask(make_certificate({})), untrusted + "self-signed certificate");
  const Certificate other = make_certificate({.is_authority = true});
  EXPECT_TRUE(ask(make_certificate({}, &other)).starts_with(untrusted));
  EXPECT_EQ(ask(make_certificate({.begins_in_days = -2, .ends_in_days = -1}, &authority_)),
            untrusted + "certificate has expired");
  EXPECT_EQ(ask(make_certificate({.begins_in_days = 1, .ends_in_days = 2}, &authority_)),
            untrusted + "certificate is not yet valid");
  for (const char* const names :
       {"DNS:localhost.example", "DNS:*.localhost", "DNS:evil.example", "IP:127.0.0.2", ""}) {
    EXPECT_FALSE(ask(make_certificate({.names = names}, &authority_)).starts_with("200")) << names;
  }
  EXPECT_FALSE(ask(make_certificate({.names = "DNS:127.0.0.1"}, &authority_), "127.0.0.1")
                   .starts_with("200"))
      << "an address is no name";
}

TEST_F(TlsTest, TrustsNobodyByDefaultWhomTheSystemDoesNotKnow) {
  const Certificate shown = make_certificate({}, &authority_);
  auto server =
      Server::start({.tls = TlsIdentity{shown.certificate_pem, shown.key_pem}}, handler_, clock_)
          .value();
  EXPECT_FALSE(
      client()->send(request("https://localhost:" + std::to_string(server->port()) + "/")));
  EXPECT_FALSE(Client::create({.trust_pem = "x"}, clock_));
}

TEST_F(TlsTest, RefusesKeysThatDoNotFit) {
  const Certificate one = make_certificate({}, &authority_);
  const Certificate two = make_certificate({}, &authority_);
  const auto started =
      Server::start({.tls = TlsIdentity{one.certificate_pem, two.key_pem}}, handler_, clock_);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(Server::start({.tls = TlsIdentity{one.certificate_pem, ""}}, handler_, clock_));
}

/// The version of TLS that a plain OpenSSL client of at most `newest` agrees on; 0 for none.
int agreed_version(std::uint16_t port, int newest) {
  SSL_CTX* const context = ::SSL_CTX_new(::TLS_client_method());
  ::SSL_CTX_set_security_level(context, 0);
  ::SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  ::SSL_CTX_set_max_proto_version(context, newest);
  BIO* const bio = ::BIO_new_ssl_connect(context);
  ::BIO_set_conn_hostname(bio, ("127.0.0.1:" + std::to_string(port)).c_str());
  SSL* ssl = nullptr;
  ::BIO_get_ssl(bio, &ssl);
  const int version = ::BIO_do_connect(bio) == 1 ? ::SSL_version(ssl) : 0;
  ::BIO_free_all(bio);
  ::SSL_CTX_free(context);
  return version;
}

TEST_F(TlsTest, SpeaksNoOldVersion) {
  const Certificate shown = make_certificate({}, &authority_);
  auto server =
      Server::start({.tls = TlsIdentity{shown.certificate_pem, shown.key_pem}}, handler_, clock_)
          .value();
  EXPECT_EQ(agreed_version(server->port(), TLS1_VERSION), 0);
  EXPECT_EQ(agreed_version(server->port(), TLS1_1_VERSION), 0);
  EXPECT_EQ(agreed_version(server->port(), TLS1_2_VERSION), TLS1_2_VERSION);
  EXPECT_EQ(agreed_version(server->port(), TLS1_3_VERSION), TLS1_3_VERSION);
}

TEST_F(TlsTest, PlainAndTlsDoNotMeet) {
  const Certificate shown = make_certificate({}, &authority_);
  auto server = Server::start({.tls = TlsIdentity{shown.certificate_pem, shown.key_pem},
                               .head_timeout = 300ms},
                              handler_, clock_)
                    .value();
  const std::string port = std::to_string(server->port());
  EXPECT_FALSE(client()->send(request("http://127.0.0.1:" + port + "/")));
  RawSocket silent = RawSocket::to(server->port());
  EXPECT_TRUE(silent.is_closed_in_silence()) << "a handshake has a deadline";
  auto plain = Server::start({}, handler_, clock_).value();
  const Result<Response> got =
      client()->send(request("https://127.0.0.1:" + std::to_string(plain->port()) + "/"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace remit::http
