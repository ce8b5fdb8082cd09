// The canonical form against what others make of the same values: RFC 8785's published numbers, a
// second way to the shortest digits, UTF-16 as such, and every character.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/utf8.h"
#include "json/value.h"
#include "tests/support/nightly.h"
#include "tests/support/shared_data.h"

namespace remit::json {
namespace {

// The numbers of the vector that RFC 8785 appendix B refers to. It has 100 million lines, and all
// but the first few hundred numbers come from a hash, so that it can be made anywhere.
class PublishedNumbers {
 public:
  explicit PublishedNumbers(const Value& data) {
    for (const Value& text : *data.find("first")->if_array()) {
      const std::string& hex = *text.if_string();
      std::uint64_t bits = 0;
      std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
      first_.push_back(bits);
    }
    constexpr std::uint64_t kSmallestNormal = 0x0010000000000000;
    for (std::uint64_t i = 0; i < 2'000; ++i) first_.push_back(kSmallestNormal + i);
  }

  std::uint64_t next() {
    if (at_ < first_.size()) return first_[at_++];
    while (true) {
      if (in_block_ == 4) {
        block_ = sha256(block_);
        in_block_ = 0;
      }
      std::uint64_t bits = 0;  // little endian, as the vector's own program reads it
      for (std::size_t i = 8; i-- > 0;) {
        bits = bits << 8U | std::to_integer<std::uint64_t>(block_[in_block_ * 8 + i]);
      }
      ++in_block_;
      const auto value = std::bit_cast<double>(bits);
      if (value != 0 && std::isfinite(value)) return bits;
    }
  }

 private:
  std::vector<std::uint64_t> first_;
  std::size_t at_ = 0;
  Sha256Digest block_ = {};
  std::size_t in_block_ = 4;
};

// 100,000 lines; ten million in the nightly form, and as many as REMIT_ES6_LINES says (a power of
// ten up to 100,000,000).
TEST(Canonical, NumbersOfThePublishedVector) {
  const Result<Value> data =
      parse(testing::needed_file(testing::source_tree() / "tests/suites/es6_numbers.json"));
  ASSERT_TRUE(data) << data.error().to_string();
  const char* const asked = std::getenv("REMIT_ES6_LINES");
  const std::string lines =
      asked != nullptr ? asked : (testing::is_nightly() ? "10000000" : "100000");
  const Value* const want = data->find("sha256_of_lines")->find(lines);
  ASSERT_NE(want, nullptr) << lines;

  PublishedNumbers numbers(*data);
  Sha256 hash;
  std::array<char, 16> hex{};
  const std::uint64_t count = std::strtoull(lines.c_str(), nullptr, 10);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = numbers.next();
    const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    std::string line(hex.data(), end.ptr);
    line += ',';
    line += canonical(Value(std::bit_cast<double>(bits)));
    line += '\n';
    hash.update(line);
  }
  EXPECT_EQ(digest_text(hash.finish()), "sha256:" + *want->if_string());
  std::printf("es6testfile100m: judged %s of 100000000 lines\n", lines.c_str());
}

/// Digits and a power of ten: 0.DIGITS times 10 to the `point`.
struct Decimal {
  std::string digits;
  int point = 0;

