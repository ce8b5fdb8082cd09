// Texts that occur again and again, each kept once, so that equal texts have equal references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text_hash.h"
#include "grading/arena.h"

namespace remit::grading {

/// An open-addressing set of texts in an Arena. Not thread-safe.
class TextTable {
 public:
  TextTable(Arena& arena, std::uint64_t seed) : arena_(&arena), seed_(seed), slots_(kFirstSlots) {}

  /// The reference of `text`, kept on first sight; 0 for an empty text, and where the arena is full
  /// (then `is_full`).
  Ref intern(std::string_view text) {
    if (text.empty()) return 0;
    const auto hash = static_cast<std::uint32_t>(hash_text(text, seed_));
    Slot* slot = find(text, hash);
    if (slot->ref != 0) return slot->ref;
    Ref ref = arena_->keep_lasting(text);
    if (ref == 0) ref = arena_->keep(text);
    if (ref == 0) {
      is_full_ = true;
      return 0;
    }
    *slot = {ref, hash};
    if (++used_ * 2 > slots_.size()) grow();
    return ref;
  }

  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  /// Forgets the texts whose references are not below `top`, which the arena takes back. Those that
  /// last stay.
  void forget_from(std::size_t top) {
    std::vector<Slot> old(kFirstSlots);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.ref == 0 || slot.ref >= top) continue;
      *place_of(slot.hash) = slot;
      if (++used_ * 2 > slots_.size()) grow();
    }
  }

 private:
  struct Slot {
    Ref ref = 0;
    std::uint32_t hash = 0;
  };
  static constexpr std::size_t kFirstSlots = 256;

  Slot* find(std::string_view text, std::uint32_t hash) {
    for (std::size_t at = hash;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.ref == 0 || (slot.hash == hash && arena_->text(slot.ref) == text)) return &slot;
    }
  }

  Slot* place_of(std::uint32_t hash) {
    std::size_t at = hash;
    while (slots_[at & (slots_.size() - 1)].ref != 0) ++at;
    return &slots_[at & (slots_.size() - 1)];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.ref != 0) *place_of(slot.hash) = slot;
    }
  }

  Arena* arena_;
  std::uint64_t seed_;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  bool is_full_ = false;
};

}  // namespace remit::grading
