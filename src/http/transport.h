// One connection as bytes, plain or TLS. Internal to this folder: the only header with sockets.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace remit::http {

/// Asynchronous bytes on the thread of the socket's io_context. At most one read and one write may
/// be under way at a time. After `close` each ends with an error.
class Transport {
 public:
  using ErrorCode = boost::system::error_code;
  using Done = std::function<void(const ErrorCode&, std::size_t)>;
  virtual ~Transport() = default;
  /// For TLS; plain connections are ready at once.
  virtual void shake_hands(Done done) = 0;
  /// Some bytes, at most `size`.
  virtual void read(char* data, std::size_t size, Done done) = 0;
  /// All of them.
  virtual void write(const char* data, std::size_t size, Done done) = 0;
  /// Tells the peer that nothing more comes.
  virtual void end_writing(Done done) = 0;
  virtual void close() = 0;
};

std::unique_ptr<Transport> make_plain_transport(boost::asio::ip::tcp::socket socket);
/// `context` outlives the transport.
std::unique_ptr<Transport> make_tls_server_transport(boost::asio::ip::tcp::socket socket,
                                                     boost::asio::ssl::context& context);

}  // namespace remit::http
