// Quotation marks by words of eight bytes, and by AVX2 or AVX-512 where the machine has it.
#include "event/quotes.h"

#include <algorithm>
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

// Which of the bytes of a block are escaped, given its backslashes; `reaches_over` says so of the
// first byte, and is then set for the first byte of the next block, which is `width` bytes on.
std::uint64_t escaped_bytes(std::uint64_t backslashes, unsigned width, bool& reaches_over) {
  std::uint64_t escaped = reaches_over ? 1 : 0;
  reaches_over = false;
  for (; backslashes != 0; backslashes &= backslashes - 1) {
    const std::uint64_t backslash = backslashes & (~backslashes + 1);
    if ((escaped & backslash) != 0) continue;
    reaches_over = (backslash >> (width - 1)) != 0;
    escaped |= reaches_over ? 0 : backslash << 1U;
  }
  return escaped;
}

QuoteScan find_quotes_portable(std::string_view line, std::uint32_t* offsets) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kLows = 0x7f7f7f7f7f7f7f7fU;
  constexpr std::uint64_t kTops = 0x8080808080808080U;
  const auto without = [](std::uint64_t word, std::uint64_t byte) {  // top bit where it is another
    const std::uint64_t difference = word ^ (kOnes * byte);
    return ((difference & kLows) + kLows) | difference;
  };
  const auto gather = [](std::uint64_t tops) {  // the eight top bits in one byte, lowest first
    return ((tops & kTops) >> 7U) * 0x0102040810204080U >> 56U;
  };
  QuoteScan scan;
  scan.length = line.size();
  std::uint32_t* out = offsets;
  std::uint64_t printable = kTops;
  std::uint64_t high = 0;
  bool reaches_over = false;
  for (std::size_t at = 0; at < line.size(); at += sizeof(std::uint64_t)) {
    const std::size_t left = line.size() - at;
    std::uint64_t word = kOnes * ' ';
    std::memcpy(&word, line.data() + at, left < sizeof word ? left : sizeof word);
    high |= word;
    printable &= ((word & kLows) + kOnes * 0x60) | word;
    std::uint64_t marks = gather(~without(word, '"'));
    const std::uint64_t backslashes = gather(~without(word, '\\'));
    if (backslashes != 0 || reaches_over) {
      scan.has_escapes = true;
      marks &= ~escaped_bytes(backslashes, sizeof word, reaches_over);
    }
    out = write_offsets(marks, static_cast<std::uint32_t>(at), out);
  }
  scan.count = static_cast<std::size_t>(out - offsets);
  scan.has_controls = (printable & kTops) != kTops;
  scan.is_ascii = (high & kTops) == 0;
  return scan;
}

QuoteScan find_line_portable(std::string_view text, std::uint32_t* offsets) {
  return find_quotes_portable(text.substr(0, text.find('\n')), offsets);
}

}  // namespace

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

// What the blocks of a line have in common, and the carry from one to the next.
struct Seen {
  __m256i bytes;  // all bytes together
  bool has_escapes = false;
  bool reaches_over = false;
};

__attribute__((target("avx2"))) inline std::uint64_t bits(__m256i low, __m256i high) {
  const auto first = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
  const auto second = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
  return first | (std::uint64_t{second} << 32U);
}

// Lanes of 0xff where a control character is.
__attribute__((target("avx2"))) inline __m256i controls_of(__m256i bytes) {
  return _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
}

