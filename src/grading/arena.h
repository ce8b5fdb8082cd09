// Memory for small things by 32-bit references, without an allocation for each.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/prefetch.h"

namespace remit::grading {

/// Names 8 bytes or more in an Arena; 0 names nothing.
using Ref = std::uint32_t;

/// Whether they are equal, without a call for short ones.
inline bool same_text(std::string_view left, std::string_view right) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t size = left.size();
  if (size != right.size()) return false;
  if (size < kWord || size > 4 * kWord) return std::memcmp(left.data(), right.data(), size) == 0;
  const auto differ = [&](std::size_t at) {
    std::uint64_t one = 0;
    std::uint64_t other = 0;
    std::memcpy(&one, left.data() + at, kWord);
    std::memcpy(&other, right.data() + at, kWord);
    return one ^ other;
  };
  std::uint64_t difference = differ(size - kWord);
  for (std::size_t at = 0; at + kWord < size; at += kWord) difference |= differ(at);
  return difference == 0;
}

/// Chunks of memory that are given out from front to back and taken back from back to front, and a
/// first one of which nothing is taken back. What it gave out stays where it is. Not thread-safe.
class Arena {
 public:
  /// `lasting_bytes`, at most kChunkBytes, are there for what lasts.
  explicit Arena(std::size_t lasting_bytes)
      : lasting_end_(std::max<std::size_t>(std::min(lasting_bytes, kChunkBytes) / kUnit, 1)) {}

  /// Room for `bytes`, aligned to 8; 0 beyond kLargest or once kMaxGraderBytes are used.
  Ref allocate(std::size_t bytes) {
    if (bytes > kLargest) return 0;
    const std::size_t units = units_of(bytes);
    if (top_ + units > end_ && !next_chunk()) return 0;
    const auto ref = static_cast<Ref>(top_);
    top_ += units;
    return ref;
  }
  /// As `allocate`, never taken back; 0 where there is no more room for what lasts.
  Ref allocate_lasting(std::size_t bytes) {
    const std::size_t units = units_of(bytes);
    if (units > lasting_end_ - lasting_ || (chunks_.empty() && !add_chunk())) return 0;
    const auto ref = static_cast<Ref>(lasting_);
    lasting_ += units;
    return ref;
  }
  /// Whether what a reference names is never taken back; true of 0.
  static constexpr bool is_lasting(Ref ref) { return ref < kChunkUnits; }

  /// Every reference given out so far is smaller; see `rewind`.
  [[nodiscard]] std::size_t top() const { return top_; }
  /// Takes back everything that was given out since `top` was this. The memory is used again.
  void rewind(std::size_t top) {
    top_ = top;
    end_ = (top + kChunkUnits - 1) / kChunkUnits * kChunkUnits;
  }
  /// Those that can be taken back.
  [[nodiscard]] std::size_t used_bytes() const { return (top_ - kChunkUnits) * kUnit; }

  [[nodiscard]] char* at(Ref ref) const {
    return chunks_[ref / kChunkUnits].get() + (ref % kChunkUnits) * kUnit;
  }

  /// Keeps a copy of `text`; 0 if there is no room for it.
  Ref keep(std::string_view text) {
    return put(text, allocate(sizeof(std::uint32_t) + text.size()));
  }
  /// As `keep`, where there is room for what lasts.
  Ref keep_lasting(std::string_view text) {
    return put(text, allocate_lasting(sizeof(std::uint32_t) + text.size()));
  }

  /// The text that `keep` kept; empty for 0.
  [[nodiscard]] std::string_view text(Ref ref) const {
    if (ref == 0) return {};
    const char* from = at(ref);
    std::uint32_t size = 0;
    std::memcpy(&size, from, sizeof size);
    return {from + sizeof size, size};
  }

  /// Has the processor fetch what stands between the two, but little of it at a time; returns up to
  /// where. For a caller that is about to read all of it.
  [[nodiscard]] Ref send_for(Ref from, Ref to) const {
    constexpr Ref kLine = 64 / kUnit;
    constexpr Ref kAtOnce = 32 * kLine;
    const Ref end = to > from && to - from > kAtOnce ? from + kAtOnce : std::max(from, to);
    for (; from < end; from += kLine) prefetch(at(from));
    return from;
  }

  static constexpr std::size_t kChunkBytes = std::size_t{4} << 20U;

 private:
  static constexpr std::size_t kUnit = 8;
  static constexpr std::size_t kChunkUnits = kChunkBytes / kUnit;

 public:
  /// `top` of an arena that gave out nothing but what lasts.
  static constexpr std::size_t kEmptyTop = kChunkUnits;

 private:
  static constexpr std::size_t kLargest = kChunkBytes - kUnit;
  static_assert(kMaxGraderBytes / kUnit <= std::size_t{1} << 32U, "a Ref reaches all of it");

  static constexpr std::size_t units_of(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit; }

  Ref put(std::string_view text, Ref ref) {
    if (ref == 0) return 0;
    char* out = at(ref);
    const auto size = static_cast<std::uint32_t>(text.size());
    std::memcpy(out, &size, sizeof size);
    std::memcpy(out + sizeof size, text.data(), text.size());
    return ref;
  }

  bool next_chunk() {
    if (chunks_.empty() && !add_chunk()) return false;
    const std::size_t index = end_ / kChunkUnits;
    if (index == chunks_.size() && !add_chunk()) return false;
    top_ = end_;
    end_ += kChunkUnits;
    return true;
  }

  bool add_chunk() {
    if ((chunks_.size() + 1) * kChunkBytes > kMaxGraderBytes) return false;
    void* memory = ::operator new(kChunkBytes, std::align_val_t{kHugePage});
    // Only a hint: a run that needs more than one of them enters the kernel some hundred times
    // less.
    if (chunks_.size() > 1) static_cast<void>(::madvise(memory, kChunkBytes, MADV_HUGEPAGE));
    chunks_.emplace_back(static_cast<char*>(memory));
    return true;
  }

  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  struct Free {
    void operator()(char* memory) const { ::operator delete(memory, std::align_val_t{kHugePage}); }
  };
  std::vector<std::unique_ptr<char, Free>> chunks_;
  std::size_t lasting_ = 1;  ///< in units; unit 0 is the reference to nothing
  std::size_t lasting_end_;
  std::size_t top_ = kChunkUnits;  ///< in units
  std::size_t end_ = kChunkUnits;  ///< of the chunk that is being filled
};

}  // namespace remit::grading
