// Tokens looked up.
#include "conformance/effect_owners.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace remit::conformance {

void EffectOwners::add(std::string token, std::size_t trial) {
  trials_.insert_or_assign(std::move(token), trial);
}

void EffectOwners::disregard(std::string_view token) {
  const auto found = trials_.find(token);
  if (found != trials_.end()) found->second.reset();
}

std::vector<Effect> EffectOwners::own(std::string_view token, std::vector<Effect> effects,
                                      std::size_t present, const Blame& blame) const {
  std::vector<Effect> out;
  for (Effect& effect : effects) {
    if (!token.empty() && effect.token == token) {
      out.push_back(std::move(effect));
      continue;
    }
    const auto found = trials_.find(effect.token);
    if (found == trials_.end()) {
      blame(present,
            {"unknown_token", "",
             fmt::format("the tool {} was reached with a token of no trial", quoted(effect.tool))});
    } else if (found->second) {
      blame(*found->second,
            {"late_effect", "",
             fmt::format("the tool {} was reached after its trial was over", quoted(effect.tool))});
    }
  }
  return out;
}

}  // namespace remit::conformance
