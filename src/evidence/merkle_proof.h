// Proofs over the Merkle tree of RFC 6962: that a leaf is in a tree, and that a tree grew from an
// older one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/digest.h"

namespace remit::evidence {

/// The leaves `begin` to `end` - 1 of a tree.
struct LeafRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const LeafRange&, const LeafRange&) = default;
};

/// The nodes of a proof are at most as many as a tree of 2^64 leaves is high.
inline constexpr std::size_t kMaxProofNodes = 64;

/// Which nodes prove that leaf `index` is in the tree of `size` leaves, as what each is the root
/// of, in the order of RFC 6962 section 2.1.1. `index` < `size`.
std::vector<LeafRange> inclusion_path(std::uint64_t index, std::uint64_t size);

/// Which nodes prove that the tree of `size` leaves begins with the one of `old_size`, likewise
/// (section 2.1.2). 0 < `old_size` <= `size`.
std::vector<LeafRange> consistency_path(std::uint64_t old_size, std::uint64_t size);

/// Whether `proof` shows that leaf `index` of a tree is `leaf`, where `root` stands for the leaves
/// of `tree`: the whole tree, which begins at 0, or a subtree, which begins at a multiple of a
/// power of two that it does not exceed (RFC 9162 section 2.1.3.2). Takes anything.
bool proves_inclusion(std::uint64_t index, const Sha256Digest& leaf, const LeafRange& tree,
                      const Sha256Digest& root, std::span<const Sha256Digest> proof);

/// Whether `proof` shows that `part_root` stands for the leaves `part`, a subtree as above, of the
/// tree of `size` leaves that `root` stands for. No leaves are part of every tree. Takes anything.
bool proves_subtree(const LeafRange& part, const Sha256Digest& part_root, std::uint64_t size,
                    const Sha256Digest& root, std::span<const Sha256Digest> proof);

/// Whether `proof` shows that the tree of `size` leaves with `root` begins with the one of
/// `old_size` with `old_root` (RFC 9162 section 2.1.4.2). Of a tree without leaves nothing can be
/// shown: false where `old_size` is 0.
bool proves_consistency(std::uint64_t old_size, const Sha256Digest& old_root, std::uint64_t size,
                        const Sha256Digest& root, std::span<const Sha256Digest> proof);

}  // namespace remit::evidence
