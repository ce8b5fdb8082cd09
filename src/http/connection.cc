// Asio's operations, one at a time, each with an end.
#include "http/connection.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "http/url.h"

namespace remit::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

Error late(std::string_view what) {
  return {ErrorCode::kDeadlineExceeded, std::string(what) + " in time"};
}

}  // namespace

void Connection::close() {
  is_reusable_ = false;
  AsioError ignored;
  socket_.close(ignored);
}

Result<Connection::Outcome> Connection::run(const std::function<void(Done)>& begin,
                                            MonotonicTime deadline, const std::stop_token& stop) {
  Outcome out;
  bool is_done = false;
  io_.restart();
  begin([&](const AsioError& error, std::size_t size) {
    out = {error, size};
    is_done = true;
  });
  bool is_late = false;
  {
    const std::stop_callback wake(stop, [this] { asio::post(io_, [] {}); });
    while (!is_done && !stop.stop_requested()) {
      const Duration left = deadline - clock_.monotonic_now();
      is_late = left <= Duration::zero();
      if (is_late) break;
      io_.run_one_for(left);
    }
  }
  if (is_done) return out;
  close();
  // What was begun refers to this call's variables, so it has to end here, as it does once the
  // socket is closed.
  io_.restart();
  while (!is_done) io_.run_one();
  if (!is_late) return Error{ErrorCode::kUnavailable, "cancelled"};
  return late("the server did not answer");
}

Status Connection::connect(const std::string& address, std::uint16_t port, MonotonicTime deadline,
                           const std::stop_token& stop) {
  AsioError error;
  const tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
  if (error) return Error{ErrorCode::kUnavailable, "the name has an address that is none"};
  REMIT_TRY_ASSIGN(
      const Outcome connected,
      run(
          [&](Done done) {
            socket_.async_connect(
                endpoint, [done = std::move(done)](const AsioError& failed) { done(failed, 0); });
          },
          deadline, stop));
  if (connected.error) {
    close();
    return Error{ErrorCode::kUnavailable, "cannot connect: " + connected.error.message()};
  }
  socket_.set_option(tcp::no_delay(true), error);
  return {};
}

Status Connection::secure(const std::string& host, asio::ssl::context& tls, MonotonicTime deadline,
                          const std::stop_token& stop) {
  stream_.emplace(socket_, tls);
  AsioError error;
  stream_->set_verify_callback(asio::ssl::host_name_verification(host), error);
  if (!error && !is_ip_address(host)) {
    const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    // Casts of the macro behind SSL_set_tlsext_host_name are not ours to write.
    (void)::SSL_ctrl(stream_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME,
                     TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str()));
  }
  REMIT_TRY_ASSIGN(
      const Outcome shaken,
      run(
          [&](Done done) {
            stream_->async_handshake(
                asio::ssl::stream_base::client,
                [done = std::move(done)](const AsioError& failed) { done(failed, 0); });
          },
          deadline, stop));
  if (!error && !shaken.error) return {};
  close();
  const long verified = ::SSL_get_verify_result(stream_->native_handle());
  if (verified != X509_V_OK) {
    return Error{ErrorCode::kUnavailable, std::string("the certificate is not trusted: ") +
                                              ::X509_verify_cert_error_string(verified)};
  }
  return Error{ErrorCode::kUnavailable, "no TLS: " + shaken.error.message()};
}

Status Connection::exchange(const std::string& bytes, ResponseParser& parser,
                            MonotonicTime deadline, const std::stop_token& stop) {
  is_reusable_ = false;
  REMIT_TRY_ASSIGN(const Outcome written,
                   run(
                       [&](Done done) {
                         if (stream_) {
                           asio::async_write(*stream_, asio::buffer(bytes), std::move(done));
                         } else {
                           asio::async_write(socket_, asio::buffer(bytes), std::move(done));
                         }
                       },
                       deadline, stop));
  // A server may refuse a request before it has read all of it, so its answer is looked for.
  std::array<char, 16384> buffer;
  std::string input;
  while (true) {
    REMIT_TRY_ASSIGN(const Outcome got,
                     run(
                         [&](Done done) {
                           if (stream_) {
                             stream_->async_read_some(asio::buffer(buffer), std::move(done));
                           } else {
                             socket_.async_read_some(asio::buffer(buffer), std::move(done));
                           }
                         },
                         deadline, stop));
    if (got.error) {
      close();
      return Error{ErrorCode::kUnavailable, "the connection ended before the response was whole"};
    }
    input.append(buffer.data(), got.size);
    input.erase(0, parser.feed(input));
    if (parser.state() == ResponseParser::State::kUnfinished) continue;
    const bool is_whole = parser.state() == ResponseParser::State::kComplete;
    is_reusable_ = is_whole && input.empty() && parser.keeps_alive() && !written.error;
    if (!is_reusable_) close();
    if (!is_whole) return parser.error();
    return {};
  }
}

bool Connection::is_quiet() {
  char byte = 0;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool is_resting = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (!is_resting) close();
  return is_resting;
}

}  // namespace remit::http
