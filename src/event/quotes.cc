// Quotation marks by words of eight bytes, and by AVX2 where the machine has it.
#include "event/quotes.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace remit::event {
namespace {

// Writes the positions of the set bits of `marks` behind `base`; returns behind the last.
std::uint32_t* write_offsets(std::uint64_t marks, std::uint32_t base, std::uint32_t* out) {
  for (; marks != 0; marks &= marks - 1) {
    *out++ = base + static_cast<std::uint32_t>(std::countr_zero(marks));
  }
  return out;
}

}  // namespace

QuoteScan find_quotes_portable(std::string_view line, std::uint32_t* offsets) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kLows = 0x7f7f7f7f7f7f7f7fU;
  constexpr std::uint64_t kTops = 0x8080808080808080U;
  const auto without = [](std::uint64_t word, std::uint64_t byte) {  // top bit where it is another
    const std::uint64_t difference = word ^ (kOnes * byte);
    return ((difference & kLows) + kLows) | difference;
  };
  std::uint32_t* out = offsets;
  std::uint64_t plain = kTops;
  std::uint64_t high = 0;
  for (std::size_t at = 0; at < line.size(); at += sizeof(std::uint64_t)) {
    const std::size_t left = line.size() - at;
    std::uint64_t word = kOnes * ' ';
    std::memcpy(&word, line.data() + at, left < sizeof word ? left : sizeof word);
    high |= word;
    plain &= without(word, '\\') & (((word & kLows) + kOnes * 0x60) | word);
    const std::uint64_t marks = ~without(word, '"') & kTops;
    // Gathers the eight top bits into one byte, lowest first.
    const std::uint64_t bits = ((marks >> 7U) * 0x0102040810204080U) >> 56U;
    out = write_offsets(bits, static_cast<std::uint32_t>(at), out);
  }
  return QuoteScan{static_cast<std::size_t>(out - offsets), plain == kTops, (high & kTops) == 0};
}

#if defined(__x86_64__)
namespace {

// As write_offsets, without a branch for what a line of events has in 64 bytes.
__attribute__((target("avx2,bmi,popcnt"))) inline std::uint32_t* write_offsets_bmi(
    std::uint64_t marks, std::uint32_t base, std::uint32_t* out) {
  constexpr int kUsual = 16;
  const int count = std::popcount(marks);
#pragma GCC unroll 16
  for (int i = 0; i < kUsual; ++i) {
    out[i] = base + static_cast<std::uint32_t>(_tzcnt_u64(marks));
    marks = _blsr_u64(marks);
  }
  if (count > kUsual) [[unlikely]] {
    write_offsets(marks, base, out + kUsual);
  }
  return out + count;
}

// 32 bytes of spaces, then 32 of 0xff: a window onto it keeps the first bytes of a block.
struct alignas(64) TailMask {
  unsigned char bytes[64];
};
constexpr TailMask make_tail_mask() {
  TailMask mask{};
  for (int i = 0; i < 32; ++i) mask.bytes[i] = 0xff;
  return mask;
}
constexpr TailMask kTailMask = make_tail_mask();

struct Classes {
  __m256i unusual;  // lanes of 0xff where a backslash or a control character was seen
  __m256i high;     // all bytes together
};

__attribute__((target("avx2"))) inline std::uint32_t classify(__m256i bytes, Classes& classes) {
  const __m256i last_control = _mm256_set1_epi8(0x1f);
  const __m256i is_control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, last_control), bytes);
  const __m256i is_backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
  classes.unusual = _mm256_or_si256(classes.unusual, _mm256_or_si256(is_control, is_backslash));
  classes.high = _mm256_or_si256(classes.high, bytes);
  const __m256i is_quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(is_quote));
}

__attribute__((target("avx2"))) inline __m256i load(const char* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// The first `left` of 32 bytes, spaces behind them.
__attribute__((target("avx2"))) inline __m256i load_tail(const char* from, std::size_t left) {
  const std::size_t kept = left < 32 ? left : 32;
  const __m256i keep =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kTailMask.bytes + (32 - kept)));
  return _mm256_blendv_epi8(_mm256_set1_epi8(' '), load(from), keep);
}

__attribute__((target("avx2,bmi,popcnt"))) QuoteScan find_quotes_avx2(std::string_view line,
                                                                      std::uint32_t* offsets) {
  Classes classes{_mm256_setzero_si256(), _mm256_setzero_si256()};
  std::uint32_t* out = offsets;
  std::size_t at = 0;
  for (; at + 64 <= line.size(); at += 64) {
    const std::uint64_t low = classify(load(line.data() + at), classes);
    const std::uint64_t high = classify(load(line.data() + at + 32), classes);
    out = write_offsets_bmi(low | (high << 32U), static_cast<std::uint32_t>(at), out);
  }
  if (at < line.size()) {
    const std::size_t left = line.size() - at;
    const std::uint64_t low = classify(load_tail(line.data() + at, left), classes);
    const std::uint64_t high =
        classify(load_tail(line.data() + at + 32, left < 32 ? 0 : left - 32), classes);
    out = write_offsets_bmi(low | (high << 32U), static_cast<std::uint32_t>(at), out);
  }
  return QuoteScan{static_cast<std::size_t>(out - offsets),
                   _mm256_testz_si256(classes.unusual, classes.unusual) != 0,
                   _mm256_movemask_epi8(classes.high) == 0};
}

}  // namespace

FindQuotes fastest_find_quotes() {
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                        __builtin_cpu_supports("popcnt") != 0;
  return has_avx2 ? find_quotes_avx2 : find_quotes_portable;
}
#else
FindQuotes fastest_find_quotes() {
  return find_quotes_portable;
}
#endif

}  // namespace remit::event
