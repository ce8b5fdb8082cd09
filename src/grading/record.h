// What the grader remembers of an event: the facts that rules compare, in a few dozen bytes.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
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

/// The number of a line in its file, 1 for the first, and its length without what ends it. Either
/// is at most what there is room for, which no file reaches.
struct LineSpan {
  std::uint64_t number : 40 = 0;
  std::uint64_t bytes : 24 = 0;

  static LineSpan of(std::uint64_t number, std::uint64_t bytes) {
    LineSpan out;
    out.number = std::min(number, (std::uint64_t{1} << 40U) - 1) & ((std::uint64_t{1} << 40U) - 1);
    out.bytes = std::min(bytes, (std::uint64_t{1} << 24U) - 1) & ((std::uint64_t{1} << 24U) - 1);
    return out;
  }
};

/// A line as it was read, without the carriage return that is part of its end (REQ-GR-018).
inline std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// A line that can be found again.
struct Spot {
  std::uint64_t place = 0;
  LineSpan line;
};

enum class DecisionWord : std::uint8_t { kAbsent, kAllow, kDeny, kOther };
enum class OutcomeWord : std::uint8_t {
  kAbsent,
  kSucceeded,
  kFailed,
  kUnknown,
  kCancelled,
  kFound,  ///< this one and the next two: of a `resource.resolved`
  kNotFound,
  kUnavailable,
  kOther
};
/// As `event::kPrincipalStates`, behind none.
enum class PrincipalState : std::uint8_t {
  kUnrecorded,
  kAuthenticated,
  kMissing,
  kInvalid,
  kExpired
};
/// As `event::kApprovalStates`, behind none.
enum class ApprovalState : std::uint8_t {
  kUnrecorded,
  kActive,
  kAbsent,
  kExpired,
  kRevoked,
  kMismatched,
  kConsumed
};

/// The texts that are remembered. Those that recur are interned, so that their references compare
/// as they do.
enum class Fact : std::uint8_t {
  kTool,
  kRunId,
  kCaseId,
  kRoute,
  kAction,
  kResourceType,
  kResourceId,
  kResourceTenant,
  kFurtherResources,  ///< a JSON list, sorted
  kRequestedRef,
  kArgsDigest,
  kPrincipalRef,
  kPrincipalClass,
  kPrincipalTenant,
  kPrincipalRevision,
  kResolutionSource,
  kResolutionRevision,
  kApprovalId,
  kDecisionId,
  kPolicyVersion,
  kPolicyDigest,
  kReason,
  kWord,        ///< a decision or outcome outside its closed set
  kNumberLow,   ///< no text: the low half of `EventRecord::number`
  kNumberHigh,  ///< and its high half
};
inline constexpr std::size_t kFactCount = 25;

constexpr std::uint32_t bit(Fact fact) {
  return std::uint32_t{1} << static_cast<unsigned>(fact);
}
inline constexpr std::uint32_t kUninterned = bit(Fact::kResourceId) | bit(Fact::kFurtherResources) |
                                             bit(Fact::kRequestedRef) | bit(Fact::kArgsDigest) |
                                             bit(Fact::kApprovalId) | bit(Fact::kDecisionId);
constexpr bool is_interned(Fact fact) {
  return (kUninterned & bit(fact)) == 0;
}

/// The facts that no two events are likely to share, so that they are kept for each.
inline constexpr std::uint32_t kOwnFacts =
    kUninterned | bit(Fact::kNumberLow) | bit(Fact::kNumberHigh);

struct EventRecord;

/// A text that the events of a pattern share, and the field that they have it in.
struct SharedText {
  std::string_view text;
  event::Field field;
};

/// Which facts an event has and where its record keeps them; shared by all events that have the
/// same.
struct Shape {
  std::uint64_t fields = 0;  ///< `event::Field`s that record something, as bits
  /// Of a pattern: an event that is the same as others of it in all but where it stands and its own
  /// facts. Null for others.
  const EventRecord* prototype = nullptr;
  std::span<const SharedText> shared = {};  ///< of a pattern: all its facts but an event's own
  Ref ref = 0;                              ///< of this
  std::uint32_t facts = 0;                  ///< as bits
  std::uint8_t count = 0;
  std::array<std::uint8_t, kFactCount> slots{};

  static Shape of(std::uint64_t fields, std::uint32_t facts) {
    Shape out{.fields = fields, .facts = facts};
    for (std::size_t i = 0; i < kFactCount; ++i) {
      if ((facts >> i & 1U) != 0) out.slots[i] = out.count++;
    }
    return out;
  }
};

/// One event. In the arena it ends behind its last fact.
struct EventRecord {
  Ref next = 0;  ///< of the same invocation, in the order of reading
  std::uint32_t writer = 0;
  event::EventKind kind = event::EventKind::kExtension;
  DecisionWord decision = DecisionWord::kAbsent;
  OutcomeWord outcome = OutcomeWord::kAbsent;
  PrincipalState principal_state = PrincipalState::kUnrecorded;
  ApprovalState approval_state = ApprovalState::kUnrecorded;
  bool is_numbered = false;
  bool is_resource_null = false;  ///< `resource_id` is recorded, as null
  bool is_shadow = false;         ///< a decision in mode `shadow` that was not enforced
  const Shape* shape = nullptr;
  std::int64_t seq = 0;     ///< as in OrderKey
  std::uint64_t place = 0;  ///< always set
  LineSpan line;
  std::array<Ref, kFactCount> facts;  ///< as many as `shape` says; the others have no value

  [[nodiscard]] OrderKey key() const { return {seq, is_numbered ? 0 : place}; }
  [[nodiscard]] bool has(Fact fact) const { return (shape->facts & bit(fact)) != 0; }
  [[nodiscard]] bool has(event::Field field) const {
    return (shape->fields >> static_cast<unsigned>(field) & 1U) != 0;
  }
  [[nodiscard]] Ref fact(Fact fact) const {
    return has(fact) ? facts[shape->slots[static_cast<std::size_t>(fact)]] : 0;
  }
  /// `effects` of an `effect.observed`, `attempt` of any other event; 1 where it records none.
  [[nodiscard]] std::int64_t number() const {
    if (!has(Fact::kNumberLow)) return 1;
    return static_cast<std::int64_t>(std::uint64_t{fact(Fact::kNumberHigh)} << 32U |
                                     fact(Fact::kNumberLow));
  }
  [[nodiscard]] std::size_t kept_bytes() const {
    return offsetof(EventRecord, facts) + shape->count * sizeof(Ref);
  }
  /// Copies that many bytes to `to`: by pieces of a known size, which a processor starts at once.
  void copy_kept(char* to) const {
    const char* const from = reinterpret_cast<const char*>(this);
    constexpr std::size_t kFixed = offsetof(EventRecord, facts);
    constexpr std::size_t kPiece = 4 * sizeof(Ref);
    const std::size_t end = kept_bytes();
    std::memcpy(to, from, kFixed);
    std::size_t at = kFixed;
    for (; at + kPiece <= end; at += kPiece) std::memcpy(to + at, from + at, kPiece);
    for (; at < end; at += sizeof(Ref)) std::memcpy(to + at, from + at, sizeof(Ref));
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
