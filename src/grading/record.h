// What the grader remembers of an event: the facts that rules compare, in a few dozen bytes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// The texts that are remembered, the common ones first. Those that recur are interned, so that
/// their references compare as they do.
enum class Fact : std::uint8_t {
  kTool,
  kRunId,
  kCaseId,
  kRoute,
  kResourceType,
  kResourceId,  ///< not interned
  kArgsDigest,  ///< not interned
  kDecisionId,  ///< not interned
  kPolicyVersion,
  kReason,
  kPolicyDigest,
  kWord,  ///< a decision or outcome outside its closed set
};
inline constexpr std::size_t kFactCount = 12;

constexpr bool is_interned(Fact fact) {
  return fact < Fact::kResourceId || fact > Fact::kDecisionId;
}

/// One event. In the arena it ends behind the last fact that is set.
struct EventRecord {
  Ref next = 0;  ///< of the same invocation, in the order of reading
  std::uint32_t writer = 0;
  event::EventKind kind = event::EventKind::kExtension;
  DecisionWord decision = DecisionWord::kAbsent;
  OutcomeWord outcome = OutcomeWord::kAbsent;
  bool is_numbered = false;
  std::uint8_t fact_count = 0;  ///< of `facts`, as far as there are any
  std::int64_t seq = 0;         ///< as in OrderKey
  std::uint64_t place = 0;      ///< always set
  std::int64_t effects = 0;     ///< of an `effect.observed`
  std::array<Ref, kFactCount> facts{};

  [[nodiscard]] OrderKey key() const { return {seq, is_numbered ? 0 : place}; }
  [[nodiscard]] Ref fact(Fact fact) const {
    const auto index = static_cast<std::size_t>(fact);
    return index < fact_count ? facts[index] : 0;
  }
  [[nodiscard]] std::size_t kept_bytes() const {
    return offsetof(EventRecord, facts) + fact_count * sizeof(Ref);
  }
};
static_assert(std::is_trivially_copyable_v<EventRecord> && alignof(EventRecord) == 8);

/// How far an invocation has come on the path that violates nothing: one writer, one request, one
/// decision for it, and after an allow a start that it governs and a finish.
enum class Stage : std::uint8_t {
  kOdd,  ///< anything else: to be judged in full
  kNew,
  kRequested,
  kAllowed,
  kDenied,
  kStarted,
  kFinished,
};

}  // namespace remit::grading
