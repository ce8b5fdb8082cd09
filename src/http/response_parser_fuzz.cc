// Fuzz target: bytes become one response or an error, the same however they arrive.
#include "http/response_parser.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace {

namespace http = remit::http;
using State = http::ResponseParser::State;

constexpr http::ResponseLimits kLimits{.head_bytes = 2048, .headers = 20, .body_bytes = 4096};

struct Reading {
  State state = State::kUnfinished;
  int status = 0;
  std::string body = {};
  std::string error = {};
  friend bool operator==(const Reading&, const Reading&) = default;
};

Reading read(std::string_view bytes, std::size_t step, bool has_body) {
  http::ResponseParser parser(kLimits, has_body);
  std::string input;
  for (std::size_t at = 0; at < bytes.size() && parser.state() == State::kUnfinished; at += step) {
    input.append(bytes.substr(at, step));
    const std::size_t used = parser.feed(input);
    REMIT_CHECK(used <= input.size());
    input.erase(0, used);
  }
  Reading out{.state = parser.state()};
  if (out.state == State::kRefused) out.error = parser.error().to_string();
  if (out.state != State::kComplete) return out;
  out.status = parser.response().status;
  out.body = parser.response().body;
  REMIT_CHECK(out.status >= 200 && out.status <= 599 && out.body.size() <= kLimits.body_bytes);
  REMIT_CHECK(has_body || out.body.empty());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool has_body : {true, false}) {
    const Reading whole = read(bytes, size == 0 ? 1 : size, has_body);
    REMIT_CHECK(read(bytes, 1, has_body) == whole);
    REMIT_CHECK(read(bytes, 7, has_body) == whole);
  }
  return 0;
}
