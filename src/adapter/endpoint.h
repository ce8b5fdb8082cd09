// Old endpoints as tools: from a request to arguments, and from arguments to a request again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "json/value.h"

namespace remit::adapter {

/// One way into an old handler, and the tool that it is. A segment of the path in braces is an
/// argument of that name. Of GET, HEAD and DELETE the other arguments are the query, each name
/// once, each value a text; of any other method they are the body, a JSON object.
struct Endpoint {
  std::string method;
  std::string path;  ///< `/invoices/{invoice}/refund`
  std::string tool;  ///< as the catalogue names it
};

/// Endpoints that cannot be mistaken for one another. Immutable, thread-safe.
class EndpointTable {
 public:
  /// Errors, with the endpoint as `where`: `invalid_input` for a method that is no token, a path
  /// that does not begin with `/`, has an empty segment, `.` or `..`, a character that must be
  /// escaped or an argument that is there twice; no tool; two endpoints that one request could
  /// mean.
  static Result<EndpointTable> create(std::vector<Endpoint> endpoints);

  /// What a request asks for.
  struct Match {
    const Endpoint* endpoint = nullptr;  ///< of the table; null if none matches
    std::vector<std::pair<std::string, std::string>> path_arguments = {};  ///< decoded
  };
  [[nodiscard]] Match find(const http::Request& request) const;

 private:
  explicit EndpointTable(std::vector<Endpoint> endpoints) : endpoints_(std::move(endpoints)) {}
  std::vector<Endpoint> endpoints_;
};

/// The arguments of a matched request as JSON text; what is no JSON object is given as it is, since
/// the boundary refuses it by itself. Errors: `invalid_input` for a body of another type than
/// application/json, a body and a query where the other is meant, a query that is no list of
/// `name=value`, and an argument that is there twice.
Result<std::string> arguments_of(const http::Request& request, const EndpointTable::Match& match);

/// The request for `endpoint` that says what `arguments` say: the opposite of `arguments_of`, in
/// our own spelling. Errors: `invalid_input` for an argument that a path or a query cannot carry,
/// `.` and `..` in a path among them.
Result<http::Request> request_of(const Endpoint& endpoint, json::Object arguments);

}  // namespace remit::adapter
