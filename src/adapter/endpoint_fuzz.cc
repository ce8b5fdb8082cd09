// Fuzz target: what is read as arguments can be written as a request again, and reads as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "adapter/endpoint.h"
#include "base/check.h"
#include "base/limits.h"
#include "http/url.h"

namespace {

namespace adapter = remit::adapter;
namespace http = remit::http;
namespace json = remit::json;

const adapter::EndpointTable& table() {
  static const adapter::EndpointTable made =
      adapter::EndpointTable::create({{"GET", "/a/{one}", "a"},
                                      {"GET", "/", "root"},
                                      {"DELETE", "/b/{one}/c/{two}", "b"},
                                      {"POST", "/d/{one}", "d"},
                                      {"POST", "/e", "e"}})
          .value();
  return made;
}

}  // namespace

// `METHOD TARGET`, a line feed, and the body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !http::is_origin_form(line.substr(space + 1))) return 0;
  http::Request asked;
  asked.method = line.substr(0, space);
  asked.target = line.substr(space + 1);
  asked.headers.set("Content-Type", "application/json");
  if (line.size() < bytes.size()) asked.body = bytes.substr(line.size() + 1);

  const adapter::EndpointTable::Match match = table().find(asked);
  if (match.endpoint == nullptr) return 0;
  const auto text = adapter::arguments_of(asked, match);
  if (!text) return 0;
  const auto arguments = json::parse(*text, {.max_bytes = remit::kMaxCallBytes});
  if (!arguments || arguments->if_object() == nullptr) return 0;
  const auto made = adapter::request_of(*match.endpoint, *arguments->if_object());
  REMIT_CHECK(made);
  REMIT_CHECK(http::is_origin_form(made->target));
  const adapter::EndpointTable::Match again = table().find(*made);
  REMIT_CHECK(again.endpoint == match.endpoint);
  const auto back = adapter::arguments_of(*made, again);
  REMIT_CHECK(back);
  const auto same = json::parse(*back);
  REMIT_CHECK(same && json::canonical(*same) == json::canonical(*arguments));
  return 0;
}
