// Proofs over the Merkle tree: which nodes they take, and what they show.
#include "evidence/merkle_proof.h"

#include <algorithm>
#include <bit>

#include "evidence/merkle.h"

namespace remit::evidence {
namespace {

/// Where a tree of `size` leaves splits: the largest power of two below the size, which is above 1.
std::uint64_t split_of(std::uint64_t size) {
  return std::bit_floor(size - 1);
}

bool is_odd(std::uint64_t number) {
  return (number & 1U) != 0;
}

/// Whether these leaves have a node of their own in every tree that reaches so far.
bool is_subtree(const LeafRange& part) {
  if (part.begin >= part.end) return false;
  const std::uint64_t size = part.end - part.begin;
  if (part.begin == 0) return true;
  // Beyond this the power of two itself would not fit, and nothing but 0 is a multiple of it.
  constexpr std::uint64_t kHighest = std::uint64_t{1} << 63U;
  return size <= kHighest && part.begin % std::bit_ceil(size) == 0;
}

/// Three places of one level that go up together: first and last of the part, last of the tree.
struct Climb {
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t end;
  void up() {
    first >>= 1U;
    last >>= 1U;
    end >>= 1U;
  }
};

}  // namespace

std::vector<LeafRange> inclusion_path(std::uint64_t index, std::uint64_t size) {
  std::vector<LeafRange> out;
  LeafRange here{0, size};
  while (here.end - here.begin > 1) {
    const std::uint64_t middle = here.begin + split_of(here.end - here.begin);
    const LeafRange left{here.begin, middle};
    const LeafRange right{middle, here.end};
    const bool is_left = index < middle;
    out.push_back(is_left ? right : left);
    here = is_left ? left : right;
  }
  std::reverse(out.begin(), out.end());  // From the leaf to the root.
  return out;
}

std::vector<LeafRange> consistency_path(std::uint64_t old_size, std::uint64_t size) {
  std::vector<LeafRange> out;
  LeafRange here{0, size};
  while (here.end != old_size) {
    const std::uint64_t middle = here.begin + split_of(here.end - here.begin);
    const LeafRange left{here.begin, middle};
    const LeafRange right{middle, here.end};
    const bool is_left = old_size <= middle;
    out.push_back(is_left ? right : left);
    here = is_left ? left : right;
  }
  // The old tree's own root is known to whoever asks.
  if (here.begin > 0) out.push_back(here);
  std::reverse(out.begin(), out.end());
  return out;
}

bool proves_inclusion(std::uint64_t index, const Sha256Digest& leaf, const LeafRange& tree,
                      const Sha256Digest& root, std::span<const Sha256Digest> proof) {
  if (!is_subtree(tree) || index < tree.begin || index >= tree.end) return false;
  std::uint64_t at = index - tree.begin;
  std::uint64_t last = tree.end - tree.begin - 1;
  Sha256Digest carried = leaf;
  for (const Sha256Digest& sibling : proof) {
    if (last == 0) return false;
    if (is_odd(at) || at == last) {
      carried = node_hash(sibling, carried);
      // The last of a level that has no sibling goes up as it is.
      while (!is_odd(at) && at != 0) {
        at >>= 1U;
        last >>= 1U;
      }
    } else {
      carried = node_hash(carried, sibling);
    }
    at >>= 1U;
    last >>= 1U;
  }
  return last == 0 && carried == root;
}

bool proves_subtree(const LeafRange& part, const Sha256Digest& part_root, std::uint64_t size,
                    const Sha256Digest& root, std::span<const Sha256Digest> proof) {
  if (part.end > size) return false;
  if (part.begin == part.end) return proof.empty() && part_root == MerkleTree{}.root();
  if (!is_subtree(part)) return false;
  Climb at{part.begin, part.end - 1, size - 1};
  // Up to the node that the proof begins with: the part's own, or the largest at its right edge.
  if (at.last == at.end) {
    while (at.first != at.last) at.up();
  } else {
    while (at.first != at.last && is_odd(at.last)) at.up();
  }
  Sha256Digest part_carried = part_root;
  if (at.first != at.last) {
    if (proof.empty()) return false;
    part_carried = proof.front();
    proof = proof.subspan(1);
  }
  Sha256Digest carried = part_carried;
  for (const Sha256Digest& sibling : proof) {
    if (at.end == 0) return false;
    if (is_odd(at.last) || at.last == at.end) {
      if (at.first < at.last) part_carried = node_hash(sibling, part_carried);
      carried = node_hash(sibling, carried);
      while (!is_odd(at.last) && at.last != 0) at.up();
    } else {
      carried = node_hash(carried, sibling);
    }
    at.up();
  }
  return at.end == 0 && part_carried == part_root && carried == root;
}

bool proves_consistency(std::uint64_t old_size, const Sha256Digest& old_root, std::uint64_t size,
                        const Sha256Digest& root, std::span<const Sha256Digest> proof) {
  return old_size > 0 && proves_subtree({0, old_size}, old_root, size, root, proof);
}

}  // namespace remit::evidence
