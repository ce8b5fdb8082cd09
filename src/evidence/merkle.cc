// The Merkle tree of RFC 6962, as its frontier.
#include "evidence/merkle.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/check.h"

namespace remit::evidence {

Sha256Digest node_hash(const Sha256Digest& left, const Sha256Digest& right) {
  std::array<std::byte, 1 + 2 * sizeof(Sha256Digest)> bytes{std::byte{0x01}};
  auto* const out = std::copy(left.begin(), left.end(), bytes.begin() + 1);
  std::copy(right.begin(), right.end(), out);
  return sha256(bytes);
}

Sha256Digest MerkleTree::add(std::string_view line) {
  constexpr std::array kLeaf{std::byte{0x00}};
  const Sha256Digest leaf = hash_.update(kLeaf).update(line).finish();
  add_subtree(0, leaf);
  return leaf;
}

void MerkleTree::add_subtree(std::size_t level, const Sha256Digest& root) {
  const std::uint64_t added = std::uint64_t{1} << level;
  REMIT_CHECK((size_ & (added - 1)) == 0);
  // Counting in binary: each full subtree that the new one completes joins it one level up.
  Sha256Digest carried = root;
  for (; (size_ >> level & 1U) != 0; ++level) carried = node_hash(subtrees_[level], carried);
  subtrees_[level] = carried;
  size_ += added;
}

std::vector<Sha256Digest> MerkleTree::subtrees() const {
  std::vector<Sha256Digest> out;
  for (std::uint64_t rest = size_; rest != 0;) {
    const auto level = static_cast<std::size_t>(std::bit_width(rest)) - 1;
    out.push_back(subtrees_[level]);
    rest ^= std::uint64_t{1} << level;
  }
  return out;
}

Sha256Digest MerkleTree::root() const {
  std::optional<Sha256Digest> root;
  for (std::uint64_t rest = size_; rest != 0; rest &= rest - 1) {
    const Sha256Digest& subtree = subtrees_[static_cast<std::size_t>(std::countr_zero(rest))];
    root = root ? node_hash(subtree, *root) : subtree;
  }
  return root ? *root : sha256(std::string_view{});
}

}  // namespace remit::evidence
