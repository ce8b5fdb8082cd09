// One connection of a client, driven by the thread that uses it. Internal to this folder.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/response_parser.h"

namespace remit::http {

/// A socket with an io_context of its own: each operation runs it until done, the deadline, or a
/// request to stop. Used by one thread at a time.
class Connection {
 public:
  explicit Connection(const Clock& clock) : clock_(clock) {}

  /// Errors: `unavailable`, `deadline_exceeded`.
  Status connect(const std::string& address, std::uint16_t port, MonotonicTime deadline,
                 const std::stop_token& stop);
  /// TLS on top of it, for the name `host`. `tls` outlives the connection. Errors: as above.
  Status secure(const std::string& host, boost::asio::ssl::context& tls, MonotonicTime deadline,
                const std::stop_token& stop);
  /// Sends `bytes` and reads one response into `parser`. Errors as of Client::send.
  Status exchange(const std::string& bytes, ResponseParser& parser, MonotonicTime deadline,
                  const std::stop_token& stop);
  /// Whether the connection rests as a server would leave it: open, with nothing to read.
  bool is_quiet();
  /// Whether it can serve another request, after an exchange that went well.
  [[nodiscard]] bool is_reusable() const { return is_reusable_; }

 private:
  using AsioError = boost::system::error_code;
  using Done = std::function<void(const AsioError&, std::size_t)>;
  struct Outcome {
    AsioError error;
    std::size_t size = 0;
  };
  // Runs what `begin` starts. Errors: `deadline_exceeded`, `unavailable` for a request to stop.
  Result<Outcome> run(const std::function<void(Done)>& begin, MonotonicTime deadline,
                      const std::stop_token& stop);
  void close();

  const Clock& clock_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::socket socket_{io_};
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> stream_;
  bool is_reusable_ = false;
};

}  // namespace remit::http
