// Which member comes next: a writer writes the events of one kind with their members in one order.
//
// So a key is first compared with the one that came at its place last time. Where it is that one,
// and most are, nothing has to be looked up and its quotation marks and colon are known as well.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "event/names.h"

namespace remit::event {

/// How a line parts its members: nothing, or one space behind each `:` and `,`.
enum class Spacing : std::uint8_t { kNone, kOne };

/// What stands in front of a value: `,"seq":` for a number, `,"tool":"` for a text, with spaces as
/// the line has them.
class alignas(64) Opening {
 public:
  static constexpr std::size_t kMaxBytes = 32;

  constexpr Opening() = default;
  constexpr Opening(std::string_view name, bool is_text, Spacing spacing) {
    put(',');
    if (spacing == Spacing::kOne) put(' ');
    put('"');
    for (const char c : name) put(c);
    put('"');
    put(':');
    if (spacing == Spacing::kOne) put(' ');
    if (is_text) put('"');
    mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << size_) - 1);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Whether it stands at `text`, which is readable for kMaxBytes; whatever its first `passed`
  /// bytes are.
  [[nodiscard]] bool is_at(const char* text, unsigned passed) const {
#if defined(__SSE2__)
    const auto load = [](const char* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const auto low = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(load(text), load(bytes_.data()))));
    const auto high = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(load(text + 16), load(bytes_.data() + 16))));
    return (~(low | high << 16U) & mask_) >> passed == 0;
#else
    return std::memcmp(text + passed, bytes_.data() + passed, size_ - passed) == 0;
#endif
  }

 private:
  constexpr void put(char c) { bytes_[size_++] = c; }

  std::array<char, kMaxBytes> bytes_{};
  std::uint32_t mask_ = 0;  // of the bytes that count
  std::uint32_t size_ = 0;
};

/// In the order of kKeyNames.
using Openings = std::array<Opening, kKeyNames.size()>;
constexpr Openings make_openings(Spacing spacing) {
  Openings out;
  for (std::size_t key = 0; key < out.size(); ++key) {
    const bool is_text = key < kTextFieldCount || key == kEventKey;
    out[key] = Opening(kKeyNames[key], is_text, spacing);
  }
  return out;
}
/// By Spacing.
inline constexpr std::array<Openings, 2> kOpenings = {make_openings(Spacing::kNone),
                                                      make_openings(Spacing::kOne)};

/// The order of members that the lines had so far. Whatever it says is only a guess.
class KeyOrder {
 public:
  /// In place of the key before the first one.
  static constexpr std::size_t kStart = kKeyNames.size();
  static_assert(kStart < 64);

  KeyOrder() {
    for (auto& of_kind : next_) of_kind.fill(static_cast<std::uint8_t>(kEventKey));
  }

  /// The key that came behind `key` (or behind none) in the last line of `kind`; of kExtension as
  /// long as the kind is not known.
  [[nodiscard]] std::size_t behind(EventKind kind, std::size_t key) const {
    return next_[static_cast<std::size_t>(kind)][key];
  }
  void note(EventKind kind, std::size_t key, std::size_t next) {
    next_[static_cast<std::size_t>(kind)][key] = static_cast<std::uint8_t>(next);
  }

  Spacing spacing = Spacing::kNone;

 private:
  std::array<std::array<std::uint8_t, 64>, kEventKindCount> next_;
};

}  // namespace remit::event