  [[nodiscard]] double value() const {
    return std::strtod(("0." + digits + "e" + std::to_string(point)).c_str(), nullptr);
  }
  /// One unit of the last digit more or less.
  [[nodiscard]] Decimal next(int step) const {
    const auto number = static_cast<std::uint64_t>(std::stoull(digits));
    const std::string text = std::to_string(step > 0 ? number + 1 : number - 1);
    const int grown = static_cast<int>(text.size()) - static_cast<int>(digits.size());
    return {text, point + grown};
  }
};

// The shortest digits that read back, by trying: for each length the digits nearest to the value,
// then their neighbours, since next to a power of two the nearest may lie outside while one on the
// wider side lies within.
Decimal shortest(double value) {
  for (int length = 1; length <= 17; ++length) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.*e", length - 1, value);
    char* const mark = std::strchr(text.data(), 'e');
    Decimal nearest{.digits = std::string(text.data(), mark), .point = std::atoi(mark + 1) + 1};
    std::erase(nearest.digits, '.');
    for (const Decimal& tried : {nearest, nearest.next(1), nearest.next(-1)}) {
      if (tried.value() == value) return tried;
    }
  }
  ADD_FAILURE() << "17 digits do not give back " << value;
  return {};
}

// ECMA-262's Number::toString, from its four rules.
std::string ecmascript(double value) {
  if (value == 0) return "0";
  if (value < 0) return "-" + ecmascript(-value);
  Decimal decimal = shortest(value);
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  const std::string& digits = decimal.digits;
  const int point = decimal.point;
  const int count = static_cast<int>(digits.size());
  const auto zeros = [](int how_many) {
    return std::string(static_cast<std::size_t>(how_many), '0');
  };
  if (point > 21 || point < -5) {
    const std::string rest = count > 1 ? "." + digits.substr(1) : "";
    return digits.substr(0, 1) + rest + (point > 0 ? "e+" : "e-") +
           std::to_string(std::abs(point - 1));
  }
  if (point <= 0) return "0." + zeros(-point) + digits;
  if (point >= count) return digits + zeros(point - count);
  return digits.substr(0, static_cast<std::size_t>(point)) + "." +
         digits.substr(static_cast<std::size_t>(point));
}

TEST(Canonical, NumbersAsASecondWayMakesThem) {
  std::mt19937_64 random(8785);
  std::vector<double> values;
  const int count = testing::is_nightly() ? 200'000 : 20'000;
  for (int i = 0; i < count; ++i) {
    values.push_back(std::bit_cast<double>(random()));                         // any bits
    values.push_back(static_cast<double>(random() >> (random() % 64)));        // integers
    values.push_back(static_cast<double>(random() % 100'000'000) / 10'000.0);  // amounts
  }
  for (int exponent = -1074; exponent < 1024; ++exponent) {  // where intervals are uneven
    const double power = std::ldexp(1.0, exponent);
    values.insert(values.end(), {power, std::nextafter(power, 0), std::nextafter(power, 1e308)});
  }
  for (int exponent = -323; exponent <= 308; ++exponent) {
    const double power = std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr);
    values.insert(values.end(), {power, std::nextafter(power, 0), std::nextafter(power, 1e308)});
  }
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(canonical(Value(value)), ecmascript(value)) << std::bit_cast<std::uint64_t>(value);
  }
}

std::u16string utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence_length(text.substr(at));
    auto point = static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
    if (length > 1) {
      point &= 0xffU >> (length + 1);
      for (std::size_t i = 1; i < length; ++i) {
        point = point << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
      }
    }
    if (point < 0x10000) {
      out += static_cast<char16_t>(point);
    } else {
      out += static_cast<char16_t>(0xd800 + ((point - 0x10000) >> 10U));
      out += static_cast<char16_t>(0xdc00 + ((point - 0x10000) & 0x3ffU));
    }
    at += length;
  }
  return out;
}

// Keys of characters from both sides of every border: of lengths in UTF-8, of surrogates.
TEST(Canonical, KeysInTheOrderThatUtf16Has) {
  constexpr std::array<std::uint32_t, 16> kPoints = {
      0x0,   0x1f,   0x22,   0x5c,   0x61,   0x7f,    0x80,    0x7ff,
      0x800, 0xd7ff, 0xe000, 0xfb33, 0xffff, 0x10000, 0x1f600, 0x10ffff};
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::map<std::u16string, std::string> want;
    Object object;
    for (int i = 0; i < 24; ++i) {
      std::string key;
      for (std::size_t length = random() % 5; length > 0; --length) {
        append_utf8(kPoints[random() % kPoints.size()], key);
      }
      want[utf16(key)] = key;
      object.set(key, 0);
    }
    std::string text;
    for (const auto& [order, key] : want) {
      text += text.empty() ? "{" : ",";
      write_string(key, text);
      text += ":0";
    }
    ASSERT_EQ(canonical(object), text + "}");
  }
}

// RFC 8785 section 3.2.2.2: short escapes where JSON has them, `\u00xx` for the rest of the
// controls, quote and backslash, and every other character as it is.
TEST(Canonical, EveryCharacter) {
  const std::map<std::uint32_t, std::string> named = {{0x08, "\\b"}, {0x09, "\\t"}, {0x0a, "\\n"},
                                                      {0x0c, "\\f"}, {0x0d, "\\r"}, {0x22, "\\\""},
                                                      {0x5c, "\\\\"}};
  std::array<char, 8> escape{};
  constexpr std::uint32_t kBlock = 0x400;
  for (std::uint32_t first = 0; first <= 0x10ffff; first += kBlock) {
    if (first >= 0xd800 && first < 0xe000) continue;  // surrogates are no characters
    std::string text;
    std::string want = "\"";
    for (std::uint32_t point = first; point < first + kBlock; ++point) {
      const std::size_t start = text.size();
      append_utf8(point, text);
      if (const auto found = named.find(point); found != named.end()) {
        want += found->second;
      } else if (point < 0x20) {
        std::snprintf(escape.data(), escape.size(), "\\u%04x", point);
        want += escape.data();
      } else {
        want.append(text, start);
      }
    }
    const std::string written = canonical(Value(text));
    ASSERT_EQ(written, want + "\"") << "from " << first;
    const Result<Value> back = parse(written);
    ASSERT_TRUE(back && *back == Value(text)) << "from " << first;
  }
}

}  // namespace
}  // namespace remit::json
