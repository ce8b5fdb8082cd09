// The principal behind a bearer token.
//
//     identity::FileKeys keys(files, "/srv/desk/jwks.json");
//     identity::JwtAuthenticator who({.issuer = "https://id.example/", .audiences = {"desk"}},
//     keys,
//                                    nullptr, key, nobody);
#pragma once

#include <optional>
#include <string>

#include "access/proposed_call.h"
#include "base/digest.h"
#include "identity/authenticator.h"
#include "identity/key_source.h"
#include "identity/revocations.h"
#include "identity/token_claims.h"

namespace remit::identity {

/// Verifies a JWT (spec/identity.md) on each call: form, key, signature, type, issuer, audience and
/// claims, and only then its time and whether it was taken back. A token that fails before that is
/// invalid, one that fails there is expired, so that `expired` says that it was good once. Nothing
/// is fetched here; a key that is not known makes the source look for it. No other credential
/// becomes a token: it goes to `others`, but for a local one where a token stands for it. For
/// access, every state but kAuthenticated means deny. Thread-safe.
class JwtAuthenticator final : public Authenticator {
 public:
  /// `keys`, `revocations` (null: none) and `others` outlive the object. `local_token` is what a
  /// local credential presents, an empty one nothing; without it, local credentials go to `others`.
  JwtAuthenticator(TokenRules rules, const KeySource& keys, const Revocations* revocations,
                   DigestKey key, const Authenticator& others,
                   std::optional<std::string> local_token = std::nullopt);

  [[nodiscard]] Identity authenticate(const access::Credential& credential,
                                      WallTime now) const override;

 private:
  [[nodiscard]] Identity authenticate_token(std::string_view token, WallTime now) const;
  [[nodiscard]] Result<const JwsKey*> verified_by(const Jws& jws, const KeySet& keys) const;

  const TokenRules rules_;
  const KeySource& keys_;
  const Revocations* const revocations_;
  const DigestKey key_;
  const Authenticator& others_;
  const std::optional<std::string> local_token_;
};

}  // namespace remit::identity
