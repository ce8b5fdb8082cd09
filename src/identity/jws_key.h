// A public key that verifies signatures, and the one algorithm that it is good for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "json/value.h"

namespace remit::identity {

/// The signature algorithms of RFC 7518 section 3.1 and RFC 8037 section 3.1 that have a public
/// key. `none` and the symmetric ones (HS256 and so on) are not among them, so that a token that
/// names one finds no key.
enum class JwsAlgorithm : std::uint8_t {
  kRs256,
  kRs384,
  kRs512,
  kPs256,
  kPs384,
  kPs512,
  kEs256,
  kEs384,
  kEs512,
  kEdDsa,  ///< with Ed25519
};

/// `RS256` and so on, as headers and keys name it.
std::string_view jws_algorithm_name(JwsAlgorithm algorithm);
/// Nothing for any other name; case counts.
std::optional<JwsAlgorithm> parse_jws_algorithm(std::string_view name);

/// One public key of a JWK Set (RFC 7517), bound to one algorithm (RFC 8725 section 3.1).
/// Immutable, thread-safe, cheap to copy (shared).
class JwsKey {
 public:
  /// Reads a JWK. Its algorithm is what `alg` says; without one the curve's, and of an RSA key
  /// RS256. Errors: `unsupported` for a key of another kind, curve, algorithm or use, a symmetric
  /// one among them; `invalid_input` for one that is malformed, lies off its curve, is an RSA key
  /// of less than kLeastRsaBits or carries its private part; `limit_exceeded` for one of more than
  /// kMostRsaBits.
  static Result<JwsKey> from_jwk(const json::Object& jwk);

  /// `kid`; empty where the key has none.
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] JwsAlgorithm algorithm() const { return algorithm_; }

  /// Whether `signature`, in the form of RFC 7518 section 3 (for ECDSA R and S side by side), is
  /// this key's over `message`. False for anything malformed.
  [[nodiscard]] bool verifies(std::string_view message, std::span<const std::byte> signature) const;

 private:
  struct Key;
  JwsKey(std::string id, JwsAlgorithm algorithm, std::shared_ptr<const Key> key)
      : id_(std::move(id)), algorithm_(algorithm), key_(std::move(key)) {}
  std::string id_;
  JwsAlgorithm algorithm_;
  std::shared_ptr<const Key> key_;
};

}  // namespace remit::identity
