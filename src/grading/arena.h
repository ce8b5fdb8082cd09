// Memory for small things by 32-bit references, without an allocation for each.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/prefetch.h"

namespace remit::grading {

/// Names 8 bytes or more in an Arena; 0 names nothing.
using Ref = std::uint32_t;

/// Chunks of memory that are given out from front to back and taken back from back to front. What
/// it gave out stays where it is. Not thread-safe.
class Arena {
 public:
  /// Room for `bytes`, aligned to 8; 0 beyond kLargest or once kMaxGraderBytes are used.
  Ref allocate(std::size_t bytes) {
    if (bytes > kLargest) return 0;
    const std::size_t units = (bytes + kUnit - 1) / kUnit;
    if (top_ + units > end_ && !next_chunk()) return 0;
    const auto ref = static_cast<Ref>(top_);
    top_ += units;
    return ref;
  }

  /// Every reference given out so far is smaller; see `rewind`.
  [[nodiscard]] std::size_t top() const { return top_; }
  /// Takes back everything that was given out since `top` was this. The memory is used again.
  void rewind(std::size_t top) {
    top_ = top;
    end_ = (top + kChunkUnits - 1) / kChunkUnits * kChunkUnits;
  }
  [[nodiscard]] std::size_t used_bytes() const { return top_ * kUnit; }

  [[nodiscard]] char* at(Ref ref) const {
    return chunks_[ref / kChunkUnits].get() + (ref % kChunkUnits) * kUnit;
  }

  /// Keeps a copy of `text`; 0 if there is no room for it.
  Ref keep(std::string_view text) {
    const Ref ref = allocate(sizeof(std::uint32_t) + text.size());
    if (ref == 0) return 0;
    char* out = at(ref);
    const auto size = static_cast<std::uint32_t>(text.size());
    std::memcpy(out, &size, sizeof size);
    std::memcpy(out + sizeof size, text.data(), text.size());
    return ref;
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
  static constexpr std::size_t kLargest = kChunkBytes - kUnit;
  static_assert(kMaxGraderBytes / kUnit <= std::size_t{1} << 32U, "a Ref reaches all of it");

  bool next_chunk() {
    const std::size_t index = end_ / kChunkUnits;
    if (index == chunks_.size() && !add_chunk()) return false;
    top_ = end_ == 0 ? 1 : end_;  // unit 0 of the first chunk is the reference to nothing
    end_ += kChunkUnits;
    return true;
  }

  bool add_chunk() {
    if ((chunks_.size() + 1) * kChunkBytes > kMaxGraderBytes) return false;
    void* memory = std::aligned_alloc(kHugePage, kChunkBytes);
    if (memory == nullptr) return false;
    // Only a hint: a run that needs more than one chunk enters the kernel some hundred times less.
    if (!chunks_.empty()) static_cast<void>(::madvise(memory, kChunkBytes, MADV_HUGEPAGE));
    chunks_.emplace_back(static_cast<char*>(memory));
    return true;
  }

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  std::vector<std::unique_ptr<char, Free>> chunks_;
  std::size_t top_ = 0;  ///< in units
  std::size_t end_ = 0;  ///< of the chunk that is being filled
};

}  // namespace remit::grading
