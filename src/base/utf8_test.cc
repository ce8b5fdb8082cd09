// UTF-8 against the definition: every one- to four-byte sequence at the edges of table 3-7.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace remit {
namespace {

// The definition read backwards: decode by shifting, then refuse overlong forms, surrogates and
// what lies beyond U+10FFFF.
std::size_t length_by_definition(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf8   ? 0
                             : first >= 0xf0 ? 4
                             : first >= 0xe0 ? 3
                             : first >= 0xc0 ? 2
                                             : 0;
  if (length == 0) return 0;
  unsigned code_point = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code_point = code_point << 6U | (byte(i) & 0x3fU);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kLeast[length] || code_point > 0x10ffff) return 0;
  return code_point >= 0xd800 && code_point <= 0xdfff ? 0 : length;
}

TEST(Utf8, EveryPairOfBytes) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_EQ(utf8_sequence_length(text), length_by_definition(text)) << first << ' ' << second;
    }
  }
}

// The bytes at which some rule begins or ends, in every combination of four.
TEST(Utf8, EveryCombinationOfEdges) {
  constexpr unsigned kEdges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
  for (const unsigned a : kEdges) {
    for (const unsigned b : kEdges) {
      for (const unsigned c : kEdges) {
        for (const unsigned d : kEdges) {
          const std::string text = {static_cast<char>(a), static_cast<char>(b),
                                    static_cast<char>(c), static_cast<char>(d)};
          for (std::size_t length = 1; length <= 4; ++length) {
            const std::string_view part = std::string_view(text).substr(0, length);
            ASSERT_EQ(utf8_sequence_length(part), length_by_definition(part))
                << std::hex << a << ' ' << b << ' ' << c << ' ' << d << " of " << length;
          }
        }
      }
    }
  }
}

TEST(Utf8, EveryCodePointIsWellFormedOnceEncoded) {
  for (unsigned code_point = 0; code_point <= 0x10ffff; ++code_point) {
    if (code_point >= 0xd800 && code_point <= 0xdfff) continue;
    std::string text;
    const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
    if (code_point < 0x80) {
      put(code_point);
    } else if (code_point < 0x800) {
      put(0xc0U | code_point >> 6U);
      put(0x80U | (code_point & 63U));
    } else if (code_point < 0x10000) {
      put(0xe0U | code_point >> 12U);
      put(0x80U | (code_point >> 6U & 63U));
      put(0x80U | (code_point & 63U));
    } else {
      put(0xf0U | code_point >> 18U);
      put(0x80U | (code_point >> 12U & 63U));
      put(0x80U | (code_point >> 6U & 63U));
      put(0x80U | (code_point & 63U));
    }
    ASSERT_EQ(utf8_sequence_length(text), text.size()) << std::hex << code_point;
  }
}

TEST(Utf8, FindsTheFirstFaultWhereverItStands) {
  const std::string good = "plain text, \xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e, and more of it\0x";
  EXPECT_EQ(first_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(first_invalid_utf8(good), std::nullopt);
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string start(length, 'a');
    EXPECT_EQ(first_invalid_utf8(start + "\xff" + good), length);
    EXPECT_EQ(first_invalid_utf8(start + good + "\x80"), length + good.size());
    EXPECT_EQ(first_invalid_utf8(start + "\xe2\x82"), length);
    EXPECT_EQ(first_invalid_utf8(start + "\xe2\x82\xac"), std::nullopt);
  }
}

TEST(Utf8, RandomBytesAreJudgedAsByTheDefinition) {
  std::mt19937 random(3629);
  for (int round = 0; round < 50'000; ++round) {
    std::string text(random() % 24, 'a');
    for (char& c : text) {
      if (random() % 3 == 0) c = static_cast<char>(random());
    }
    std::optional<std::size_t> want;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = length_by_definition(std::string_view(text).substr(at));
      if (length == 0) {
        want = at;
        break;
      }
      at += length;
    }
    ASSERT_EQ(first_invalid_utf8(text), want);
  }
}

}  // namespace
}  // namespace remit
