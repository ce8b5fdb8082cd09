// What our HTTP server costs a request: the same load on it and on a plain Beast echo loop, in one
// run, with 1 and with 16 connections.
//
// usage: http_bench [--seconds N]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "bench/run_size.h"
#include "http/client.h"
#include "http/server.h"

namespace {

namespace beast = boost::beast;
namespace asio = boost::asio;
using asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kBody =
    R"({"invoice":"march","amount":500,"note":"the customer asked"})";

// The peer: what one writes with Beast in an hour, without a limit, a deadline or a worker.
class BeastSession : public std::enable_shared_from_this<BeastSession> {
 public:
  explicit BeastSession(tcp::socket socket) : socket_(std::move(socket)) {}
  void read() {
    request_ = {};
    beast::http::async_read(socket_, buffer_, request_,
                            [self = shared_from_this()](auto error, std::size_t) {
                              if (!error) self->answer();
                            });
  }

 private:
  void answer() {
    response_ = {beast::http::status::ok, request_.version()};
    response_.set(beast::http::field::content_type, "application/json");
    response_.keep_alive(request_.keep_alive());
    response_.body() = request_.body();
    response_.prepare_payload();
    beast::http::async_write(socket_, response_,
                             [self = shared_from_this()](auto error, std::size_t) {
                               if (!error) self->read();
                             });
  }
  tcp::socket socket_;
  beast::flat_buffer buffer_;
  beast::http::request<beast::http::string_body> request_;
  beast::http::response<beast::http::string_body> response_;
};

class BeastServer {
 public:
  BeastServer() {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~BeastServer() {
    io_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](auto error, tcp::socket socket) {
      if (error) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<BeastSession>(std::move(socket))->read();
      accept();
    });
  }
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  std::thread thread_;
};

class Echo final : public remit::http::Handler {
  remit::http::Response handle(const remit::http::Request& request, std::stop_token) override {
    return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = request.body};
  }
};

struct Figures {
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

// One thread, `connections` sockets, each with one request under way.
Figures load(std::uint16_t port, int connections, std::chrono::milliseconds span) {
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nContent-Length: " +
      std::to_string(kBody.size()) + "\r\n\r\n" + std::string(kBody);
  const int poll = ::epoll_create1(0);
  struct Peer {
    int fd = -1;
    std::size_t got = 0;
    SteadyClock::time_point sent;
  };
  std::vector<Peer> peers(static_cast<std::size_t>(connections));
  std::array<char, 8192> buffer{};
  std::size_t size = 0;  // of a response, all of which are alike
  std::vector<float> latencies;
  const auto send = [&](Peer& peer) {
    peer.got = 0;
    peer.sent = SteadyClock::now();
    if (::send(peer.fd, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      std::abort();
    }
  };
  for (Peer& peer : peers) {
    peer.fd = connect_to(port);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &peer}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, peer.fd, &event);
  }
  send(peers.front());
  std::string first;
  while (!first.ends_with(kBody)) {
    const ssize_t got = ::recv(peers.front().fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) std::abort();
    first.append(buffer.data(), static_cast<std::size_t>(got));
  }
  size = first.size();
  const auto begin = SteadyClock::now();
  for (Peer& peer : peers) send(peer);
  std::array<epoll_event, 64> events{};
  while (SteadyClock::now() - begin < span || latencies.empty()) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 1000);
    for (int i = 0; i < ready; ++i) {
      Peer& peer = *static_cast<Peer*>(events[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t got = ::recv(peer.fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) std::abort();
      peer.got += static_cast<std::size_t>(got);
      if (peer.got < size) continue;
      latencies.push_back(
          std::chrono::duration<float, std::micro>(SteadyClock::now() - peer.sent).count());
      send(peer);
    }
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  for (const Peer& peer : peers) ::close(peer.fd);
  ::close(poll);
  std::sort(latencies.begin(), latencies.end());
  return {static_cast<double>(latencies.size()) / seconds, latencies[latencies.size() / 2],
          latencies[latencies.size() * 99 / 100]};
}

// Our own client, one request after the other.
Figures load_by_client(std::uint16_t port, std::chrono::milliseconds span) {
  using namespace remit;
  const SystemClock clock;
  const auto client = http::Client::create({}, clock).value();
  const http::Url url =
      http::Url::parse("http://127.0.0.1:" + std::to_string(port) + "/echo").value();
  std::vector<float> latencies;
  const auto begin = SteadyClock::now();
  while (SteadyClock::now() - begin < span || latencies.empty()) {
    const auto sent = SteadyClock::now();
    const auto got = client->send({.method = "POST",
                                   .url = url,
                                   .headers = {{"Content-Type", "application/json"}},
                                   .body = std::string(kBody),
                                   .deadline = clock.monotonic_now() + std::chrono::seconds{5}});
    if (!got || got->body != kBody) std::abort();
    latencies.push_back(
        std::chrono::duration<float, std::micro>(SteadyClock::now() - sent).count());
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  std::sort(latencies.begin(), latencies.end());
  return {static_cast<double>(latencies.size()) / seconds, latencies[latencies.size() / 2],
          latencies[latencies.size() * 99 / 100]};
}

void print(const char* what, int connections, const Figures& figures, double beside) {
  std::printf("%-22s %11d %12.0f %9.0f %9.0f %8.2f\n", what, connections, figures.per_second,
              figures.p50_us, figures.p99_us, figures.per_second / beside);
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize size(argc, argv);
  std::chrono::milliseconds span =
      size.of<std::chrono::milliseconds>(std::chrono::seconds{3}, std::chrono::milliseconds{1});
  if (argc == 3 && std::string_view(argv[1]) == "--seconds") {
    span = std::chrono::seconds{std::atoi(argv[2])};
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: http_bench [--seconds N]\n");
    return 64;
  }
  const remit::SystemClock clock;
  Echo echo;
  const auto server = remit::http::Server::start({}, echo, clock).value();
  const BeastServer peer;
  std::printf("%-22s %11s %12s %9s %9s %8s\n", "server", "connections", "requests/s", "p50 us",
              "p99 us", "of Beast");
  for (const int connections : {1, 16}) {
    const Figures plain = load(peer.port(), connections, span);
    print("plain Beast echo", connections, plain, plain.per_second);
    print("src/http", connections, load(server->port(), connections, span), plain.per_second);
    if (connections == 1) {
      print("src/http, own client", 1, load_by_client(server->port(), span), plain.per_second);
    }
  }
  return 0;
}
