// A server before clients of every kind: good, slow, greedy, broken, gone.
#include "http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/raw_socket.h"

namespace remit::http {
namespace {

using namespace std::chrono_literals;
using testing::RawSocket;

/// Does what the test says; by default an echo of method, target and body.
class TestHandler final : public Handler {
 public:
  std::function<Response(const Request&, const std::stop_token&)> behave =
      [](const Request& request, const std::stop_token&) {
        return Response{.status = 200,
                        .headers = {{"Content-Type", "text/plain"}},
                        .body = request.method + " " + request.target + " " + request.body};
      };
  Response handle(const Request& request, std::stop_token stop) override {
    ++handled;
    return behave(request, stop);
  }
  Response refuse(const Refusal& refusal) override {
    ++refused;
    return text_response(200, refusal.head.target + "|" + std::string(refusal.why));
  }
  std::atomic<int> handled{0};
  std::atomic<int> refused{0};
};

class ServerTest : public ::testing::Test {
 protected:
  void start(const ServerOptions& options = {}) {
    auto server = Server::start(options, handler_, clock_);
    ASSERT_TRUE(server) << server.error().to_string();
    server_ = std::move(*server);
  }
  RawSocket connect() { return RawSocket::to(server_->port()); }
  /// What comes back for `bytes`, until the server closes.
  std::string ask(std::string_view bytes) {
    RawSocket socket = connect();
    socket.send(bytes);
    return socket.read_all();
  }

  SystemClock clock_;
  TestHandler handler_;
  std::unique_ptr<Server> server_;
};

std::string get(std::string_view target, std::string_view more = "Connection: close\r\n") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more) +
         "\r\n";
}

std::string body_of(const std::string& response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "no head: " + response : response.substr(end + 4);
}

std::string status_of(const std::string& response) {
  return response.substr(0, response.find("\r\n"));
}

TEST_F(ServerTest, Answers) {
  start();
  const std::string response = ask(get("/a?b"));
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << response;
  EXPECT_NE(response.find(" GMT\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n"
                          "Connection: close\r\n\r\nGET /a?b "),
            std::string::npos)
      << response;
  const std::string head = ask("HEAD /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 8\r\n"), std::string::npos) << head;
  EXPECT_EQ(body_of(head), "");
  EXPECT_TRUE(ask("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n").ends_with("GET / "));
}

