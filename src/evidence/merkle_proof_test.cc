// Proofs over Merkle trees: against published vectors, against the trees themselves, and against
// every small lie.
#include "evidence/merkle_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "evidence/merkle.h"
#include "tests/support/shared_data.h"

namespace remit::evidence {
namespace {

namespace fs = std::filesystem;

/// The leaves "0", "1", ... as their hashes.
std::vector<Sha256Digest> some_leaves(std::uint64_t count) {
  std::vector<Sha256Digest> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(MerkleTree{}.add(std::to_string(i)));
  return out;
}

Sha256Digest root_of(const std::vector<Sha256Digest>& leaves, const LeafRange& range) {
  MerkleTree tree;
  for (std::uint64_t i = range.begin; i < range.end; ++i) {
    tree.add_subtree(0, leaves[static_cast<std::size_t>(i)]);
  }
  return tree.root();
}

std::vector<Sha256Digest> nodes_of(const std::vector<Sha256Digest>& leaves,
                                   const std::vector<LeafRange>& path) {
  std::vector<Sha256Digest> out;
  for (const LeafRange& range : path) out.push_back(root_of(leaves, range));
  return out;
}

// REQ-EL-060, REQ-EL-061. Each proof shows what it was made for and nothing else.
TEST(MerkleProof, EveryInclusionOfSmallTrees) {
  constexpr std::uint64_t kMost = 20;
  const std::vector<Sha256Digest> leaves = some_leaves(kMost);
  for (std::uint64_t size = 1; size <= kMost; ++size) {
    const Sha256Digest root = root_of(leaves, {0, size});
    for (std::uint64_t index = 0; index < size; ++index) {
      const auto proof = nodes_of(leaves, inclusion_path(index, size));
      for (std::uint64_t other = 0; other < kMost; ++other) {
        EXPECT_EQ(proves_inclusion(index, leaves[other], {0, size}, root, proof), other == index);
        EXPECT_EQ(proves_inclusion(other, leaves[index], {0, size}, root, proof), other == index);
      }
      auto changed = proof;
      for (Sha256Digest& node : changed) {
        node[7] ^= std::byte{1};
        EXPECT_FALSE(proves_inclusion(index, leaves[index], {0, size}, root, changed));
        node[7] ^= std::byte{1};
      }
      changed.push_back(leaves[0]);
      EXPECT_FALSE(proves_inclusion(index, leaves[index], {0, size}, root, changed));
      if (proof.empty()) continue;
      changed.resize(proof.size() - 1);
      EXPECT_FALSE(proves_inclusion(index, leaves[index], {0, size}, root, changed));
    }
  }
}

TEST(MerkleProof, EveryConsistencyOfSmallTrees) {
  constexpr std::uint64_t kMost = 20;
  const std::vector<Sha256Digest> leaves = some_leaves(kMost);
  for (std::uint64_t size = 1; size <= kMost; ++size) {
    const Sha256Digest root = root_of(leaves, {0, size});
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      const auto proof = nodes_of(leaves, consistency_path(old_size, size));
      for (std::uint64_t other = 0; other <= kMost; ++other) {
        const Sha256Digest old_root = root_of(leaves, {0, other});
        EXPECT_EQ(proves_consistency(old_size, old_root, size, root, proof), other == old_size)
            << old_size << " of " << size << ", and " << other;
      }
      auto changed = proof;
      for (Sha256Digest& node : changed) {
        node[7] ^= std::byte{1};
        EXPECT_FALSE(
            proves_consistency(old_size, root_of(leaves, {0, old_size}), size, root, changed));
        node[7] ^= std::byte{1};
      }
    }
  }
}

TEST(MerkleTree, IsMadeAgainOfItsSubtrees) {
  const std::vector<Sha256Digest> leaves = some_leaves(40);
  MerkleTree grown;
  for (const Sha256Digest& leaf : leaves) {
    grown.add_subtree(0, leaf);
    MerkleTree again;
    std::uint64_t rest = grown.size();
    for (const Sha256Digest& subtree : grown.subtrees()) {
      std::size_t level = 63;
      while ((rest >> level & 1U) == 0) --level;
      rest ^= std::uint64_t{1} << level;
      again.add_subtree(level, subtree);
    }
    EXPECT_EQ(again.root(), grown.root());
    EXPECT_EQ(again.size(), grown.size());
  }
}

// ---- The published vectors: flat JSON objects of numbers, base 64, and one list.

/// The text of a member's value, without its quotes; the test fails without it.
std::string_view member_of(std::string_view text, std::string_view name) {
  const std::string key = "\"" + std::string{name} + "\": ";
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) {
    ADD_FAILURE() << "no " << name << " in " << text;
    return {};
  }
  std::string_view rest = text.substr(at + key.size());
  if (rest.starts_with('"')) return rest.substr(1, rest.find('"', 1) - 1);
  if (rest.starts_with('[')) return rest.substr(0, rest.find(']') + 1);
  return rest.substr(0, rest.find_first_of(",\n"));
}

