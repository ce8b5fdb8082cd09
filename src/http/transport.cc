// Sockets, with and without TLS.
#include "http/transport.h"

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace remit::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(tcp::socket socket) : socket_(std::move(socket)) {}
  void shake_hands(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void read(char* data, std::size_t size, Done done) override {
    socket_.async_read_some(asio::buffer(data, size), std::move(done));
  }
  void write(const char* data, std::size_t size, Done done) override {
    asio::async_write(socket_, asio::buffer(data, size), std::move(done));
  }
  void end_writing(Done done) override {
    ErrorCode error;
    socket_.shutdown(tcp::socket::shutdown_send, error);
    asio::post(socket_.get_executor(), [done = std::move(done), error] { done(error, 0); });
  }
  void close() override {
    ErrorCode ignored;
    socket_.close(ignored);
  }

 private:
  tcp::socket socket_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(tcp::socket socket, asio::ssl::context& context)
      : stream_(std::move(socket), context) {}
  void shake_hands(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](const ErrorCode& error) { done(error, 0); });
  }
  void read(char* data, std::size_t size, Done done) override {
    stream_.async_read_some(asio::buffer(data, size), std::move(done));
  }
  void write(const char* data, std::size_t size, Done done) override {
    asio::async_write(stream_, asio::buffer(data, size), std::move(done));
  }
  void end_writing(Done done) override {
    stream_.async_shutdown([done = std::move(done)](const ErrorCode& error) { done(error, 0); });
  }
  void close() override {
    ErrorCode ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(tcp::socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

std::unique_ptr<Transport> make_tls_server_transport(tcp::socket socket,
                                                     asio::ssl::context& context) {
  return std::make_unique<TlsTransport>(std::move(socket), context);
}

}  // namespace remit::http
