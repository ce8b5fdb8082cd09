// Where a client sends to: an absolute http or https URL, read strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remit::http {

/// An absolute URL of the schemes `http` and `https` (RFC 3986), taken apart.
struct Url {
  bool is_secure = true;  ///< https
  std::string host;       ///< a name in lower case, or an address without brackets
  std::uint16_t port = 443;
  std::string target = "/";  ///< path and query, as they are sent

  /// Reads `text`. Errors: `invalid_input` for another scheme, a user name or password, a fragment,
  /// a host that is no name of letters, digits, `-`, `_` and `.`, nor an IPv4 address, nor an IPv6
  /// one in brackets; a port of zero or beyond 65535; a character that a URL must escape;
  /// `limit_exceeded` beyond kMaxUrlBytes. Thread-safe.
  static Result<Url> parse(std::string_view text);

  /// Whether the host is `localhost` or an address of this machine's loopback. No name is looked
  /// up.
  [[nodiscard]] bool is_loopback() const;
  /// As the Host header has it: brackets around IPv6, the port where it is not the scheme's own.
  [[nodiscard]] std::string authority() const;
};

/// Whether `text` is an IPv4 address in dotted decimal, or an IPv6 address without brackets.
bool is_ip_address(std::string_view text);
/// Whether an address of `is_ip_address` is one of the loopback's.
bool is_loopback_address(std::string_view address);

/// Whether `target` is a path with an optional query as a request carries it: it begins with `/`,
/// and has no character that must be escaped, no fragment and no broken `%` escape.
bool is_origin_form(std::string_view target);

}  // namespace remit::http