std::uint64_t number_of(std::string_view text, std::string_view name) {
  const std::string_view digits = member_of(text, name);
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  EXPECT_TRUE(error == std::errc{} && end == digits.data() + digits.size()) << text;
  return out;
}

/// Roots that are no digests stand in some vectors that are about sizes; equal ones stay equal.
Sha256Digest stand_in(std::string_view base64) {
  return sha256(base64);
}

/// Nothing where the bytes are no digest: who reads a proof refuses it there.
std::optional<Sha256Digest> digest_of(std::string_view base64) {
  const auto bytes = from_base64(base64);
  Sha256Digest out{};
  if (!bytes || bytes->size() != out.size()) return std::nullopt;
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return out;
}

std::optional<std::vector<Sha256Digest>> proof_of(std::string_view text) {
  std::string_view list = member_of(text, "proof");
  std::vector<Sha256Digest> out;
  for (std::size_t at = 0; (at = list.find('"')) != std::string_view::npos;) {
    list.remove_prefix(at + 1);
    const auto node = digest_of(list.substr(0, list.find('"')));
    if (!node) return std::nullopt;
    out.push_back(*node);
    list.remove_prefix(list.find('"') + 1);
  }
  return out;
}

bool is_inclusion_shown(std::string_view text, bool is_of_subtree) {
  const auto leaf = digest_of(member_of(text, "leafHash"));
  const auto root = digest_of(member_of(text, "root"));
  const auto proof = proof_of(text);
  LeafRange tree;
  if (is_of_subtree) tree.begin = number_of(text, "start");
  tree.end = number_of(text, is_of_subtree ? "end" : "treeSize");
  return leaf && root && proof &&
         proves_inclusion(number_of(text, "leafIdx"), *leaf, tree, *root, *proof);
}

bool is_consistency_shown(std::string_view text, bool is_of_subtree) {
  const auto root_named = [&](std::string_view name) {
    const std::string_view base64 = member_of(text, name);
    return digest_of(base64).value_or(stand_in(base64));
  };
  const auto proof = proof_of(text);
  if (!proof) return false;
  if (!is_of_subtree) {
    return proves_consistency(number_of(text, "size1"), root_named("root1"),
                              number_of(text, "size2"), root_named("root2"), *proof);
  }
  return proves_subtree({number_of(text, "start"), number_of(text, "end")}, root_named("root1"),
                        number_of(text, "size"), root_named("root2"), *proof);
}

// REQ-EL-061.
TEST(MerkleProof, JudgesThePublishedVectors) {
  const auto shared = testing::shared_data();
  if (!shared) return;
  struct Row {
    const char* folder;
    int files;
    int good;
    bool is_inclusion;
    bool is_of_subtree;
  };
  int judged = 0;
  for (const Row& row :
       {Row{"inclusion", 98, 6, true, false}, Row{"consistency", 98, 6, false, false},
        Row{"subtreeinclusion", 204, 12, true, true},
        Row{"subtreeconsistency", 118, 12, false, true}}) {
    int files = 0;
    int good = 0;
    const fs::path folder = *shared / "merkle-proofs" / "testdata" / row.folder;
    ASSERT_TRUE(fs::is_directory(folder)) << folder;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      const std::string text = testing::needed_file(entry.path());
      const bool is_good = member_of(text, "wantErr") == "false";
      const bool is_shown = row.is_inclusion ? is_inclusion_shown(text, row.is_of_subtree)
                                             : is_consistency_shown(text, row.is_of_subtree);
      EXPECT_EQ(is_shown, is_good) << entry.path();
      good += is_good ? 1 : 0;
      ++files;
    }
    EXPECT_EQ(files, row.files) << row.folder;
    EXPECT_EQ(good, row.good) << row.folder;
    std::printf("merkle-proofs: judged %d of %s, %d good\n", files, row.folder, good);
    judged += files;
  }
  std::printf("merkle-proofs: judged %d in all\n", judged);
}

}  // namespace
}  // namespace remit::evidence
