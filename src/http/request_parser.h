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
  explicit RequestParser(const RequestLimits& limits) : limits_(limits), head_(limits.head_bytes) {}

  enum class State : std::uint8_t {
    kHead,      ///< the head is not whole yet
    kBody,      ///< the body is not whole yet
    kComplete,  ///< `request()` is whole; what follows is the next one
    kRefused,   ///< `fault()` says why; nothing more is read from the connection
  };
  /// Takes from `input` what belongs to this request and returns how many bytes that were. What was
  /// not taken has to come again, with more behind it.
  std::size_t feed(std::string_view input);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Fault& fault() const { return fault_; }
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
  void refuse(const Fault& fault);
  void read_head(std::string_view head);
  std::optional<Fault> read_request_line(std::string_view line);
  std::optional<Fault> check_headers();

  const RequestLimits limits_;
  HeadScanner head_;
  std::optional<BodyReader> body_;
  State state_ = State::kHead;
  Request request_;
  Fault fault_;
  bool keeps_alive_ = false;
  bool is_http10_ = false;
  bool expects_continue_ = false;
};

}  // namespace remit::http
