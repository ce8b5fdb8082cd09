// What the grader remembers of an event: the facts that rules compare, in a few dozen bytes.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "event/event.h"
#include "grading/arena.h"

namespace remit::grading {

/// Where an event stands among those of its writer (REQ-GR-030): by `seq`; one without stands right
/// behind the last numbered event that was read before it, by its place in the input.
struct OrderKey {
  std::int64_t seq = 0;
  std::uint64_t place = 0;  ///< 0 for a numbered event
  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};

/// Number of a source and byte offset in it; sources are numbered in reading order, so places are
/// ordered as read.
struct Place {
  static std::uint64_t of(std::size_t source, std::uint64_t offset) {
    return (static_cast<std::uint64_t>(source + 1) << kOffsetBits) | offset;
  }
  static std::size_t source(std::uint64_t place) {
    return static_cast<std::size_t>(place >> kOffsetBits) - 1;
  }
  static std::uint64_t offset(std::uint64_t place) {
    return place & ((std::uint64_t{1} << kOffsetBits) - 1);
  }
  static constexpr unsigned kOffsetBits = 48;
};

enum class DecisionWord : std::uint8_t { kAbsent, kAllow, kDeny, kOther };
enum class OutcomeWord : std::uint8_t {
  kAbsent,
  kSucceeded,
  kFailed,
  kUnknown,
  kCancelled,
  kOther
};

/// The texts that are remembered. Those before kFirstOwn recur and are interned, so that their
/// references compare as they do; the others are nearly unique.
enum class Fact : std::uint8_t {
  kTool,
  kRoute,
  kRunId,
  kCaseId,
  kResourceType,
  kReason,
  kPolicyVersion,
  kPolicyDigest,
  kWord,  ///< a decision or outcome outside its closed set
  kFirstOwn,
  kResourceId = kFirstOwn,
  kArgsDigest,
  kDecisionId,
};
inline constexpr std::size_t kFactCount = 12;

/// One event in the arena, followed by a Ref for each fact of `facts`, lowest first.
struct EventRecord {
  Ref next = 0;  ///< of the same invocation, in the order of reading
  std::uint32_t writer = 0;
  event::EventKind kind = event::EventKind::kExtension;
  DecisionWord decision = DecisionWord::kAbsent;
  OutcomeWord outcome = OutcomeWord::kAbsent;
  bool is_numbered = false;
  std::uint16_t facts = 0;
  std::int64_t seq = 0;      ///< as in OrderKey
  std::uint64_t place = 0;   ///< always set
  std::int64_t effects = 0;  ///< of an `effect.observed`

  [[nodiscard]] OrderKey key() const { return {seq, is_numbered ? 0 : place}; }
  [[nodiscard]] Ref fact(Fact fact) const {
    const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(fact));
    if ((facts & bit) == 0) return 0;
    const auto index = static_cast<std::size_t>(
        std::popcount(static_cast<std::uint16_t>(facts & static_cast<std::uint16_t>(bit - 1U))));
    return reinterpret_cast<const Ref*>(this + 1)[index];
  }
};
static_assert(sizeof(EventRecord) == 40 && alignof(EventRecord) == 8);

}  // namespace remit::grading
