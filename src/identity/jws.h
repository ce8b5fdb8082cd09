// Signed tokens in their compact form, and what a signature over them proves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "identity/jws_key.h"
#include "identity/key_set.h"

namespace remit::identity {

/// A JWS in compact serialization (RFC 7515 section 7.1), read and not verified: nothing in it is
/// to be believed.
struct Jws {
  JwsAlgorithm algorithm = JwsAlgorithm::kRs256;
  std::string key_id;        ///< `kid`; empty where the header has none
  std::string type;          ///< `typ`; empty where the header has none
  std::string_view content;  ///< what the signature is over; a part of the text that was read
  std::string payload;       ///< bytes of any kind
  std::vector<std::byte> signature;
};

/// Reads a token of at most kMaxTokenBytes: three parts in canonical base64url without padding, the
/// header a JSON object that names an algorithm of JwsAlgorithm. Errors never show the token:
/// `limit_exceeded`; `unsupported` for another algorithm, and for a header that brings or points to
/// its own key (`jwk`, `jku`, `x5u`, `x5c`), is `crit`ical or changes what is signed (`b64`,
/// `zip`); `invalid_input` for anything else, a member given twice among it. Source: RFC 7515
/// sections 3, 4 and 5.2, RFC 8725 section 3.
Result<Jws> parse_jws(std::string_view token);

/// What came of holding a token to a set of keys.
enum class JwsVerdict : unsigned char { kForged, kNoSuchKey, kVerified };

/// Holds `jws` to the one key of `keys` that it must be signed by; `key` is that key, if there is
/// one. The text that `jws` was read from is still there.
struct JwsVerification {
  JwsVerdict verdict = JwsVerdict::kForged;
  const JwsKey* key = nullptr;
};
JwsVerification verify_jws(const Jws& jws, const KeySet& keys);

}  // namespace remit::identity
