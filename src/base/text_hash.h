// A seeded 64-bit hash of short texts and event lines, by multiplication and folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace remit {

/// Depends on every byte and on the length. Whoever does not know the seed cannot choose texts that
/// collide; the seed comes from the program's Random.
inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kFirst = 0xa0761d6478bd642fU;
  constexpr std::uint64_t kSecond = 0xe7037ed1a0b428dbU;
  constexpr std::uint64_t kThird = 0x8ebc6af09c88c6e3U;
  constexpr std::uint64_t kFourth = 0x589965cc75374cc3U;
  const auto fold = [](std::uint64_t left, std::uint64_t right) {
    const Wide product = static_cast<Wide>(left) * right;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  };
  const auto word = [](const char* from, std::size_t size) {
    std::uint64_t out = 0;
    std::memcpy(&out, from, size);
    return out;
  };
  const char* from = text.data();
  std::size_t left = text.size();
  std::uint64_t one = seed ^ kFirst;
  std::uint64_t two = seed ^ kThird;
  if (left > 128) {  // four chains keep the multiplier busy
    std::uint64_t three = one;
    std::uint64_t four = two;
    for (; left > 64; left -= 64, from += 64) {
      one = fold(word(from, 8) ^ kSecond, word(from + 8, 8) ^ one);
      two = fold(word(from + 16, 8) ^ kThird, word(from + 24, 8) ^ two);
      three = fold(word(from + 32, 8) ^ kFirst, word(from + 40, 8) ^ three);
      four = fold(word(from + 48, 8) ^ kFourth, word(from + 56, 8) ^ four);
    }
    one ^= three;
    two ^= four;
  }
  for (; left > 32; left -= 32, from += 32) {
    one = fold(word(from, 8) ^ kSecond, word(from + 8, 8) ^ one);
    two = fold(word(from + 16, 8) ^ kThird, word(from + 24, 8) ^ two);
  }
  if (left >= 16) {
    one = fold(word(from, 8) ^ kSecond, word(from + 8, 8) ^ one);
    two = fold(word(from + left - 16, 8) ^ kThird, word(from + left - 8, 8) ^ two);
  } else if (left >= 8) {
    one = fold(word(from, 8) ^ kSecond, word(from + left - 8, 8) ^ one);
  } else if (left > 0) {
    one = fold(word(from, left) ^ kSecond, one);
  }
  return fold(one ^ kSecond ^ text.size(), two ^ kFirst);
}

}  // namespace remit
