// The public keys of one issuer at one time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "identity/jws_key.h"

namespace remit::identity {

/// A JWK Set (RFC 7517 section 5), read whole. Immutable, thread-safe.
class KeySet {
 public:
  /// Reads a set. A key that cannot be used here is passed over (RFC 7517 section 5) and told in
  /// `unusable`; a set of which none can be used is one that verifies nothing. Errors, with `byte
  /// N` or `keys/N` as the place: `invalid_input` for what is no JWK Set, a key given twice, or two
  /// usable keys of one id and algorithm; `limit_exceeded` beyond kMaxKeySetBytes or
  /// kMaxKeysOfSet.
  static Result<KeySet> parse(std::string_view text);

  /// The key that a token with this `kid` and algorithm is signed by; null if there is none. A
  /// token without one (`id` empty) has the only key of its algorithm, and none where several are.
  /// The id is compared and nothing else is done with it (RFC 8725 section 3.10).
  [[nodiscard]] const JwsKey* find(std::string_view id, JwsAlgorithm algorithm) const;

  [[nodiscard]] const std::vector<JwsKey>& keys() const { return keys_; }
  /// Why each of the other keys is not used, by place.
  [[nodiscard]] const std::vector<Error>& unusable() const { return unusable_; }
  /// `sha256:…` of the set in canonical form.
  [[nodiscard]] const std::string& revision() const { return revision_; }

 private:
  std::vector<JwsKey> keys_;
  std::vector<Error> unusable_;
  std::string revision_;
};

}  // namespace remit::identity
