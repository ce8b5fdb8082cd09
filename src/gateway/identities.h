// Who may be behind a call: what a configuration says of principals.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "gateway/config.h"
#include "identity/authenticator.h"
#include "identity/jwt_authenticator.h"
#include "identity/key_source.h"
#include "identity/pinned_authenticator.h"
#include "identity/principal_directory.h"
#include "identity/revocations.h"

namespace remit::gateway {

/// The authenticators of a configuration: the pinned principal or whoever the token in the
/// environment says, and the directory of those whom deferred work may name. Neither copied nor
/// moved, since its parts refer to one another.
class Identities {
 public:
  /// Reads the token's variable once; the token itself is verified on each call. Where there is a
  /// token, keys behind a URL are fetched once before this returns, and from then on beside the
  /// calls. `files`, `clock` and `random` outlive the object. Errors, at the place in the
  /// configuration: a file of keys or revocations that cannot be used, a URL or certificates that
  /// cannot be used. That an issuer does not answer is none: calls are denied until it does.
  static Result<std::unique_ptr<Identities>> open(const Config& config, const DigestKey& key,
                                                  FileSystem& files, const Clock& clock,
                                                  Random& random);
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  [[nodiscard]] const identity::Authenticator& authenticator() const;
  /// What is wrong with the directory now; empty where there is none.
  [[nodiscard]] std::vector<Error> check() const {
    return directory_ == nullptr ? std::vector<Error>{} : directory_->check();
  }

 private:
  Identities(const Config& config, const DigestKey& key) : pinned_(config.pinned, key) {}
  Status open_tokens(const JwtSettings& settings, const DigestKey& key, FileSystem& files,
                     const Clock& clock, Random& random);

  const identity::PinnedAuthenticator pinned_;
  std::unique_ptr<const identity::KeySource> keys_;  // null where no token is verified
  std::unique_ptr<const identity::Revocations> revocations_;
  std::unique_ptr<const identity::JwtAuthenticator> tokens_;
  std::unique_ptr<const identity::PrincipalDirectory> directory_;
};

}  // namespace remit::gateway