TEST_F(ServerTest, KeepsConnectionsAndAnswersInOrder) {
  start();
  RawSocket socket = connect();
  std::string all;
  for (int i = 0; i < 200; ++i) all += get("/" + std::to_string(i), "");
  std::thread sender([&] { socket.send(all + get("/last")); });
  const std::string got = socket.read_all();
  sender.join();
  std::size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    at = got.find("GET /" + std::to_string(i) + " ", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_TRUE(got.ends_with("GET /last "));
  EXPECT_EQ(handler_.handled, 201);
}

// REQ-HT-006. What follows a refused request is never read as another one.
TEST_F(ServerTest, RefusesAndCloses) {
  start();
  const std::string smuggled = get("/smuggled");
  const std::vector<std::pair<std::string, std::string>> table = {
      {"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       "HTTP/1.1 400 Bad Request"},
      {"GET /a HTTP/1.1\nHost: localhost\n\n", "HTTP/1.1 400 Bad Request"},
      {"POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\n",
       "HTTP/1.1 400 Bad Request"},
      {"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n",
       "HTTP/1.1 413 Content Too Large"},
      {"GET /a HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
       "HTTP/1.1 431 Request Header Fields Too Large"},
      {"GET /a HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request"},
      {"BREW /a HTTP/3.0\r\nHost: localhost\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported"},
      {"\x16\x03\x01", "HTTP/1.1 400 Bad Request"},
  };
  for (const auto& [request, status] : table) {
    const std::string response = ask(request + smuggled);
    EXPECT_EQ(status_of(response), status) << request;
    EXPECT_NE(response.find("Connection: close\r\n"), std::string::npos) << request;
    EXPECT_EQ(response.find("\r\nHTTP/1.1"), std::string::npos) << response;
  }
  EXPECT_EQ(handler_.handled, 0);
  EXPECT_EQ(handler_.refused, static_cast<int>(table.size()));
  EXPECT_EQ(body_of(ask(table[3].first)), "/a|the body is too large\n") << "the head was read";
  EXPECT_EQ(body_of(ask(table[0].first)), "|both Content-Length and Transfer-Encoding\n")
      << "half a head is none";
}

// REQ-HT-007.
TEST_F(ServerTest, ServesOneHostAndNoForeignOrigin) {
  start({.allowed_hosts = {"remit.example", "[::1]"}, .allowed_origins = {"https://app.example"}});
  const auto ask_host = [&](const std::string& headers) {
    return status_of(ask("GET / HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n\r\n"));
  };
  const std::string ok = "HTTP/1.1 200 OK";
  EXPECT_EQ(ask_host("Host: remit.example"), ok);
  EXPECT_EQ(ask_host("Host: Remit.Example:8808"), ok);
  EXPECT_EQ(ask_host("Host: [::1]"), ok);
  EXPECT_EQ(ask_host("Host: [::1]:80"), ok);
  const std::string misdirected = "HTTP/1.1 421 Misdirected Request";
  for (const char* const host :
       {"localhost", "", "remit.example.evil", "evil-remit.example", "remit.example:80x",
        "remit.example:", "remit.example@evil", "remit.example:80:80", "remit.example,evil"}) {
    EXPECT_EQ(ask_host(std::string("Host: ") + host), misdirected) << host;
  }
  EXPECT_EQ(ask_host("Host: remit.example\r\nOrigin: https://app.example"), ok);
  for (const char* const origin : {"https://evil.example", "null", "https://app.example.evil",
                                   "http://app.example", "https://app.example:444", ""}) {
    EXPECT_EQ(ask_host(std::string("Host: remit.example\r\nOrigin: ") + origin),
              "HTTP/1.1 403 Forbidden")
        << origin;
  }
  EXPECT_EQ(handler_.handled, 5);
}

TEST_F(ServerTest, ServesTheLoopbackByItsNamesUnlessTold) {
  start();
  for (const char* const host : {"localhost", "127.0.0.1", "[::1]:1", "LOCALHOST:8080"}) {
    EXPECT_TRUE(
        ask("GET / HTTP/1.1\r\nConnection: close\r\nHost: " + std::string(host) + "\r\n\r\n")
            .starts_with("HTTP/1.1 200"))
        << host;
  }
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n").starts_with("HTTP/1.1 421"));
}

TEST_F(ServerTest, ChecksItsOptions) {
  const auto said = [&](const ServerOptions& options) {
    const auto server = Server::start(options, handler_, clock_);
    return server ? "started" : server.error().message;
  };
  EXPECT_EQ(said({.address = "0.0.0.0"}),
            "a server beyond the loopback must know by which hosts it is called");
  EXPECT_EQ(said({.address = "0.0.0.0", .allowed_hosts = {"remit.example"}}), "started");
  EXPECT_EQ(said({.address = "::1"}), "started");
  EXPECT_EQ(said({.address = "localhost"}), "the address \"localhost\" is no IPv4 or IPv6 address");
  EXPECT_EQ(said({.workers = 0}), "a bound of zero");
  EXPECT_EQ(said({.tls = TlsIdentity{"x", "y"}}), "the certificate is no PEM certificate");
  start();
  EXPECT_TRUE(said({.port = server_->port()}).starts_with("cannot listen: "));
}

// REQ-HT-008.
TEST_F(ServerTest, GivesUpTheSlow) {
  start({.head_timeout = 300ms, .request_timeout = 600ms, .idle_timeout = 300ms});
  RawSocket silent = connect();
  RawSocket half = connect();
  half.send("GET / HTT");
  RawSocket drip = connect();
  std::thread dripping([&] {
    const std::string request = get("/slow");
    for (const char c : request) {
      if (!drip.send({&c, 1})) break;
      std::this_thread::sleep_for(50ms);
    }
  });
  RawSocket bodiless = connect();
  bodiless.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc");
  RawSocket resting = connect();
  resting.send(get("/", ""));
  EXPECT_TRUE(silent.is_closed_in_silence());
  EXPECT_EQ(status_of(half.read_all()), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(status_of(drip.read_all()), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(status_of(bodiless.read_all()), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(status_of(resting.read_all()), "HTTP/1.1 200 OK") << "answered, then closed";
  dripping.join();
  EXPECT_EQ(handler_.handled, 1);
}

TEST_F(ServerTest, GivesUpClientsThatDoNotRead) {
  handler_.behave = [&](const Request& request, const std::stop_token&) {
    const std::size_t size = request.target == "/large" ? std::size_t{64} << 20U : 1;
    return Response{.status = 200, .body = std::string(size, 'x')};
  };
  start({.connections = 1, .write_timeout = 300ms});
  RawSocket socket = connect();
  socket.send(get("/large"));
  // There is room for another connection only when this one was given up.
  while (!ask(get("/")).starts_with("HTTP/1.1 200")) std::this_thread::sleep_for(20ms);
  EXPECT_LT(socket.read_all().size(), std::size_t{64} << 20U) << "it was cut off";
}

// REQ-HT-009.
TEST_F(ServerTest, TurnsAwayWhatHasNoRoom) {
  std::promise<void> release;
  const std::shared_future<void> released(release.get_future());
  handler_.behave = [released](const Request&, const std::stop_token&) {
    released.wait();
    return Response{.status = 200};
  };
  start({.connections = 4, .workers = 1, .waiting = 1});
  RawSocket first = connect();
  first.send(get("/1"));
  while (handler_.handled < 1) std::this_thread::sleep_for(1ms);
  RawSocket second = connect();
  second.send(get("/2"));
  // Who of the others waits is a matter of arrival; the rest is told to come later.
  RawSocket third = connect();
  std::this_thread::sleep_for(100ms);
  third.send(get("/3"));
  const std::string full = third.read_all();
  EXPECT_EQ(status_of(full), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(full.find("Retry-After: 1\r\n"), std::string::npos);
  std::vector<RawSocket> idle;
  idle.push_back(connect());
  idle.push_back(connect());
  RawSocket beyond = connect();
  EXPECT_EQ(status_of(beyond.read_all()), "HTTP/1.1 503 Service Unavailable");
  release.set_value();
  EXPECT_EQ(status_of(first.read_all()), "HTTP/1.1 200 OK");
  EXPECT_EQ(status_of(second.read_all()), "HTTP/1.1 200 OK");
}

std::string post(std::size_t bytes, std::string_view begin) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
         std::to_string(bytes) + "\r\n\r\n" + std::string(begin);
}

// REQ-HT-009. Bodies are bounded over all connections, while they are read and while they are
// handled.
TEST_F(ServerTest, TurnsAwayBodiesThatHaveNoRoomTogether) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> in_hand{0};
  handler_.behave = [&](const Request& request, const std::stop_token&) {
    ++in_hand;
    if (request.body.starts_with("wait")) ended.wait();
    return Response{.status = 200, .body = "done"};
  };
  start({.workers = 4, .body_bytes = 1000});
  RawSocket handled = connect();
  handled.send(post(600, "wait" + std::string(596, 'x')));
  while (in_hand == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(body_of(ask(post(400, std::string(400, 'x')))), "done");
  // Half of a body is as much as it is.
  RawSocket slow = connect();
  slow.send(post(350, std::string(300, 'x')));
  std::string full;
  for (int i = 0; i < 1000 && !full.starts_with("HTTP/1.1 503"); ++i) {
    full = ask(post(400, std::string(200, 'x')) + std::string(200, 'x'));
  }
  EXPECT_TRUE(full.starts_with("HTTP/1.1 503 ")) << full;
  EXPECT_NE(full.find("Retry-After: 1\r\n"), std::string::npos) << full;
  EXPECT_NE(full.find("Connection: close\r\n"), std::string::npos) << full;
  EXPECT_EQ(handler_.refused, 0) << "it is no call";
  slow.send(std::string(50, 'x'));
  EXPECT_EQ(body_of(slow.read_all()), "done");
  end.set_value();
  EXPECT_EQ(body_of(handled.read_all()), "done");
  // One that is alone goes through, however large it is.
  EXPECT_EQ(body_of(ask(post(5000, std::string(5000, 'x')))), "done");
}

TEST_F(ServerTest, SaysFromWhereARequestCame) {
  handler_.behave = [](const Request& request, const std::stop_token&) {
    return Response{.status = 200, .body = request.peer};
  };
  start();
  EXPECT_EQ(body_of(ask(get("/"))), "127.0.0.1");
}

// Whoever comes second waits for the first, and both are told the same.
TEST_F(ServerTest, IsStoppedByMoreThanOne) {
  start();
  EXPECT_EQ(status_of(ask(get("/"))), "HTTP/1.1 200 OK");
  std::vector<std::thread> threads;
  std::atomic<int> whole{0};
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { whole += server_->stop(10s) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, 4);
}

TEST_F(ServerTest, SurvivesItsHandlers) {
  handler_.behave = [](const Request& request, const std::stop_token&) -> Response {
    if (request.target == "/throw") throw std::runtime_error("secret");
    if (request.target == "/odd") return {.status = 99, .body = "x"};
    return {.status = 200,
            .headers = {{"X-Split", "a\r\nX-Evil: b"},
                        {"Content-Length", "999"},
                        {"Transfer-Encoding", "chunked"},
                        {"Connection", "upgrade"},
                        {"X-Good", "c"}},
            .body = "ok"};
  };
  start();
  const std::string thrown = ask(get("/throw"));
  EXPECT_EQ(status_of(thrown), "HTTP/1.1 500 Internal Server Error");
  EXPECT_EQ(body_of(thrown), "the handler failed\n");
  EXPECT_EQ(status_of(ask(get("/odd"))), "HTTP/1.1 500 Internal Server Error");
  const std::string headers = ask(get("/headers"));
  EXPECT_NE(headers.find("X-Good: c\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
            std::string::npos)
      << headers;
  EXPECT_EQ(headers.find("Evil"), std::string::npos);
  EXPECT_EQ(headers.find("999"), std::string::npos);
}

TEST_F(ServerTest, AsksForBodiesThatWait) {
  start();
  RawSocket socket = connect();
  socket.send(
      "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_EQ(socket.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("abc");
  EXPECT_TRUE(socket.read_all().ends_with("POST /a abc"));
  RawSocket refused = connect();
  refused.send(
      "POST /a HTTP/1.1\r\nHost: evil\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(status_of(refused.read_all()), "HTTP/1.1 421 Misdirected Request")
      << "a body that nobody reads is not asked for";
}

// REQ-HT-010.
TEST_F(ServerTest, TellsTheHandlerThatItsClientIsGone) {
  std::promise<void> stopped;
  handler_.behave = [&](const Request&, const std::stop_token& stop) {
    const std::stop_callback told(stop, [&] { stopped.set_value(); });
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return Response{.status = 200, .body = "done"};
  };
  start();
  RawSocket socket = connect();
  socket.send(get("/"));
  while (handler_.handled == 0) std::this_thread::sleep_for(1ms);
  socket.reset();
  stopped.get_future().wait();
  stopped = {};
  RawSocket half = connect();
  half.send(get("/"));
  while (handler_.handled == 1) std::this_thread::sleep_for(1ms);
  half.end_sending();
  EXPECT_TRUE(half.read_all().ends_with("done")) << "who closed one half still gets the answer";
}

// REQ-HT-011.
TEST_F(ServerTest, StreamsWhileItIsWritten) {
  std::shared_ptr<BodyStream> stream;
  std::promise<void> given;
  handler_.behave = [&](const Request&, const std::stop_token&) {
    stream = std::make_shared<BodyStream>(100);
    EXPECT_TRUE(stream->write("data: 1\n\n"));
    given.set_value();
    return Response{
        .status = 200, .headers = {{"Content-Type", "text/event-stream"}}, .stream = stream};
  };
  start();
  RawSocket socket = connect();
  socket.send(get("/", ""));
  given.get_future().wait();
  const std::string begin = socket.read_to("1\n\n");
  EXPECT_NE(begin.find("Transfer-Encoding: chunked\r\n"), std::string::npos) << begin;
  EXPECT_EQ(begin.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(stream->write("data: 2\n\n"));
  EXPECT_NE(socket.read_to("2\n\n").find("9\r\ndata: 2\n\n"), std::string::npos);
  EXPECT_EQ(stream->write(std::string(101, 'x')).error().code, ErrorCode::kLimitExceeded);
  stream->finish();
  EXPECT_TRUE(socket.read_to("0\r\n\r\n").ends_with("0\r\n\r\n"));
  EXPECT_EQ(stream->write("x").error().code, ErrorCode::kUnavailable);
  handler_.behave = [](const Request&, const std::stop_token&) { return Response{.status = 204}; };
  socket.send(get("/"));
  EXPECT_EQ(status_of(socket.read_all()), "HTTP/1.1 204 No Content") << "the connection goes on";
}

TEST_F(ServerTest, TellsWritersThatTheirClientIsGone) {
  auto stream = std::make_shared<BodyStream>();
  std::promise<void> closed;
  const std::stop_callback told(stream->closed(), [&] { closed.set_value(); });
  handler_.behave = [&](const Request&, const std::stop_token&) {
    return Response{.status = 200, .stream = stream};
  };
  start();
  RawSocket socket = connect();
  socket.send(get("/"));
  socket.read_to("\r\n\r\n");
  socket.close();
  closed.get_future().wait();
  EXPECT_EQ(stream->write("x").error().message, "the connection is gone");
}

TEST_F(ServerTest, EndsStreamsWhoseWritersAreGone) {
  handler_.behave = [&](const Request&, const std::stop_token&) {
    auto stream = std::make_shared<BodyStream>();
    EXPECT_TRUE(stream->write("half"));
    return Response{.status = 200, .stream = std::move(stream)};
  };
  start();
  const std::string got = ask(get("/"));
  EXPECT_NE(got.find("half"), std::string::npos) << got;
  EXPECT_FALSE(got.ends_with("0\r\n\r\n")) << "the client can tell that it is not whole";
  const std::string old = ask("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(body_of(old), "half") << old;
}

TEST_F(ServerTest, WritersAndServerMayEndInAnyOrder) {
  std::vector<std::shared_ptr<BodyStream>> streams;
  Mutex mutex;
  handler_.behave = [&](const Request&, const std::stop_token&) {
    auto stream = std::make_shared<BodyStream>();
    const MutexLock lock(mutex);
    streams.push_back(stream);
    return Response{.status = 200, .stream = std::move(stream)};
  };
  start();
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 16; ++i) {
    sockets.push_back(connect());
    sockets.back().send(get("/"));
  }
  for (RawSocket& socket : sockets) socket.read_to("\r\n\r\n");
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    while (!is_over) {
      for (const auto& stream : streams) (void)stream->write("data: x\n\n");
      std::this_thread::yield();
    }
  });
  for (std::size_t i = 0; i < 8; ++i) sockets[i].reset();
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(server_->stop(10ms)) << "eight streams were open";
  is_over = true;
  writer.join();
  for (const auto& stream : streams) EXPECT_FALSE(stream->write("x"));
}

// REQ-HT-012.
TEST_F(ServerTest, StopsInOrder) {
  std::promise<void> release;
  const std::shared_future<void> released(release.get_future());
  handler_.behave = [&, released](const Request&, const std::stop_token& stop) {
    released.wait();
    return Response{.status = 200, .body = stop.stop_requested() ? "stopped" : "done"};
  };
  start();
  RawSocket busy = connect();
  busy.send(get("/", ""));
  RawSocket idle = connect();
  while (handler_.handled == 0) std::this_thread::sleep_for(1ms);
  auto stopping = std::async(std::launch::async, [&] { return server_->stop(20s); });
  EXPECT_TRUE(idle.is_closed_in_silence());
  EXPECT_FALSE(connect().send(get("/")) && !connect().is_closed_in_silence());
  release.set_value();
  const std::string got = busy.read_all();
  EXPECT_TRUE(got.ends_with("Connection: close\r\n\r\ndone")) << got;
  EXPECT_TRUE(stopping.get());
  EXPECT_TRUE(server_->stop(0s)) << "once more changes nothing";
}

TEST_F(ServerTest, StopsHandlersWhosePatienceIsOver) {
  handler_.behave = [&](const Request&, const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return Response{.status = 200};
  };
  start();
  RawSocket busy = connect();
  busy.send(get("/"));
  while (handler_.handled == 0) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(server_->stop(10ms));
  EXPECT_TRUE(busy.is_closed_in_silence());
}

// A sweep that was due when the server stopped began the next one, and the server never ended.
TEST_F(ServerTest, StopsWhileDeadlinesAreSwept) {
  std::vector<std::unique_ptr<Server>> servers;
  for (int i = 0; i < 200; ++i) {
    servers.push_back(Server::start({.workers = 1}, handler_, clock_).value());
  }
  std::this_thread::sleep_for(100ms);
  for (const auto& server : servers) EXPECT_TRUE(server->stop(0s));
}

TEST_F(ServerTest, ManyClientsAtOnce) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      RawSocket socket = connect();
      for (int i = 0; i < 50; ++i) {
        const std::string target = "/" + std::to_string(c) + "-" + std::to_string(i);
        socket.send(get(target, ""));
        if (socket.read_to("GET " + target + " ").starts_with("HTTP/1.1 200")) ++good;
        if (i % 10 == 9) {
          socket.reset();
          socket = connect();
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 400);
}

}  // namespace
}  // namespace remit::http
