// Who calls: the interface between a credential and a principal.
#pragma once

#include <optional>
#include <string>

#include "access/principal.h"
#include "access/proposed_call.h"
#include "base/clock.h"

namespace remit::identity {

/// What came of a credential. `principal` is there exactly when `state` is kAuthenticated.
struct Identity {
  access::PrincipalState state = access::PrincipalState::kInvalid;
  std::optional<access::Principal> principal = std::nullopt;
  std::string detail = {};  ///< for the operator's log only: why, without the credential
};

/// Turns a credential into an identity; asked anew on every call, so that a change counts on the
/// next one. A credential that is present and cannot be verified is never treated as absent.
/// Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  [[nodiscard]] virtual Identity authenticate(const access::Credential& credential,
                                              WallTime now) const = 0;
};

}  // namespace remit::identity
