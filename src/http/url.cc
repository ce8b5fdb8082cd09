// Taking URLs apart.
#include "http/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "base/limits.h"

namespace remit::http {
namespace {

Error refused(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalidInput, "the URL " + quoted(text, 128) + " " + std::string(why)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_host_name(std::string_view name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
  });
  if (!letters || name.empty() || name.size() > 253 || name.front() == '.') return false;
  if (name.find("..") != std::string_view::npos) return false;
  // A last label of digits is an address, and what is not one in four plain decimals is a trick
  // (`127.1`, `0x7f.1`, `2130706433`).
  std::string_view last = name;
  if (last.back() == '.') last.remove_suffix(1);
  last = last.substr(last.rfind('.') + 1);
  return !last.empty() && !is_digit(last.front());
}

// Reads `:1234` after a host; nothing there keeps the scheme's own port.
bool read_port(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  text.remove_prefix(1);
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) {
    return false;
  }
  unsigned value = 0;
  for (const char c : text) value = value * 10 + static_cast<unsigned>(c - '0');
  if (value == 0 || value > 65535) return false;
  port = static_cast<std::uint16_t>(value);
  return true;
}

Status read_authority(std::string_view whole, std::string_view authority, Url& out) {
  std::string_view host = authority;
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return refused(whole, "has a bracket without its other");
    host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (host.find(':') == std::string_view::npos || !is_ip_address(host)) {
      return refused(whole, "has no IPv6 address in its brackets");
    }
  } else {
    const std::size_t colon = authority.find(':');
    if (colon != std::string_view::npos) {
      host = authority.substr(0, colon);
      port = authority.substr(colon);
    }
    if (!is_host_name(host) && !is_ip_address(host)) return refused(whole, "names no host");
  }
  if ((!port.empty() && port.front() != ':') || !read_port(port, out.port)) {
    return refused(whole, "has no port from 1 to 65535 behind its host");
  }
  out.host = host;
  for (char& c : out.host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return {};
}

}  // namespace

bool is_ip_address(std::string_view text) {
  const std::string copy(text);
  in6_addr six{};
  in_addr four{};
  return copy.find('\0') == std::string::npos && (::inet_pton(AF_INET, copy.c_str(), &four) == 1 ||
                                                  ::inet_pton(AF_INET6, copy.c_str(), &six) == 1);
}

bool is_loopback_address(std::string_view address) {
  return address == "::1" || (address.starts_with("127.") && is_ip_address(address));
}

bool is_origin_form(std::string_view target) {
  if (target.empty() || target.front() != '/') return false;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const char c = target[i];
    if (c == '%') {
      if (i + 2 >= target.size() || !is_hex(target[i + 1]) || !is_hex(target[i + 2])) return false;
    } else if (!is_letter(c) && !is_digit(c) &&
               std::string_view("-._~:/?@!$&'()*+,;=[]").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

Result<Url> Url::parse(std::string_view text) {
  if (text.size() > kMaxUrlBytes) {
    return Error{ErrorCode::kLimitExceeded, "a URL of more than 4096 bytes"};
  }
  Url out;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    out.is_secure = false;
    out.port = 80;
    rest.remove_prefix(7);
  } else {
    return refused(text, "begins with neither http:// nor https://");
  }
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  rest.remove_prefix(end);
  // A URL is printed in messages, so it is no place for a secret.
  if (authority.find('@') != std::string_view::npos) {
    return Error{ErrorCode::kInvalidInput, "the URL has a user name or a password in it"};
  }
  if (rest.find('#') != std::string_view::npos) return refused(text, "has a fragment");
  REMIT_TRY(read_authority(text, authority, out));
  out.target = rest.empty() || rest.front() == '?' ? "/" + std::string(rest) : std::string(rest);
  if (!is_origin_form(out.target)) return refused(text, "has a character that must be escaped");
  return out;
}

bool Url::is_loopback() const {
  return host == "localhost" || is_loopback_address(host);
}

std::string Url::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (is_secure ? 443 : 80)) out.append(":").append(std::to_string(port));
  return out;
}

}  // namespace remit::http
