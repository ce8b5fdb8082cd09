// Closed lists of names, looked up by a perfect hash that the compiler finds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace remit::event {

static_assert(std::endian::native == std::endian::little, "names are compared as words of bytes");

/// Names of at most 24 bytes, as three zero-padded words.
using NameWords = std::array<std::uint64_t, 3>;
inline constexpr std::size_t kMaxNameBytes = sizeof(NameWords);

constexpr NameWords pack_name(std::string_view name) {
  NameWords words{};
  for (std::size_t i = 0; i < name.size(); ++i) {
    words[i / 8] |= std::uint64_t{static_cast<unsigned char>(name[i])} << (i % 8 * 8);
  }
  return words;
}

namespace detail {

constexpr std::array<NameWords, kMaxNameBytes + 1> make_name_masks() {
  std::array<NameWords, kMaxNameBytes + 1> masks{};
  for (std::size_t length = 0; length <= kMaxNameBytes; ++length) {
    for (std::size_t i = 0; i < length; ++i) {
      masks[length][i / 8] |= std::uint64_t{0xff} << (i % 8 * 8);
    }
  }
  return masks;
}
inline constexpr auto kNameMasks = make_name_masks();

}  // namespace detail

/// A closed list of at most 64 names. Immutable, and made by the compiler, which does not end on a
/// list that has a name twice.
template <std::size_t kCount>
class NameTable {
 public:
  static constexpr std::size_t kNone = 255;

  explicit constexpr NameTable(const std::array<std::string_view, kCount>& names) {
    std::array<NameWords, kCount> packed{};
    for (std::size_t i = 0; i < kCount; ++i) packed[i] = pack_name(names[i]);
    while (!keeps_apart(packed)) {
      multiplier_ = multiplier_ * 6364136223846793005U + 1442695040888963407U;
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      slots_[slot_of(packed[i])] = {packed[i], static_cast<std::uint32_t>(names[i].size()),
                                    static_cast<std::uint32_t>(i)};
    }
  }

  /// The index of the name of `length` bytes at `name`, or kNone. Reads kMaxNameBytes from `name`
  /// on, whatever the length.
  [[nodiscard]] std::size_t find_padded(const char* name, std::size_t length) const {
    if (length > kMaxNameBytes) return kNone;
    NameWords words;
    std::memcpy(words.data(), name, sizeof words);
    const NameWords& mask = detail::kNameMasks[length];
    for (std::size_t i = 0; i < words.size(); ++i) words[i] &= mask[i];
    const Slot& slot = slots_[slot_of(words)];
    const std::uint64_t difference = (words[0] ^ slot.words[0]) | (words[1] ^ slot.words[1]) |
                                     (words[2] ^ slot.words[2]) | (length ^ slot.length);
    return difference == 0 ? slot.index : kNone;
  }

  /// As `find_padded`, from any memory.
  [[nodiscard]] std::size_t find(std::string_view name) const {
    if (name.size() > kMaxNameBytes) return kNone;
    std::array<char, kMaxNameBytes> padded{};
    std::copy(name.begin(), name.end(), padded.begin());
    return find_padded(padded.data(), name.size());
  }

 private:
  static constexpr std::size_t kSlots = 256;
  struct Slot {
    NameWords words{};
    std::uint32_t length = 0xffff;  // of no name
    std::uint32_t index = kNone;
  };

  [[nodiscard]] constexpr std::size_t slot_of(const NameWords& words) const {
    // No two names of ours differ only behind their first 16 bytes.
    const std::uint64_t mixed = words[0] + words[1] * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>((mixed * multiplier_) >> 56U);
  }

  // Whether the multiplier gives each name a slot of its own.
  [[nodiscard]] constexpr bool keeps_apart(const std::array<NameWords, kCount>& packed) const {
    std::array<std::uint64_t, kSlots / 64> taken{};
    for (const NameWords& words : packed) {
      const std::size_t slot = slot_of(words);
      const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
      if ((taken[slot / 64] & bit) != 0) return false;
      taken[slot / 64] |= bit;
    }
    return true;
  }

  std::uint64_t multiplier_ = 0x2545f4914f6cdd1dU;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace remit::event
