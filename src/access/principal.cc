// Names of authentication states, and the scope test.
#include "access/principal.h"

#include <algorithm>
#include <array>

namespace remit::access {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"missing", "invalid", "expired",
                                                    "authenticated"};

}  // namespace

std::string_view principal_state_name(PrincipalState state) {
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<PrincipalState> parse_principal_state(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<PrincipalState>(i);
  }
  return std::nullopt;
}

bool Principal::holds(std::string_view scope) const {
  return std::binary_search(scopes.begin(), scopes.end(), scope, std::less<>{});
}

}  // namespace remit::access
