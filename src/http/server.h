// An HTTP/1.1 server for a boundary: strict, bounded, loopback unless told otherwise.
//
//     class Echo final : public http::Handler {
//       http::Response handle(const http::Request& request, std::stop_token) override {
//         return {.status = 200, .body = request.body};
//       }
//     };
//     Echo echo;
//     REMIT_TRY_ASSIGN(auto server, http::Server::start({.port = 8808}, echo, clock));
//     …
//     server->stop(std::chrono::seconds{10});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "http/body_stream.h"
#include "http/message.h"
#include "http/request_parser.h"

namespace remit::http {

/// A request that is answered without `handle`: it cannot be read, goes beyond a limit, came too
/// slowly, or names another host or a foreign origin.
struct Refusal {
  int status = 400;
  std::string_view why;  ///< a line without outside text
  /// The head, where that could be read (`method` is not empty); its body is not whole. Nothing in
  /// it was checked further: host and origin may be the very reason.
  Request head;
};

/// Answers requests. Called from several threads at once; outlives the server. An exception that
/// leaves it is answered with 500.
class Handler {
 public:
  virtual ~Handler() = default;
  /// The answer to `request`. May block: it has one of the server's worker threads to itself.
  /// `stop` is asked for when the client is gone, or when the server does not wait any longer.
  virtual Response handle(const Request& request, std::stop_token stop) = 0;
  /// The answer to what is refused; its status is the refusal's, whatever this one says. By default
  /// one line of text. The connection is closed after it.
  virtual Response refuse(const Refusal& refusal);
};

/// A certificate chain and its key, as PEM text.
struct TlsIdentity {
  std::string certificate_pem;
  std::string private_key_pem;
};

struct ServerOptions {
  std::string address = "127.0.0.1";              ///< of an interface; a number, not a name
  std::uint16_t port = 0;                         ///< 0: any that is free
  std::optional<TlsIdentity> tls = std::nullopt;  ///< TLS 1.2 or newer
  /// What Host may say, in lower case, each with any port (`localhost`, `remit.example`, `[::1]`).
  /// Empty means the names of the loopback, and is an error for another address: a page that
  /// rebinds its name to this machine must not be served.
  std::vector<std::string> allowed_hosts = {};
  /// What Origin may say (`https://app.example`). A request without Origin is no browser's page.
  std::vector<std::string> allowed_origins = {};
  RequestLimits limits = {};
  std::size_t connections = 256;  ///< at once; one more is told 503 and closed
  std::size_t workers = 8;        ///< handlers at once
  std::size_t waiting = 64;       ///< requests before a worker; one more is answered 503
  /// Of requests that are read or handled, over all connections. A request that finds no room is
  /// answered 503; one of `limits.body_bytes` alone always fits.
  std::size_t body_bytes = kMaxRequestBodyBytesAtOnce;
  std::chrono::milliseconds head_timeout{10'000};     ///< from the first byte, or the connection
  std::chrono::milliseconds request_timeout{30'000};  ///< from the first byte to the last
  std::chrono::milliseconds idle_timeout{60'000};     ///< between two requests
  std::chrono::milliseconds write_timeout{30'000};    ///< a client that takes nothing
};

/// A server with one thread for connections and `workers` for handlers. Requests of a connection
/// are answered one after the other, in order. Timeouts are seen within a tenth of a second.
/// Thread-safe.
class Server {
 public:
  /// Listens and serves. `handler` and `clock` outlive the server. Errors: `invalid_input` for an
  /// address that is none, a certificate or key that does not parse or fit, a bound of zero, or no
  /// `allowed_hosts` where they are needed; `unavailable` where the address cannot be listened on.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler& handler,
                                               const Clock& clock);
  /// As `stop` without patience.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The port listened on.
  [[nodiscard]] std::uint16_t port() const;

  /// Takes no new connection and no new request, waits up to `patience` for those under way to be
  /// answered, then asks their handlers to stop and closes the connections. Returns when every
  /// handler has returned. True if nothing was cut off. Idempotent; a second call waits for the
  /// first.
  bool stop(Duration patience);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace remit::http
