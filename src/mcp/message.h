// Messages of the Model Context Protocol: JSON-RPC 2.0 as typed values, parsed strictly from one
// line and written by us.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/limits.h"
#include "json/value.h"

namespace remit::mcp {

/// Revisions of the protocol's handshake era that we speak, oldest first.
enum class Revision : std::uint8_t { k2025_06_18, k2025_11_25 };
inline constexpr Revision kNewestRevision = Revision::k2025_11_25;
inline constexpr std::array kRevisions{Revision::k2025_11_25, Revision::k2025_06_18};

/// `2025-11-25` and so on.
std::string_view revision_name(Revision revision);
std::optional<Revision> parse_revision(std::string_view name);

/// Error codes of JSON-RPC 2.0 and MCP that we send.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
/// Of revision 2026-07-28: a request names a protocol version that is not spoken here.
inline constexpr int kUnsupportedProtocolVersion = -32022;

/// A request's id, which is also the form of a progress token: text or an integer, compared as
/// such (`1` is not `"1"`).
class RequestId {
 public:
  explicit RequestId(std::int64_t number) : value_(number) {}
  explicit RequestId(std::string text) : value_(std::move(text)) {}
  /// Nothing for null, a fraction, a boolean, an object, or text over kMaxIdBytes.
  static std::optional<RequestId> from(const json::Value& value);

  [[nodiscard]] const std::int64_t* if_number() const { return std::get_if<std::int64_t>(&value_); }
  /// As JSON text.
  [[nodiscard]] std::string json() const;
  [[nodiscard]] json::Value value() const;
  friend bool operator==(const RequestId&, const RequestId&) = default;
  friend auto operator<=>(const RequestId&, const RequestId&) = default;

 private:
  std::variant<std::int64_t, std::string> value_;
};

struct Request {
  RequestId id;
  std::string method;
  json::Object params = {};
};

struct Notification {
  std::string method;
  json::Object params = {};
};

/// The answer to a request that was served.
struct ResultResponse {
  RequestId id;
  json::Object result = {};
};

/// The answer to a request that was not; without an id when the sender could not read it.
struct ErrorResponse {
  std::optional<RequestId> id;
  std::int64_t code = 0;
  std::string message = {};
  std::optional<json::Value> data = std::nullopt;
};

using Message = std::variant<Request, Notification, ResultResponse, ErrorResponse>;

/// What is wrong with a line, as far as its sender may be told.
struct MessageFault {
  int code = kParseError;
  std::string message;                         ///< lower case, with the place where there is one
  bool is_limit = false;                       ///< a bound was met, rather than a rule broken
  std::optional<RequestId> id = std::nullopt;  ///< of the request, where it could be read
  bool is_response = false;                    ///< meant as an answer: there is nobody to tell
};

/// Bounds of one message.
inline constexpr std::size_t kMaxMethodBytes = 128;

/// Parses one line (without its `\n`). Refused, beyond what json::parse refuses: a batch; another
/// `jsonrpc` than "2.0"; an id that is no text or integer; `params`, `result` or `error` of another
/// shape; request and answer in one; and a key that a careless reader would take for one of the
/// protocol's (`Method`, `METHOD`, `ſ` for `s`). Other members of the envelope are dropped.
/// Thread-safe.
std::variant<Message, MessageFault> parse_message(std::string_view line,
                                                  std::size_t max_bytes = kMaxMcpLineBytes);

/// One line each, `\n` included. `params` and `result` are JSON texts of objects; an empty `params`
/// leaves the member out.
std::string request_line(const RequestId& id, std::string_view method, std::string_view params);
std::string notification_line(std::string_view method, std::string_view params);
std::string result_line(const RequestId& id, std::string_view result);
std::string error_line(const ErrorResponse& error);

}  // namespace remit::mcp
