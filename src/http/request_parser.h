// From the bytes of a connection to requests, or to a refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/limits.h"
#include "http/message.h"
#include "http/wire.h"

namespace remit::http {

/// Bounds of one request. Each is inclusive.
struct RequestLimits {
  std::size_t head_bytes = kMaxHeadBytes;
  std::size_t headers = kMaxHeaders;
  std::size_t body_bytes = kMaxCallBytes;
};

/// Reads one request after another, strictly (spec/http.md): RFC 9112 without what two readers
/// could take in two ways. Pure; not thread-safe.
class RequestParser {
 public:
  explicit RequestParser(const RequestLimits& limits)
      : limits_(limits), reader_(limits.head_bytes, limits.body_bytes) {}

  /// kComplete: `request()` is whole; what follows is the next one. kRefused: `fault()` says why;
  /// nothing more is read from the connection.
  using State = MessageReader::State;
  /// Takes from `input` what belongs to this request and returns how many bytes that were. What was
  /// not taken has to come again, with more behind it.
  std::size_t feed(std::string_view input);
  [[nodiscard]] State state() const { return reader_.state(); }
  [[nodiscard]] const Fault& fault() const { return reader_.fault(); }
  /// The request as far as it was read: whole when complete; its head from kBody on, and when a
  /// body was refused; else empty.
  [[nodiscard]] Request& request() { return request_; }
  /// Whether the connection may serve another request after this one.
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }
  [[nodiscard]] bool is_http10() const { return is_http10_; }
  /// Whether the client waits for `100 Continue` before it sends the body.
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  /// Starts with the next request.
  void reset();

 private:
  std::optional<Fault> read_head(std::string_view head, std::optional<Framing>& framing);
  std::optional<Fault> read_request_line(std::string_view line);
  std::optional<Fault> check_headers();

  const RequestLimits limits_;
  MessageReader reader_;
  Request request_;
  bool keeps_alive_ = false;
  bool is_http10_ = false;
  bool expects_continue_ = false;
};

}  // namespace remit::http
