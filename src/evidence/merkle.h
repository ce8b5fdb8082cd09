// The Merkle tree of RFC 6962 over lines, grown a line at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace remit::evidence {

/// SHA-256(0x01 || left || right): a node over its two children.
Sha256Digest node_hash(const Sha256Digest& left, const Sha256Digest& right);

/// The root of the first `size()` lines, in memory that does not grow: of each perfect subtree only
/// the root is kept. A leaf is SHA-256(0x00 || line), a node SHA-256(0x01 || left || right), and
/// the root of no lines SHA-256 of nothing (RFC 6962 section 2.1). Not thread-safe; movable.
class MerkleTree {
 public:
  /// Adds `line`, without its `\n`, and returns its leaf. Costs two hashes on average.
  Sha256Digest add(std::string_view line);
  /// Adds what stands for 2^`level` lines: a leaf where it is 0. `size()` is a multiple of their
  /// number.
  void add_subtree(std::size_t level, const Sha256Digest& root);
  /// The roots of the perfect subtrees that all lines so far fall into, from the left: one for each
  /// bit of `size()`, the highest first. Added to an empty tree in this order they make it again.
  [[nodiscard]] std::vector<Sha256Digest> subtrees() const;
  /// The root over all lines so far. Costs at most one hash per subtree, log2(size()).
  [[nodiscard]] Sha256Digest root() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Sha256 hash_;
  std::uint64_t size_ = 0;
  std::array<Sha256Digest, 64> subtrees_{};  ///< [k]: root over 2^k lines, where bit k of size_
};

}  // namespace remit::evidence
