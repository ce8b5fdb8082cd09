// An HTTP/1.1 client for trusted services: a deadline on everything, and nothing by itself.
//
//     REMIT_TRY_ASSIGN(auto client, http::Client::create({}, clock));
//     REMIT_TRY_ASSIGN(const http::Url url, http::Url::parse("https://id.example/jwks.json"));
//     REMIT_TRY_ASSIGN(const http::Response got,
//                      client->send({.url = url, .deadline = clock.monotonic_now() + 2s}));
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "http/message.h"
#include "http/response_parser.h"
#include "http/url.h"

namespace remit::http {

/// One request. Host, Content-Length, Accept-Encoding and Connection are the client's to set.
struct ClientRequest {
  std::string method = "GET";
  Url url;
  Headers headers = {};
  std::string body = {};
  MonotonicTime deadline;  ///< of the whole exchange, name look-up to last byte
};

struct ClientOptions {
  /// Certificates to trust, as PEM text, in place of the system's.
  std::string trust_pem = {};
  ResponseLimits limits = {};
  std::size_t connections = 8;  ///< at once; a request beyond them waits for one
  std::chrono::milliseconds connect_timeout{5'000};  ///< of one address, TLS included
  /// A connection that rested longer is not used again. Less than servers keep theirs, so that a
  /// request seldom meets one that is just being closed.
  std::chrono::milliseconds max_rest{2'000};
};

/// Sends requests and keeps connections for the next ones. No redirect is followed, nothing is
/// retried, no cookie kept, no proxy asked, no environment variable read: a response is what the
/// named server said to this one request. TLS is 1.2 or newer, and the certificate must be valid
/// for the URL's host. Thread-safe; each request runs on its caller's thread.
class Client {
 public:
  /// `clock` outlives the client. Errors: `invalid_input` for `trust_pem` that does not parse, or a
  /// bound of zero.
  static Result<std::unique_ptr<Client>> create(const ClientOptions& options, const Clock& clock);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// The response, of whatever status. Errors, with the URL's host as `where`: `deadline_exceeded`;
  /// `unavailable` if the host is not known, does not take the connection, has no certificate that
  /// is valid for its name, or ends before the response is whole, and when `stop` is asked for;
  /// `limit_exceeded` for a response beyond `limits`; `data_loss` for one that is malformed;
  /// `invalid_input` for a method or header that cannot be sent. But for the last, the server may
  /// have acted upon the request.
  Result<Response> send(const ClientRequest& request, std::stop_token stop = {});

  /// Whether the server of `url` takes a connection, with TLS where the URL says so, by `deadline`.
  /// The connection is closed again and asks for nothing. Errors: those of `send` that come before
  /// a request is sent.
  Status reach(const Url& url, MonotonicTime deadline, std::stop_token stop = {});

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace remit::http
