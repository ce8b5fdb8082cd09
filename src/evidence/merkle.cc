// The Merkle tree of RFC 6962, as its frontier.
#include "evidence/merkle.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace remit::evidence {
namespace {

Sha256Digest node_hash(const Sha256Digest& left, const Sha256Digest& right) {
  std::array<std::byte, 1 + 2 * sizeof(Sha256Digest)> bytes{std::byte{0x01}};
  auto* const out = std::copy(left.begin(), left.end(), bytes.begin() + 1);
  std::copy(right.begin(), right.end(), out);
  return sha256(bytes);
}

}  // namespace

void MerkleTree::add(std::string_view line) {
  constexpr std::array kLeaf{std::byte{0x00}};
  Sha256Digest carried = hash_.update(kLeaf).update(line).finish();
  // Counting in binary: each full subtree that the new leaf completes joins it one level up.
  std::size_t level = 0;
  for (; (size_ >> level & 1U) != 0; ++level) carried = node_hash(subtrees_[level], carried);
  subtrees_[level] = carried;
  ++size_;
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
