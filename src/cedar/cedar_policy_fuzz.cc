// Fuzz target: any policy text is an engine whose policies all have ids, or problems with places.
// The input is policies; where it has a byte 0, what stands before it is the schema.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "cedar/engine.h"

namespace {

constexpr std::string_view kSchema = R"(
entity Principal { tenant: String, scopes: Set<String> };
entity Invoice { tenant?: String, amount: Long };
action "read" appliesTo { principal: [Principal], resource: [Invoice],
                          context: { now: datetime, arguments: { limit?: Long } } };
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = input.find('\0');
  const bool split = zero != std::string_view::npos;
  const remit::policy::PolicySource schema{"schema.cedarschema",
                                           std::string(split ? input.substr(0, zero) : kSchema)};
  const remit::policy::PolicySource policies{"policies/fuzz.cedar",
                                             std::string(split ? input.substr(zero + 1) : input)};
  const remit::cedar::EngineOutcome outcome = remit::cedar::load_engine({policies}, schema);
  REMIT_CHECK((outcome.engine == nullptr) == !outcome.problems.empty());
  for (const remit::Error& problem : outcome.problems) {
    REMIT_CHECK(!problem.message.empty());
    // Text that is not UTF-8 never reaches this far in the product: the bundle's loader refuses it.
    const bool utf8 =
        !remit::first_invalid_utf8(policies.text) && !remit::first_invalid_utf8(schema.text);
    if (utf8) REMIT_CHECK(problem.code != remit::ErrorCode::kInternal);
  }
  if (outcome.engine != nullptr) {
    for (const remit::cedar::PolicyFacts& policy : outcome.engine->policies()) {
      REMIT_CHECK(!policy.id.empty());
    }
  }
  return 0;
}
