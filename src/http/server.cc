// Listening, accepting, and stopping in order.
#include "http/server.h"

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/worker_threads.h"
#include "http/session.h"
#include "http/tls.h"
#include "http/transport.h"
#include "http/url.h"

namespace remit::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using AsioError = boost::system::error_code;

constexpr std::chrono::milliseconds kSweep{100};
constexpr std::string_view kTurnedAway =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n"
    "Connection: close\r\n\r\n";

std::string peer_of(const tcp::socket& socket) {
  AsioError error;
  const asio::ip::address address = socket.remote_endpoint(error).address();
  if (error) return {};
  if (address.is_v4()) return address.to_string();
  const asio::ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, six).to_string();
  auto bytes = six.to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

Status check_options(const ServerOptions& options) {
  if (!is_ip_address(options.address)) {
    return Error{ErrorCode::kInvalidInput,
                 "the address " + quoted(options.address) + " is no IPv4 or IPv6 address"};
  }
  if (options.allowed_hosts.empty() && !is_loopback_address(options.address)) {
    return Error{ErrorCode::kInvalidInput,
                 "a server beyond the loopback must know by which hosts it is called"};
  }
  const bool has_bounds = options.connections > 0 && options.workers > 0 &&
                          options.limits.head_bytes > 0 && options.limits.headers > 0 &&
                          options.body_bytes > 0;
  if (!has_bounds) return Error{ErrorCode::kInvalidInput, "a bound of zero"};
  return {};
}

std::vector<std::string> hosts_of(const ServerOptions& options) {
  if (!options.allowed_hosts.empty()) return options.allowed_hosts;
  std::vector<std::string> out = {"localhost", "127.0.0.1", "[::1]"};
  if (options.address != "::1") out.push_back(options.address);
  return out;
}

}  // namespace

Response Handler::refuse(const Refusal& refusal) {
  return text_response(refusal.status, refusal.why);
}

class Server::Impl {
 public:
  Impl(ServerOptions options, Handler& handler, const Clock& clock)
      : options_(std::move(options)),
        hosts_(hosts_of(options_)),
        clock_(clock),
        bodies_(options_.body_bytes),
        workers_(options_.workers, options_.waiting),
        host_{.options = options_,
              .hosts = hosts_,
              .handler = handler,
              .clock = clock,
              .workers = workers_,
              .bodies = bodies_,
              .io = io_,
              .on_end = [this](Session& session) { remove(session); }} {}

  Status start();
  bool stop(Duration patience);
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  Status listen();
  void accept();
  void on_accept(tcp::socket socket);
  void sweep();
  void remove(Session& session);
  void run();
  void wait_for_sessions(Duration patience);

  const ServerOptions options_;
  const std::vector<std::string> hosts_;
  const Clock& clock_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::unique_ptr<asio::ssl::context> tls_;
  tcp::acceptor acceptor_{io_};
  asio::steady_timer accept_pause_{io_};
  asio::steady_timer sweep_timer_{io_};
  BodyBudget bodies_;
  WorkerThreads workers_;
  SessionHost host_;
  std::uint16_t port_ = 0;
  std::thread thread_;

  // On the thread of io_.
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions_;
  bool is_stopping_ = false;
  bool is_ended_ = false;
  bool was_cut_ = false;  // read once the thread has ended

  Mutex stopping_;  // held by whoever stops, to the end
  Mutex mutex_;
  CondVar changed_;
  std::size_t open_ REMIT_GUARDED_BY(mutex_) = 0;
};

Status Server::Impl::listen() {
  AsioError error;
  const tcp::endpoint endpoint(asio::ip::make_address(options_.address, error), options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{ErrorCode::kUnavailable, "cannot listen: " + error.message(),
                 options_.address + ":" + std::to_string(options_.port)};
  }
  port_ = acceptor_.local_endpoint(error).port();
  return {};
}

Status Server::Impl::start() {
  if (options_.tls) {
    REMIT_TRY_ASSIGN(tls_, make_server_tls(*options_.tls));
  }
  REMIT_TRY(listen());
  REMIT_TRY(workers_.start());
  accept();
  sweep();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return Error{ErrorCode::kUnavailable, "the system gives no thread"};
  }
  return {};
}

