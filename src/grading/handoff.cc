// From remembered references to texts.
#include "grading/handoff.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "event/names.h"

namespace remit::grading {
namespace {

using event::EventKind;
using event::Field;

/// The facts that are texts, in the order in which the contract writes their fields.
constexpr std::pair<Field, Fact> kTexts[] = {
    {Field::kRunId, Fact::kRunId},
    {Field::kCaseId, Fact::kCaseId},
    {Field::kRoute, Fact::kRoute},
    {Field::kTool, Fact::kTool},
    {Field::kAction, Fact::kAction},
    {Field::kResourceType, Fact::kResourceType},
    {Field::kResourceId, Fact::kResourceId},
    {Field::kResourceTenant, Fact::kResourceTenant},
    {Field::kFurtherResources, Fact::kFurtherResources},
    {Field::kRequestedRef, Fact::kRequestedRef},
    {Field::kPrincipalClass, Fact::kPrincipalClass},
    {Field::kPrincipalRef, Fact::kPrincipalRef},
    {Field::kPrincipalTenant, Fact::kPrincipalTenant},
    {Field::kPrincipalRevision, Fact::kPrincipalRevision},
    {Field::kArgsDigest, Fact::kArgsDigest},
    {Field::kResolutionSource, Fact::kResolutionSource},
    {Field::kResolutionRevision, Fact::kResolutionRevision},
    {Field::kApprovalId, Fact::kApprovalId},
    {Field::kReason, Fact::kReason},
    {Field::kPolicyVersion, Fact::kPolicyVersion},
    {Field::kPolicyDigest, Fact::kPolicyDigest},
    {Field::kDecisionId, Fact::kDecisionId},
};

constexpr std::array<std::string_view, 3> kDecisionWords = {"", "allow", "deny"};
constexpr std::array<std::string_view, 8> kOutcomeWords = {
    "", "succeeded", "failed", "unknown", "cancelled", "found", "not_found", "unavailable"};

RecordedEvent event_of(const RecordStore& store, const EventRecord& record) {
  RecordedEvent out;
  out.kind = record.kind;
  out.position = store.position(record);
  const auto add = [&](Field field, std::string_view text) {
    if (!text.empty()) out.facts.push_back({event::field_name(field), std::string(text)});
  };
  // A word outside its closed set stands as it was written.
  const auto word = [&](const auto& words, auto value) {
    const auto index = static_cast<std::size_t>(value);
    return index < words.size() ? words[index] : store.text(record.fact(Fact::kWord));
  };
  add(Field::kDecision, word(kDecisionWords, record.decision));
  add(Field::kOutcome, word(kOutcomeWords, record.outcome));
  if (record.principal_state != PrincipalState::kUnrecorded) {
    const auto index = static_cast<std::size_t>(record.principal_state) - 1;
    add(Field::kPrincipalState, event::kPrincipalStates[index]);
  }
  if (record.approval_state != ApprovalState::kUnrecorded) {
    const auto index = static_cast<std::size_t>(record.approval_state) - 1;
    add(Field::kApprovalState, event::kApprovalStates[index]);
  }
  for (const auto& [field, fact] : kTexts) add(field, store.text(record.fact(fact)));
  if (record.is_resource_null) add(Field::kResourceId, "null");
  if (record.is_shadow) add(Field::kMode, "shadow");
  if (record.has(Fact::kNumberLow)) {
    const bool is_effect = record.kind == EventKind::kEffectObserved;
    add(is_effect ? Field::kEffects : Field::kAttempt, std::to_string(record.number()));
  }
  return out;
}

}  // namespace

InvocationRecord record_of(const RecordStore& store, const CallView& call) {
  InvocationRecord out;
  out.event_count = call.events.size();
  out.requests = call.requests.size();
  out.decisions = call.decisions.size();
  out.starts = call.starts.size();
  out.finishes = call.finishes.size();
  for (const EventRecord* effect : call.effects) {
    out.effects = std::min<std::uint64_t>(
        kMaxSafeInteger, out.effects + static_cast<std::uint64_t>(effect->number()));
  }
  out.is_observed = !call.effects.empty();
  const std::size_t kept = std::min(call.events.size(), kMaxRecordedEvents);
  for (std::size_t i = 0; i < kept; ++i) out.events.push_back(event_of(store, *call.events[i]));
  return out;
}

}  // namespace remit::grading
