// Ed25519 signatures (RFC 8032).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace remit {

using Ed25519PublicKey = std::array<std::byte, 32>;
using Ed25519Signature = std::array<std::byte, 64>;

/// A secret key. Immutable, thread-safe, cheap to copy (shared); its bytes are wiped with the last
/// copy.
class Ed25519Key {
 public:
  static constexpr std::size_t kSeedBytes = 32;

  /// The key of a seed of `kSeedBytes` (the "private key" of RFC 8032 section 5.1.5). Errors:
  /// `invalid_input` for another length.
  static Result<Ed25519Key> from_seed(std::span<const std::byte> seed);

  [[nodiscard]] const Ed25519PublicKey& public_key() const { return public_key_; }
  [[nodiscard]] Ed25519Signature sign(std::string_view message) const;

 private:
  struct Handle;
  Ed25519Key(std::shared_ptr<const Handle> handle, const Ed25519PublicKey& public_key)
      : handle_(std::move(handle)), public_key_(public_key) {}

  std::shared_ptr<const Handle> handle_;
  Ed25519PublicKey public_key_;
};

/// Whether `signature` over `message` is by the secret key of `key`. False as well for 32 bytes
/// that are no key.
bool ed25519_verifies(const Ed25519PublicKey& key, std::string_view message,
                      const Ed25519Signature& signature);

/// Overwrites what was secret; not optimised away.
void wipe(std::span<std::byte> secret);

}  // namespace remit
