// Any bytes as a manifest: parsed or refused with a place, never anything else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "grading/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::grading::ManifestParse parsed = remit::grading::parse_manifest(text, "m");
  REMIT_CHECK(parsed.manifest.has_value() == parsed.errors.empty());
  for (const remit::Error& error : parsed.errors) REMIT_CHECK(error.where.rfind('m', 0) == 0);
  static_cast<void>(remit::grading::parse_expected_ids(text, "ids"));
  return 0;
}
