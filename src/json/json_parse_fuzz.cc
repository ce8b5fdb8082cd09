// Fuzz target: whatever parses survives writing, and its canonical form is a fixed point.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = remit::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::Result<json::Value> value = json::parse(text);
  if (!value) {
    REMIT_CHECK(value.error().code != remit::ErrorCode::kInternal);
    REMIT_CHECK(value.error().where.starts_with("byte "));
    return 0;
  }
  const std::string written = json::write(*value);
  const remit::Result<json::Value> back = json::parse(written);
  REMIT_CHECK(back && *back == *value && json::write(*back) == written);
  const std::string canonical = json::canonical(*value);
  const remit::Result<json::Value> again = json::parse(canonical);
  REMIT_CHECK(again && json::canonical(*again) == canonical);
  return 0;
}
