// What spec/events.md asks of a value, shared by the two readers of a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/rfc3339.h"
#include "event/event.h"
#include "event/names.h"

namespace remit::event {

/// What a text field's value must be.
enum class TextRule : std::uint8_t {
  kAny,
  kNotEmpty,
  kTime,
  kPrincipalState,
  kApprovalState,
  kMode
};

constexpr std::array<TextRule, kTextFieldCount> make_text_rules() {
  std::array<TextRule, kTextFieldCount> rules{};
  const auto rule_of = [&](Field field) -> TextRule& {
    return rules[static_cast<std::size_t>(field)];
  };
  rule_of(Field::kInvocationId) = TextRule::kNotEmpty;
  rule_of(Field::kTime) = TextRule::kTime;
  rule_of(Field::kPrincipalState) = TextRule::kPrincipalState;
  rule_of(Field::kApprovalState) = TextRule::kApprovalState;
  rule_of(Field::kMode) = TextRule::kMode;
  return rules;
}
inline constexpr auto kTextRules = make_text_rules();

inline bool keeps_rule(TextRule rule, std::string_view value) {
  switch (rule) {
    case TextRule::kAny:
      return true;
    case TextRule::kNotEmpty:
      return !value.empty();
    case TextRule::kTime:
      return is_rfc3339(value);
    case TextRule::kPrincipalState:
      return kPrincipalStateTable.find(value) != kPrincipalStateTable.kNone;
    case TextRule::kApprovalState:
      return kApprovalStateTable.find(value) != kApprovalStateTable.kNone;
    case TextRule::kMode:
      return kModeTable.find(value) != kModeTable.kNone;
  }
  return false;
}

/// The least value of an integer field. `events` may be -1 in `evidence.lost` alone, which
/// `is_whole` sees to.
constexpr std::int64_t least_integer(Field field) {
  if (field == Field::kSeq || field == Field::kAttempt) return 1;
  return field == Field::kEvents ? -1 : 0;
}

/// Whether the members together make an event: a call event names its invocation, and only
/// `evidence.lost` may not know its count.
inline bool is_whole(const Event& event) {
  if (is_call_event(event.kind) && !event.has(Field::kInvocationId)) return false;
  return event.integer(Field::kEvents) >= 0 || event.kind == EventKind::kEvidenceLost;
}

}  // namespace remit::event
