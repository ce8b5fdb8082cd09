// SHA-256 and HMAC-SHA-256 against the vectors of FIPS 180 and RFC 4231.
#include "base/digest.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/bytes.h"

namespace remit {
namespace {

TEST(Sha256, KnownAnswers) {
  const struct {
    std::string text;
    const char* hex;
  } kCases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(to_hex(sha256(c.text)), c.hex);
    EXPECT_EQ(digest_text(sha256(c.text)), std::string("sha256:") + c.hex);
  }
}

TEST(Sha256, PiecesMakeTheWholeAndFinishStartsAfresh) {
  const std::string text(1000, 'x');
  Sha256 hash;
  for (const std::size_t cut : {0U, 1U, 63U, 64U, 65U, 999U, 1000U}) {
    hash.update(text.substr(0, cut)).update(text.substr(cut));
    EXPECT_EQ(hash.finish(), sha256(text)) << cut;
  }
  EXPECT_EQ(hash.finish(), sha256(""));
  Sha256 moved = std::move(hash.update("abc"));
  EXPECT_EQ(moved.finish(), sha256("abc"));
}

// RFC 4231 test cases 6, 7, 1, 2 and 3.
TEST(DigestKey, VectorsOfRfc4231) {
  const struct {
    std::string key;
    std::string text;
    const char* hex;
  } kCases[] = {
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The "
       "key needs to be hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
      // Zeros behind a short key change nothing (RFC 2104), which brings these up to 32 bytes.
      {std::string(20, '\x0b') + std::string(12, '\0'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe" + std::string(28, '\0'), "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa') + std::string(12, '\0'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
  };
  for (const auto& c : kCases) {
    const Result<DigestKey> key = DigestKey::from_bytes(bytes_of(c.key));
    ASSERT_TRUE(key);
    EXPECT_EQ(to_hex(key->hmac(c.text)), c.hex);
    EXPECT_EQ(key->digest(c.text), std::string("hmac-sha256:") + c.hex);
  }
}

TEST(DigestKey, RefusesShortKeys) {
  for (const std::size_t size : {0U, 1U, 16U, 31U}) {
    const Result<DigestKey> key = DigestKey::from_bytes(bytes_of(std::string(size, 'k')));
    ASSERT_FALSE(key) << size;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(key.error().to_string().find("kk"), std::string::npos);
  }
  EXPECT_TRUE(DigestKey::from_bytes(bytes_of(std::string(32, 'k'))));
  EXPECT_TRUE(DigestKey::from_bytes(bytes_of(std::string(64, 'k'))));
  EXPECT_TRUE(DigestKey::from_bytes(bytes_of(std::string(65, 'k'))));
}

TEST(DigestKey, OneKeyServesManyThreads) {
  const Result<DigestKey> key = DigestKey::from_bytes(bytes_of(std::string(32, 'k')));
  ASSERT_TRUE(key);
  const Sha256Digest want = key->hmac("text");
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([copy = *key, &count, &want] {
      for (int i = 0; i < 2000; ++i) count += copy.hmac("text") == want ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace remit
