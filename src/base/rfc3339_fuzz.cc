// Fuzz target: a time that reads has the form, and survives being written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/rfc3339.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::Result<remit::WallTime> time = remit::parse_rfc3339(text);
  if (!time) return 0;
  REMIT_CHECK(remit::is_rfc3339(text));
  const remit::Result<remit::WallTime> back = remit::parse_rfc3339(remit::format_rfc3339(*time));
  REMIT_CHECK(back && *back == *time);
  return 0;
}
