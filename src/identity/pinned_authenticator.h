// The principal of a local transport, pinned in the configuration.
#pragma once

#include <optional>

#include "access/principal.h"
#include "access/proposed_call.h"
#include "identity/authenticator.h"

namespace remit::identity {

/// Who started the process is who calls: for standard input and output, where there is no other
/// credential. A local credential is the pinned principal; without a pinned principal, or with no
/// credential at all, the identity is missing; a bearer token is invalid, since nothing here can
/// verify it, and is never treated as absent. For access, every state but kAuthenticated means
/// deny. Immutable, thread-safe.
class PinnedAuthenticator final : public Authenticator {
 public:
  /// Scopes are sorted and repeats dropped. The revision is the SHA-256 of tenant, class and scopes
  /// in canonical form; it leaves out who the subject is, because it goes into evidence as it is
  /// and a short subject could be guessed from it.
  explicit PinnedAuthenticator(std::optional<access::Principal> principal);

  [[nodiscard]] Identity authenticate(const access::Credential& credential,
                                      WallTime now) const override;

 private:
  std::optional<access::Principal> principal_;
};

}  // namespace remit::identity
