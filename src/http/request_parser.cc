// Request lines, and the headers that a request must have.
#include "http/request_parser.h"

#include <utility>

#include "http/url.h"

namespace remit::http {
namespace {

constexpr std::size_t kMaxMethodBytes = 32;

}  // namespace

void RequestParser::reset() {
  reader_.reset();
  request_ = {};
  keeps_alive_ = false;
  is_http10_ = false;
  expects_continue_ = false;
}

std::size_t RequestParser::feed(std::string_view input) {
  const auto head = [this](std::string_view text, std::optional<Framing>& framing) {
    return read_head(text, framing);
  };
  const std::size_t used = reader_.feed(input, head, request_.body);
  if (state() == State::kRefused) keeps_alive_ = false;
  return used;
}

std::optional<Fault> RequestParser::read_head(std::string_view head,
                                              std::optional<Framing>& framing) {
  const std::size_t end = head.find("\r\n");
  auto fault = read_request_line(head.substr(0, end));
  if (!fault) fault = read_fields(head.substr(end + 2), limits_.headers, request_.headers);
  framing.emplace();
  if (!fault) fault = read_framing(request_.headers, is_http10_, *framing);
  if (!fault) fault = read_connection(request_.headers, is_http10_, keeps_alive_);
  if (!fault) fault = check_headers();
  if (fault) request_ = {};  // nobody may act on half of it
  return fault;
}

std::optional<Fault> RequestParser::read_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return Fault{400, "a request line without method, target and version"};
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/")) {
    return Fault{400, "a request line without method, target and version"};
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Fault{505, "a version besides HTTP/1.1 and HTTP/1.0"};
  }
  is_http10_ = version == "HTTP/1.0";
  if (!is_token(method)) return Fault{400, "a method that is no token"};
  if (method.size() > kMaxMethodBytes || method == "CONNECT" || method == "TRACE") {
    return Fault{501, "a method that is not served"};
  }
  // An absolute target would be a second Host, and `*` names nothing that anybody serves here.
  if (!is_origin_form(target)) return Fault{400, "a target that is no path"};
  request_.method = method;
  request_.target = target;
  return std::nullopt;
}

std::optional<Fault> RequestParser::check_headers() {
  if (request_.headers.find("Host") == nullptr) return Fault{400, "no Host"};
  const std::string* coding = request_.headers.find("Content-Encoding");
  if (coding != nullptr && !equal_names(*coding, "identity")) {
    return Fault{415, "a content coding, which is not read"};
  }
  if (const std::string* expected = request_.headers.find("Expect")) {
    if (!equal_names(*expected, "100-continue")) return Fault{417, "an expectation"};
    expects_continue_ = !is_http10_;
  }
  return std::nullopt;
}

}  // namespace remit::http
