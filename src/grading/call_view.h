// One invocation laid out for judging: its events in order, sorted by kind.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "grading/record_store.h"
#include "grading/rule_book.h"

namespace remit::grading {

using Events = std::vector<const EventRecord*>;

/// Whether `left` stands before `right` in the log of one writer; false across writers, where
/// nothing says so (REQ-GR-031).
inline bool stands_before(const EventRecord& left, const EventRecord& right) {
  return left.writer == right.writer && left.key() < right.key();
}

/// Reused from invocation to invocation, so that its vectors keep their memory. Events are in the
/// order of their writers' names and within one writer in its order, which no order of reading
/// changes.
struct CallView {
  std::uint32_t invocation = 0;
  std::string_view id;
  Events events, requests, decisions, starts, finishes, unspent, effects;
  Ref run_id = 0, case_id = 0, tool = 0, route = 0;  ///< of the first event that records it,
                                                     ///< requests first
  const Requirements* requirements = nullptr;        ///< for its tool and route
  bool is_allowed = false;                           ///< some decision is an allow
  bool is_denied = false;                            ///< some decision denies it and none allows
  bool has_shadow_decision = false;
  bool would_deny = false;   ///< some shadow decision is a deny
  bool has_trusted = false;  ///< some event is a `resource.resolved` or `approval.checked`
  bool has_queue_denial = false;

  void fill(const RecordStore& store, RuleBook& book, std::uint32_t index);
  /// A decision that was only tried, where the contract expects that (REQ-GR-060).
  [[nodiscard]] bool is_shadow(const EventRecord& decision) const {
    return decision.is_shadow && requirements->expects_shadow;
  }
  /// Whether the event is a decision that denies the call (REQ-GR-062).
  [[nodiscard]] bool denies(const EventRecord& event) const {
    return event.decision == DecisionWord::kDeny && !is_shadow(event);
  }
  /// A decision denied it, or it finished or never will (EVENTS, closed).
  [[nodiscard]] bool is_closed() const {
    return is_denied || !finishes.empty() || !unspent.empty();
  }
};

}  // namespace remit::grading