// The quotation marks of 64 bytes.
__attribute__((target("avx2"))) inline std::uint64_t marks_of(__m256i low, __m256i high,
                                                              Seen& seen) {
  seen.bytes = _mm256_or_si256(seen.bytes, _mm256_or_si256(low, high));
  const __m256i quote = _mm256_set1_epi8('"');
  const std::uint64_t marks = bits(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote));
  const __m256i backslash = _mm256_set1_epi8('\\');
  const std::uint64_t backslashes =
      bits(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash));
  if (backslashes == 0 && !seen.reaches_over) [[likely]]
    return marks;
  seen.has_escapes = true;
  return marks & ~escaped_bytes(backslashes, 64, seen.reaches_over);
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
  Seen seen{_mm256_setzero_si256()};
  __m256i controls = _mm256_setzero_si256();
  std::uint32_t* out = offsets;
  std::size_t at = 0;
  const auto take = [&](__m256i low, __m256i high) __attribute__((target("avx2,bmi,popcnt"))) {
    controls = _mm256_or_si256(controls, _mm256_or_si256(controls_of(low), controls_of(high)));
    out = write_offsets_bmi(marks_of(low, high, seen), static_cast<std::uint32_t>(at), out);
  };
  for (; at + 64 <= line.size(); at += 64) {
    take(load(line.data() + at), load(line.data() + at + 32));
  }
  if (at < line.size()) {
    const char* block = line.data() + at;
    const std::size_t left = line.size() - at;
    take(load_tail(block, left), load_tail(block + 32, left < 32 ? 0 : left - 32));
  }
  QuoteScan scan;
  scan.length = line.size();
  scan.count = static_cast<std::size_t>(out - offsets);
  scan.has_controls = _mm256_testz_si256(controls, controls) == 0;
  scan.has_escapes = seen.has_escapes;
  scan.is_ascii = _mm256_movemask_epi8(seen.bytes) == 0;
  return scan;
}

// A line's end is a control character as well, so that 64 bytes without any need no further look.
__attribute__((target("avx2,bmi,popcnt"))) QuoteScan find_line_avx2(std::string_view text,
                                                                    std::uint32_t* offsets) {
  Seen seen{_mm256_setzero_si256()};
  QuoteScan scan;
  scan.length = text.size();
  std::uint32_t* out = offsets;
  for (std::size_t at = 0; at < scan.length; at += 64) {
    const __m256i low = load(text.data() + at);
    const __m256i high = load(text.data() + at + 32);
    std::uint64_t marks = marks_of(low, high, seen);
    const __m256i low_controls = controls_of(low);
    const __m256i high_controls = controls_of(high);
    const std::size_t left = scan.length - at;
    const __m256i any = _mm256_or_si256(low_controls, high_controls);
    if (_mm256_testz_si256(any, any) == 0 || left < 64) {
      const __m256i newline = _mm256_set1_epi8('\n');
      const std::uint64_t newlines =
          bits(_mm256_cmpeq_epi8(low, newline), _mm256_cmpeq_epi8(high, newline));
      const std::size_t end = std::min<std::size_t>(_tzcnt_u64(newlines), left);
      const std::uint64_t of_line = end < 64 ? (std::uint64_t{1} << end) - 1 : ~std::uint64_t{0};
      scan.has_controls |= (bits(low_controls, high_controls) & of_line) != 0;
      if (end < 64) scan.length = at + end;
      marks &= of_line;
    }
    out = write_offsets_bmi(marks, static_cast<std::uint32_t>(at), out);
  }
  scan.count = static_cast<std::size_t>(out - offsets);
  scan.has_escapes = seen.has_escapes;
  scan.is_ascii = _mm256_movemask_epi8(seen.bytes) == 0;
  return scan;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("popcnt") != 0;
}

#define REMIT_AVX512 "avx2,bmi,popcnt,avx512f,avx512bw,avx512vbmi2"

// As write_offsets: 16 at a time.
__attribute__((target(REMIT_AVX512))) inline std::uint32_t* write_offsets_avx512(
    std::uint64_t marks, std::uint32_t base, std::uint32_t* out) {
  alignas(64) static constexpr unsigned char kPlaces[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i bases = _mm512_set1_epi32(static_cast<int>(base));
  const auto write = [&](__m128i places, std::uint32_t* to) __attribute__((target(REMIT_AVX512))) {
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(places), bases));
  };
  const __m512i places = _mm512_maskz_compress_epi8(marks, _mm512_load_si512(kPlaces));
  const int count = std::popcount(marks);
  write(_mm512_castsi512_si128(places), out);
  if (count > 16) [[unlikely]] {
    write(_mm512_extracti32x4_epi32(places, 1), out + 16);
    write(_mm512_extracti32x4_epi32(places, 2), out + 32);
    write(_mm512_extracti32x4_epi32(places, 3), out + 48);
  }
  return out + count;
}

