// Fuzz target: a schema of any bytes compiles or is refused, and then judges any value. The input
// is the two JSON texts with a byte 0 between them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = remit::json;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\0'), input.size());
  const remit::Result<json::Value> rules = json::parse(input.substr(0, cut));
  if (!rules) return 0;
  const remit::Result<json::Schema> schema = json::Schema::compile(*rules);
  if (!schema) {
    REMIT_CHECK(schema.error().code != remit::ErrorCode::kInternal);
    return 0;
  }
  const remit::Result<json::Value> value =
      json::parse(input.substr(std::min(cut + 1, input.size())));
  if (!value) return 0;
  const auto found = schema->validate(*value);
  REMIT_CHECK(found || found.error().code != remit::ErrorCode::kInternal);
  return 0;
}
