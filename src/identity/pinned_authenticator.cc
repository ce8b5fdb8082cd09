// The pinned principal and its revision.
#include "identity/pinned_authenticator.h"

#include <algorithm>
#include <utility>

#include "json/value.h"

namespace remit::identity {
namespace {

std::string revision_of(const access::Principal& principal, const DigestKey& key) {
  json::Array scopes(principal.scopes.begin(), principal.scopes.end());
  json::Object facts{
      {"class", principal.class_name}, {"scopes", std::move(scopes)}, {"tenant", principal.tenant}};
  if (!principal.on_behalf_of.empty()) {
    facts.set("on_behalf_of", key.digest(principal.on_behalf_of));
  }
  return digest_text(sha256(json::canonical(json::Value{std::move(facts)})));
}

}  // namespace

PinnedAuthenticator::PinnedAuthenticator(std::optional<access::Principal> principal,
                                         const DigestKey& key)
    : principal_(std::move(principal)) {
  if (!principal_) return;
  std::vector<std::string>& scopes = principal_->scopes;
  std::sort(scopes.begin(), scopes.end());
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  if (principal_->revision.empty()) principal_->revision = revision_of(*principal_, key);
}

Identity PinnedAuthenticator::authenticate(const access::Credential& credential,
                                           WallTime /*now*/) const {
  using access::PrincipalState;
  switch (credential.kind()) {
    case access::Credential::Kind::kNone:
      return {.state = PrincipalState::kMissing, .detail = "no credential was presented"};
    case access::Credential::Kind::kBearer:
      return {.state = PrincipalState::kInvalid,
              .detail = "a bearer token was presented, and no issuer is configured"};
    case access::Credential::Kind::kReference:
      if (!principal_ || credential.name() != principal_->subject) {
        return {.state = PrincipalState::kInvalid,
                .detail = "the reference names no principal of the configuration"};
      }
      return {.state = PrincipalState::kAuthenticated, .principal = principal_};
    case access::Credential::Kind::kLocal:
      if (!principal_) {
        return {.state = PrincipalState::kMissing, .detail = "no principal is pinned"};
      }
      return {.state = PrincipalState::kAuthenticated, .principal = principal_};
  }
  return {};
}

}  // namespace remit::identity
