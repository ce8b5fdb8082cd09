// Any bytes as criteria of a rollout: parsed or refused with a place, never anything else.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rollout/criteria.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::rollout::CriteriaParse parsed = remit::rollout::parse_criteria(text, "c");
  REMIT_CHECK(parsed.criteria.has_value() == parsed.errors.empty());
  for (const remit::Error& error : parsed.errors) REMIT_CHECK(error.where.rfind('c', 0) == 0);
  if (!parsed.criteria) return 0;
  const remit::rollout::Pair pair{"agent", std::string(text.substr(0, size / 2))};
  REMIT_CHECK(parsed.criteria->needs_of(pair).calls >= 1);
  return 0;
}
