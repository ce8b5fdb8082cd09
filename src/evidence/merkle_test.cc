// The Merkle tree against known roots and against the definition.
#include "evidence/merkle.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace remit::evidence {
namespace {

std::string bytes_from(std::string_view hex) {
  const auto bytes = from_hex(hex).value();
  std::string out;
  for (const std::byte byte : bytes) out += static_cast<char>(byte);
  return out;
}

// The inputs and roots that implementations of RFC 6962 have tested against since its authors'.
TEST(MerkleTree, GivesTheKnownRoots) {
  const std::array inputs{"",
                          "00",
                          "10",
                          "2021",
                          "3031",
                          "40414243",
                          "5051525354555657",
                          "606162636465666768696a6b6c6d6e6f"};
  const std::array roots{"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                         "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                         "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                         "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                         "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                         "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                         "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                         "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  MerkleTree tree;
  EXPECT_EQ(to_hex(tree.root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tree.add(bytes_from(inputs.at(i)));
    EXPECT_EQ(tree.size(), i + 1);
    EXPECT_EQ(to_hex(tree.root()), roots.at(i)) << "after " << i + 1 << " leaves";
  }
}

/// RFC 6962 section 2.1 word for word: split at the largest power of two below the size.
Sha256Digest naive_root(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
  if (from == to) return sha256(std::string_view{});
  if (to - from == 1) return sha256(std::string(1, '\0') + lines[from]);
  const std::size_t split = from + std::bit_floor(to - from - 1);
  const Sha256Digest left = naive_root(lines, from, split);
  const Sha256Digest right = naive_root(lines, split, to);
  return Sha256{}.update("\x01").update(left).update(right).finish();
}

// REQ-EL-012.
TEST(MerkleTree, AgreesWithTheDefinitionAtEverySize) {
  MerkleTree tree;
  std::vector<std::string> lines;
  for (std::size_t size = 0; size < 200; ++size) {
    EXPECT_EQ(tree.root(), naive_root(lines, 0, size)) << size;
    lines.push_back("line " + std::to_string(size));
    tree.add(lines.back());
  }
}

}  // namespace
}  // namespace remit::evidence
