// Fuzz target: bytes become requests or a refusal, the same however they arrive, and what we take
// for a request Beast reads as the same one.
#include "http/request_parser.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace {

namespace http = remit::http;
using State = http::RequestParser::State;

constexpr http::RequestLimits kLimits{.head_bytes = 2048, .headers = 20, .body_bytes = 4096};

// What the bytes of a connection come to: requests in order, then a refusal or nothing more.
struct Reading {
  std::vector<http::Request> requests;
  std::string_view refusal;
  std::vector<std::size_t> sizes;  // bytes of each request
};

Reading read(std::string_view bytes, std::size_t step) {
  http::RequestParser parser(kLimits);
  Reading out;
  std::string input;
  std::size_t at = 0;
  std::size_t size = 0;
  while (true) {
    const std::size_t used = parser.feed(input);
    REMIT_CHECK(used <= input.size());
    input.erase(0, used);
    size += used;
    REMIT_CHECK(parser.request().body.size() <= kLimits.body_bytes);
    if (parser.state() == State::kRefused) {
      REMIT_CHECK(parser.fault().status >= 400 && !parser.fault().why.empty());
      out.refusal = parser.fault().why;
      return out;
    }
    if (parser.state() == State::kComplete) {
      out.requests.push_back(parser.request());
      out.sizes.push_back(size);
      size = 0;
      parser.reset();
      continue;
    }
    // Only a head that is not whole waits, and that is bounded.
    REMIT_CHECK(input.size() <= kLimits.head_bytes + 1);
    if (at == bytes.size()) return out;
    const std::size_t next = std::min(step, bytes.size() - at);
    input.append(bytes.substr(at, next));
    at += next;
  }
}

void check_request(const http::Request& request, std::string_view bytes) {
  const auto& fields = request.headers.fields();
  REMIT_CHECK(request.headers.find("Host") != nullptr && fields.size() <= kLimits.headers);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    REMIT_CHECK(http::is_token(fields[i].name) && http::is_field_value(fields[i].value));
    for (std::size_t j = 0; j < i; ++j) {
      REMIT_CHECK(!http::equal_names(fields[i].name, fields[j].name));
    }
  }
  namespace beast = boost::beast::http;
  beast::request_parser<beast::string_body> other;
  other.eager(true);
  boost::system::error_code error;
  std::size_t used = other.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (!error && !other.is_done()) {
    bytes.remove_prefix(used);
    other.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  }
  // Beast bounds the names of methods and headers, and joins no lists.
  REMIT_CHECK(!error && other.is_done());
  REMIT_CHECK(std::string_view(other.get().method_string()) == request.method);
  REMIT_CHECK(std::string_view(other.get().target()) == request.target);
  REMIT_CHECK(other.get().body() == request.body);
  for (const http::Field& field : fields) {
    REMIT_CHECK(other.get().find(field.name) != other.get().end());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Reading whole = read(bytes, size == 0 ? 1 : size);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    const Reading parts = read(bytes, step);
    REMIT_CHECK(parts.requests.size() == whole.requests.size());
    REMIT_CHECK(parts.refusal == whole.refusal && parts.sizes == whole.sizes);
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < whole.requests.size(); ++i) {
    check_request(whole.requests[i], bytes.substr(at, whole.sizes[i]));
    at += whole.sizes[i];
  }
  return 0;
}
