// From the bytes of a connection to one response.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "http/message.h"
#include "http/wire.h"

namespace remit::http {

/// Bounds of one response.
struct ResponseLimits {
  std::size_t head_bytes = kMaxHeadBytes;
  std::size_t headers = kMaxHeaders;
  std::size_t body_bytes = kMaxCallBytes;
};

/// Reads one response, as strictly as RequestParser; interim ones (1xx) before it are passed over.
/// A body must say where it ends: one that ends with the connection could be cut short unseen.
/// Pure; not thread-safe.
class ResponseParser {
 public:
  /// `has_body` is false for the answer to a HEAD request.
  ResponseParser(const ResponseLimits& limits, bool has_body)
      : limits_(limits), has_body_(has_body), reader_(limits.head_bytes, limits.body_bytes) {}

  enum class State : std::uint8_t { kUnfinished, kComplete, kRefused };
  /// As RequestParser::feed.
  std::size_t feed(std::string_view input);
  [[nodiscard]] State state() const;
  /// Of a refused one: `data_loss`, or `limit_exceeded` for a bound.
  [[nodiscard]] Error error() const;
  [[nodiscard]] Response& response() { return response_; }
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }

 private:
  std::optional<Fault> read_head(std::string_view head, std::optional<Framing>& framing);
  std::optional<Fault> read_framing_of_body(std::optional<Framing>& framing);
  std::optional<Fault> read_status_line(std::string_view line);

  const ResponseLimits limits_;
  const bool has_body_;
  MessageReader reader_;
  Response response_;
  int interim_ = 0;
  bool keeps_alive_ = false;
  bool is_http10_ = false;
};

}  // namespace remit::http
