// The pinned principal and its revision.
#include "identity/pinned_authenticator.h"

#include <utility>

#include "identity/facts_revision.h"

namespace remit::identity {
PinnedAuthenticator::PinnedAuthenticator(std::optional<access::Principal> principal,
                                         const DigestKey& key)
    : principal_(std::move(principal)) {
  if (principal_) principal_ = with_revision(*std::move(principal_), key);
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