void Server::Impl::run() {
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::exception& thrown) {
      // Out of memory, for one; the connection of the moment is swept away by its deadline.
      (void)REMIT_BUG(std::string("a connection threw: ") + thrown.what());
    }
  }
}

void Server::Impl::accept() {
  acceptor_.async_accept([this](const AsioError& error, tcp::socket socket) {
    if (is_stopping_ || error == asio::error::operation_aborted) return;
    if (!error) {
      on_accept(std::move(socket));
      return accept();
    }
    // No descriptor is left, mostly; trying at once would only burn the processor.
    accept_pause_.expires_after(kSweep);
    accept_pause_.async_wait([this](const AsioError& cancelled) {
      if (!cancelled && !is_stopping_) accept();
    });
  });
}

void Server::Impl::on_accept(tcp::socket socket) {
  AsioError ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  std::string peer = peer_of(socket);
  if (sessions_.size() >= options_.connections) {
    socket.non_blocking(true, ignored);
    if (tls_ == nullptr) socket.send(asio::buffer(kTurnedAway), 0, ignored);
    return;
  }
  auto transport = tls_ == nullptr ? make_plain_transport(std::move(socket))
                                   : make_tls_server_transport(std::move(socket), *tls_);
  auto session = std::make_shared<Session>(host_, std::move(transport), std::move(peer));
  sessions_.emplace(session.get(), session);
  {
    const MutexLock lock(mutex_);
    ++open_;
  }
  session->start();
}

// One timer for the deadlines of all connections.
void Server::Impl::sweep() {
  sweep_timer_.expires_after(kSweep);
  sweep_timer_.async_wait([this](const AsioError& cancelled) {
    // A timer that has run out cannot be cancelled any more, though this comes after.
    if (cancelled || is_ended_) return;
    const MonotonicTime now = clock_.monotonic_now();
    std::vector<std::shared_ptr<Session>> all;  // a check may end its session
    all.reserve(sessions_.size());
    for (const auto& [key, session] : sessions_) all.push_back(session);
    for (const auto& session : all) session->check(now);
    sweep();
  });
}

void Server::Impl::remove(Session& session) {
  sessions_.erase(&session);
  const MutexLock lock(mutex_);
  --open_;
  changed_.notify_all();
}

void Server::Impl::wait_for_sessions(Duration patience) {
  const MonotonicTime deadline = clock_.monotonic_now() + patience;
  const MutexLock lock(mutex_);
  while (open_ > 0) {
    const Duration left = deadline - clock_.monotonic_now();
    if (left <= Duration::zero()) return;
    changed_.wait_for(mutex_, left);
  }
}

bool Server::Impl::stop(Duration patience) {
  const MutexLock only_one(stopping_);
  if (!thread_.joinable()) {
    workers_.close();
    return !was_cut_;
  }
  const auto for_all = [this](void (Session::*call)()) {
    std::vector<std::shared_ptr<Session>> all;
    for (const auto& [key, session] : sessions_) all.push_back(session);
    for (const auto& session : all) ((*session).*call)();
  };
  asio::post(io_, [this, for_all] {
    is_stopping_ = true;
    AsioError ignored;
    acceptor_.close(ignored);
    accept_pause_.cancel();
    for_all(&Session::drain);
  });
  wait_for_sessions(patience);
  asio::post(io_, [this, for_all] {
    for (const auto& [key, session] : sessions_) was_cut_ = was_cut_ || session->is_busy();
    for_all(&Session::cut_off);
    is_ended_ = true;
    sweep_timer_.cancel();
  });
  workers_.close();
  work_.reset();  // what the last handlers gave back has found its way by now
  thread_.join();
  return !was_cut_;
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->stop(Duration::zero());
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler& handler,
                                              const Clock& clock) {
  REMIT_TRY(check_options(options));
  auto server =
      std::unique_ptr<Server>(new Server(std::make_unique<Impl>(options, handler, clock)));
  REMIT_TRY(server->impl_->start());
  return server;
}

std::uint16_t Server::port() const {
  return impl_->port();
}

bool Server::stop(Duration patience) {
  return impl_->stop(patience);
}

}  // namespace remit::http
