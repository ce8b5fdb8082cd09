// The Merkle tree of RFC 6962 over the lines of one segment, grown a line at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace remit::evidence {

/// The root of the first `size()` lines, in memory that does not grow: of each perfect subtree only
/// the root is kept. A leaf is SHA-256(0x00 || line), a node SHA-256(0x01 || left || right), and
/// the root of no lines SHA-256 of nothing (RFC 6962 section 2.1). Not thread-safe; movable.
class MerkleTree {
 public:
  /// Adds `line`, without its `\n`. Costs two hashes on average.
  void add(std::string_view line);
  /// The root over all lines so far. Costs at most one hash per subtree, log2(size()).
  [[nodiscard]] Sha256Digest root() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Sha256 hash_;
  std::uint64_t size_ = 0;
  std::array<Sha256Digest, 64> subtrees_{};  ///< [k]: root over 2^k lines, where bit k of size_
};

}  // namespace remit::evidence
