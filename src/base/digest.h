// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), and the text form digests have in events.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remit {

using Sha256Digest = std::array<std::byte, 32>;

/// SHA-256 of `bytes`.
Sha256Digest sha256(std::span<const std::byte> bytes);
Sha256Digest sha256(std::string_view text);

/// SHA-256 in pieces. Not thread-safe; movable.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  /// The digest of everything so far; the object then starts afresh.
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `sha256:<64 hex>`: digests of policies, manifests and files.
std::string digest_text(const Sha256Digest& digest);

/// A deployment's digest key: events carry HMACs under it, because short values (an amount, an
/// account number) could be guessed from a plain hash. Immutable, thread-safe, cheap to copy
/// (shared).
class DigestKey {
 public:
  /// `key` must have 32 bytes or more: `invalid_input` otherwise.
  static Result<DigestKey> from_bytes(std::span<const std::byte> key);

  [[nodiscard]] Sha256Digest hmac(std::string_view text) const;
  /// `hmac-sha256:<64 hex>` of `text`.
  [[nodiscard]] std::string digest(std::string_view text) const;

 private:
  struct Pads;
  explicit DigestKey(std::shared_ptr<const Pads> pads) : pads_(std::move(pads)) {}
  std::shared_ptr<const Pads> pads_;
};

}  // namespace remit
