// Any bytes as a contract: parsed or refused with a place, never anything else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "grading/contract.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const remit::grading::ContractParse parsed = remit::grading::parse_contract(text, "c");
  REMIT_CHECK(parsed.contract.has_value() == parsed.errors.empty());
  for (const remit::Error& error : parsed.errors) REMIT_CHECK(error.where.rfind('c', 0) == 0);
  if (!parsed.contract) return 0;
  REMIT_CHECK(!remit::grading::contract_in_words(*parsed.contract).empty());
  static_cast<void>(parsed.contract->requirements(text.substr(0, size / 2), "queued"));
  return 0;
}
