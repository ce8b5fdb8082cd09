// HTTP messages as values: what a handler gets and gives, and what a client sends.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace remit::http {

class BodyStream;

/// One header, its name in the letters in which it came.
struct Field {
  std::string name;
  std::string value;
  friend bool operator==(const Field&, const Field&) = default;
};

/// Headers in order, each name once: a message that repeats one is refused before it gets here,
/// but for those whose values are lists, which are joined. Names are compared without regard to
/// case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Field> fields);

  /// The value of a header; null if there is none.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Sets or adds one. What is no header (a name that is no token, a value with a control
  /// character) is refused when the message is sent.
  void set(std::string_view name, std::string_view value);
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

/// A request as a server's handler gets it: read strictly, whole, within the server's limits.
struct Request {
  std::string method;  ///< as it came; names of methods are compared byte for byte
  std::string target;  ///< path and query as they came, percent-encoded; begins with `/`
  Headers headers;
  std::string body;
  /// From where a server got it: an IPv4 address, or the first half of an IPv6 one, which is what
  /// one subscriber has. Behind a proxy it is the proxy's. Empty in a request of our own.
  std::string peer = {};

  /// The target up to `?`: not decoded, so that one path has one spelling.
  [[nodiscard]] std::string_view path() const;
  /// What follows the `?`, not decoded; empty without one.
  [[nodiscard]] std::string_view query() const;
};

/// A response. A handler that says nothing else has answered 500. Content-Length, Date, Connection
/// and Transfer-Encoding are the server's to set; a handler's own are left out.
struct Response {
  int status = 500;
  Headers headers = {};
  std::string body = {};
  /// For a handler that writes its body while it is sent, server-sent events for one; `body` is
  /// then not looked at. Null otherwise, and always in what a client gets.
  std::shared_ptr<BodyStream> stream = {};
};

/// A response with a body of plain text: `status` and one line.
Response text_response(int status, std::string_view line);

/// The phrase of a status, e.g. `Not Found`; `Status` for one that we do not know.
std::string_view status_phrase(int status);

/// Whether `name` is a token (RFC 9110 section 5.6.2), as names of headers and methods are.
bool is_token(std::string_view name);
/// Whether `value` can be sent as a header's: no control character but a tab, no space at an end.
bool is_field_value(std::string_view value);
/// Whether two names are the same but for the case of ASCII letters.
bool equal_names(std::string_view left, std::string_view right);

/// Appends head lines for `headers`, leaving out those that frame a message (Content-Length,
/// Transfer-Encoding, Connection), Date, and those that are no headers at all. Returns how many of
/// the latter there were.
std::size_t write_fields(const Headers& headers, std::string& out);

}  // namespace remit::http