// What the blocks of a line have in common, and the carry from one to the next.
struct SeenWide {
  __m512i bytes;  // all bytes together
  bool has_escapes = false;
  bool reaches_over = false;
};

// The quotation marks of 64 bytes.
__attribute__((target(REMIT_AVX512))) inline std::uint64_t marks_of(__m512i block, SeenWide& seen) {
  seen.bytes = _mm512_or_si512(seen.bytes, block);
  const std::uint64_t marks = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('"'));
  const std::uint64_t backslashes = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('\\'));
  if (backslashes == 0 && !seen.reaches_over) [[likely]]
    return marks;
  seen.has_escapes = true;
  return marks & ~escaped_bytes(backslashes, 64, seen.reaches_over);
}

__attribute__((target(REMIT_AVX512))) inline std::uint64_t controls_of(__m512i block) {
  return _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20));
}

__attribute__((target(REMIT_AVX512))) QuoteScan find_quotes_avx512(std::string_view line,
                                                                   std::uint32_t* offsets) {
  SeenWide seen{_mm512_setzero_si512()};
  std::uint64_t controls = 0;
  std::uint32_t* out = offsets;
  for (std::size_t at = 0; at < line.size(); at += 64) {
    const std::size_t left = line.size() - at;
    const __mmask64 kept = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    const __m512i block = _mm512_mask_loadu_epi8(_mm512_set1_epi8(' '), kept, line.data() + at);
    controls |= controls_of(block);
    out = write_offsets_avx512(marks_of(block, seen), static_cast<std::uint32_t>(at), out);
  }
  QuoteScan scan;
  scan.length = line.size();
  scan.count = static_cast<std::size_t>(out - offsets);
  scan.has_controls = controls != 0;
  scan.has_escapes = seen.has_escapes;
  scan.is_ascii = _mm512_movepi8_mask(seen.bytes) == 0;
  return scan;
}

// As find_line_avx2.
__attribute__((target(REMIT_AVX512))) QuoteScan find_line_avx512(std::string_view text,
                                                                 std::uint32_t* offsets) {
  SeenWide seen{_mm512_setzero_si512()};
  QuoteScan scan;
  scan.length = text.size();
  std::uint32_t* out = offsets;
  for (std::size_t at = 0; at < scan.length; at += 64) {
    const __m512i block = _mm512_loadu_si512(text.data() + at);
    std::uint64_t marks = marks_of(block, seen);
    const std::uint64_t controls = controls_of(block);
    const std::size_t left = scan.length - at;
    if (controls != 0 || left < 64) {
      const std::uint64_t newlines = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('\n'));
      const std::size_t end = std::min<std::size_t>(_tzcnt_u64(newlines), left);
      const std::uint64_t of_line = end < 64 ? (std::uint64_t{1} << end) - 1 : ~std::uint64_t{0};
      scan.has_controls |= (controls & of_line) != 0;
      if (end < 64) scan.length = at + end;
      marks &= of_line;
    }
    out = write_offsets_avx512(marks, static_cast<std::uint32_t>(at), out);
  }
  scan.count = static_cast<std::size_t>(out - offsets);
  scan.has_escapes = seen.has_escapes;
  scan.is_ascii = _mm512_movepi8_mask(seen.bytes) == 0;
  return scan;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
}

constexpr QuoteFinders kFinders[] = {{find_quotes_avx512, find_line_avx512},
                                     {find_quotes_avx2, find_line_avx2},
                                     {find_quotes_portable, find_line_portable}};

}  // namespace

std::span<const QuoteFinders> quote_finders() {
  const std::span<const QuoteFinders> all(kFinders);
  if (has_avx512()) return all;
  return has_avx2() ? all.subspan(1) : all.subspan(2);
}
#else
namespace {
constexpr QuoteFinders kFinders[] = {{find_quotes_portable, find_line_portable}};
}  // namespace

std::span<const QuoteFinders> quote_finders() {
  return kFinders;
}
#endif

FindQuotes fastest_find_quotes() {
  return quote_finders().front().quotes;
}
FindQuotes fastest_find_line() {
  return quote_finders().front().line;
}

}  // namespace remit::event
