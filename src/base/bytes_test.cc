// Hexadecimal and base 64: RFC 4648's vectors, every byte, and what is refused.
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace remit {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// RFC 4648 section 10.
TEST(Base64, VectorsOfRfc4648) {
  const struct {
    const char* plain;
    const char* base64;
    const char* hex;
  } kCases[] = {
      {"", "", ""},
      {"f", "Zg==", "66"},
      {"fo", "Zm8=", "666f"},
      {"foo", "Zm9v", "666f6f"},
      {"foob", "Zm9vYg==", "666f6f62"},
      {"fooba", "Zm9vYmE=", "666f6f6261"},
      {"foobar", "Zm9vYmFy", "666f6f626172"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(to_base64(bytes_of(c.plain)), c.base64);
    EXPECT_EQ(to_hex(bytes_of(c.plain)), c.hex);
    ASSERT_TRUE(from_base64(c.base64)) << c.base64;
    EXPECT_EQ(text_of(*from_base64(c.base64)), c.plain);
    ASSERT_TRUE(from_hex(c.hex)) << c.hex;
    EXPECT_EQ(text_of(*from_hex(c.hex)), c.plain);
  }
}

TEST(Base64, RefusesAllButTheCanonicalForm) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=", "====", "Z===", "Zg==Zg==", "Zm9v\n",
        " Zm9v", "Zm-v", "Zm_v", "Zm9v=", "Zg=a", "Z=g=", "\xffm9v"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(Base64url, TakesTheCanonicalFormWithoutPadding) {
  const struct {
    const char* plain;
    const char* base64url;
  } kCases[] = {{"", ""},           {"f", "Zg"},         {"fo", "Zm8"},           {"foo", "Zm9v"},
                {"foob", "Zm9vYg"}, {"\xfb\xff", "-_8"}, {"\xff\xff\xff", "____"}};
  for (const auto& c : kCases) {
    ASSERT_TRUE(from_base64url(c.base64url)) << c.base64url;
    EXPECT_EQ(text_of(*from_base64url(c.base64url)), c.plain);
  }
  for (const char* text : {"Z", "Zg==", "Zg=", "Zh", "Zm9", "Zm9vY", "Zm9v\n", " Zm9v", "Zm+v",
                           "Zm/v", "Zm9v=", "=", "Z g", "\xffm9v", "Zm9v."}) {
    EXPECT_FALSE(from_base64url(text)) << text;
  }
}

TEST(Hex, TakesBothCasesAndNothingElse) {
  ASSERT_TRUE(from_hex("00fFAa"));
  EXPECT_EQ(to_hex(*from_hex("00fFAa")), "00ffaa");
  for (const char* text : {"0", "000", "0g", "g0", "0x", " 00", "00 ", "-1", "\xff\xff"}) {
    EXPECT_FALSE(from_hex(text)) << text;
  }
}

TEST(Bytes, RandomBytesSurvive) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string plain(size, '\0');
    for (char& c : plain) c = static_cast<char>(random());
    ASSERT_EQ(text_of(*from_base64(to_base64(bytes_of(plain)))), plain);
    ASSERT_EQ(text_of(*from_hex(to_hex(bytes_of(plain)))), plain);
  }
}

}  // namespace
}  // namespace remit
