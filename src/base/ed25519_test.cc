// Ed25519 against the vectors of RFC 8032 section 7.1.
#include "base/ed25519.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace remit {
namespace {

struct Vector {
  std::string_view seed;
  std::string_view public_key;
  std::string_view message;
  std::string_view signature;
};

constexpr Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6594a7c15e9716ed28dc027beceea1ec40a"},
};

std::string text_of(std::string_view hex) {
  std::string out;
  const auto bytes = from_hex(hex).value();
  for (const std::byte byte : bytes) out += static_cast<char>(byte);
  return out;
}

TEST(Ed25519, SignsAndVerifiesAsTheStandardSays) {
  for (const Vector& vector : kVectors) {
    const auto key = Ed25519Key::from_seed(from_hex(vector.seed).value());
    ASSERT_TRUE(key);
    EXPECT_EQ(to_hex(key->public_key()), vector.public_key);
    const std::string message = text_of(vector.message);
    Ed25519Signature signature = key->sign(message);
    EXPECT_EQ(to_hex(signature), vector.signature);
    EXPECT_TRUE(ed25519_verifies(key->public_key(), message, signature));
    EXPECT_FALSE(ed25519_verifies(key->public_key(), message + "x", signature));
    signature[3] ^= std::byte{1};
    EXPECT_FALSE(ed25519_verifies(key->public_key(), message, signature));
  }
}

TEST(Ed25519, RefusesWhatIsNoKey) {
  EXPECT_FALSE(Ed25519Key::from_seed(bytes_of("too short")));
  Ed25519PublicKey nothing{};
  std::fill(nothing.begin(), nothing.end(), std::byte{0xff});
  EXPECT_FALSE(ed25519_verifies(nothing, "message", Ed25519Signature{}));
}

TEST(Ed25519, Wipes) {
  std::array<std::byte, 4> secret{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  wipe(secret);
  EXPECT_TRUE(std::all_of(secret.begin(), secret.end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
}

}  // namespace
}  // namespace remit
