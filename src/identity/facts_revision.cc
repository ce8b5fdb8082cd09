// A digest of facts.
#include "identity/facts_revision.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/value.h"

namespace remit::identity {

std::string facts_revision(const access::Principal& principal, const DigestKey& key) {
  json::Array scopes(principal.scopes.begin(), principal.scopes.end());
  json::Object facts{
      {"class", principal.class_name}, {"scopes", std::move(scopes)}, {"tenant", principal.tenant}};
  if (!principal.on_behalf_of.empty()) {
    facts.set("on_behalf_of", key.digest(principal.on_behalf_of));
  }
  return digest_text(sha256(json::canonical(json::Value{std::move(facts)})));
}

access::Principal with_revision(access::Principal principal, const DigestKey& key) {
  std::vector<std::string>& scopes = principal.scopes;
  std::sort(scopes.begin(), scopes.end());
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  if (principal.revision.empty()) principal.revision = facts_revision(principal, key);
  return principal;
}

}  // namespace remit::identity
