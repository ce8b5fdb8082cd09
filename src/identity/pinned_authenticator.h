// The principal of a local transport, pinned in the configuration.
#pragma once

#include <optional>

#include "access/principal.h"
#include "access/proposed_call.h"
#include "base/digest.h"
#include "identity/authenticator.h"

namespace remit::identity {

/// Who started the process is who calls: for standard input and output, where there is no other
/// credential. A local credential is the pinned principal, and so is a reference to its subject,
/// by which deferred work names it; without a pinned principal, or with no credential at all, the
/// identity is missing; another reference is invalid; a bearer token is invalid, since nothing here
/// can verify it, and is never treated as absent. For access, every state but kAuthenticated means
/// deny. Immutable, thread-safe.
class PinnedAuthenticator final : public Authenticator {
 public:
  /// The principal is told as `with_revision` makes it.
  PinnedAuthenticator(std::optional<access::Principal> principal, const DigestKey& key);

  [[nodiscard]] Identity authenticate(const access::Credential& credential,
                                      WallTime now) const override;

 private:
  std::optional<access::Principal> principal_;
};

}  // namespace remit::identity
