// What a record keeps of an event, and where it keeps it.
#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "event/names.h"
#include "grading/record_store.h"
#include "grading/state_names.h"
#include "json/value.h"

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;

/// Of the facts up to `kReason`, in their order. `further_resources` is no text field.
constexpr Field kFactFields[] = {
    Field::kTool,
    Field::kRunId,
    Field::kCaseId,
    Field::kRoute,
    Field::kAction,
    Field::kResourceType,
    Field::kResourceId,
    Field::kResourceTenant,
    Field::kFurtherResources,
    Field::kRequestedRef,
    Field::kArgsDigest,
    Field::kPrincipalRef,
    Field::kPrincipalClass,
    Field::kPrincipalTenant,
    Field::kPrincipalRevision,
    Field::kResolutionSource,
    Field::kResolutionRevision,
    Field::kApprovalId,
    Field::kDecisionId,
    Field::kPolicyVersion,
    Field::kPolicyDigest,
    Field::kReason,
};
static_assert(std::size(kFactFields) == static_cast<std::size_t>(Fact::kReason) + 1);
constexpr std::uint64_t kTextFields = (std::uint64_t{1} << event::kTextFieldCount) - 1;
/// Beside the fields of an event, what else decides its shape.
constexpr std::uint64_t kHasWord = std::uint64_t{1} << 63U;
constexpr std::uint64_t kHasNumber = std::uint64_t{1} << 62U;
constexpr std::uint64_t kHasFurther = std::uint64_t{1} << 61U;
constexpr std::uint64_t kIsResourceNull = std::uint64_t{1} << 60U;
static_assert(event::kFieldCount <= 60);

/// The fields that record something (REQ-GR-015).
std::uint64_t fields_of(const Event& event) {
  std::uint64_t fields = event.present();
  for (std::uint64_t left = fields & kTextFields; left != 0; left &= left - 1) {
    const auto field = static_cast<Field>(__builtin_ctzll(left));
    const bool is_null = field == Field::kResourceId && event.resource_id_is_null;
    if (event.text(field).empty() && !is_null) fields &= ~(left & (~left + 1));
  }
  return fields;
}

/// The facts of an event with this key.
std::uint32_t facts_of(std::uint64_t key) {
  std::uint32_t facts = 0;
  for (std::size_t i = 0; i < std::size(kFactFields); ++i) {
    if ((key >> static_cast<unsigned>(kFactFields[i]) & 1U) != 0) facts |= 1U << i;
  }
  if ((key & kIsResourceNull) != 0) facts &= ~bit(Fact::kResourceId);
  if ((key & kHasFurther) == 0) facts &= ~bit(Fact::kFurtherResources);
  if ((key & kHasWord) != 0) facts |= bit(Fact::kWord);
  if ((key & kHasNumber) != 0) facts |= bit(Fact::kNumberLow) | bit(Fact::kNumberHigh);
  return facts;
}

/// A list of texts as one, whatever their order.
std::string list_text(std::vector<std::string_view> items) {
  std::sort(items.begin(), items.end());
  std::string out = "[";
  for (const std::string_view item : items) {
    if (out.size() > 1) out += ',';
    json::write_string(item, out);
  }
  return out += ']';
}

DecisionWord decision_of(const Event& event) {
  const std::string_view word = event.text(Field::kDecision);
  if (word == "allow") return DecisionWord::kAllow;
  if (word == "deny") return DecisionWord::kDeny;
  return word.empty() ? DecisionWord::kAbsent : DecisionWord::kOther;
}

OutcomeWord outcome_of(const Event& event) {
  const std::string_view word = event.text(Field::kOutcome);
  if (word == "succeeded") return OutcomeWord::kSucceeded;
  if (word == "failed") return OutcomeWord::kFailed;
  if (word == "cancelled") return OutcomeWord::kCancelled;
  if (word == "unknown") return OutcomeWord::kUnknown;
  if (event.kind == EventKind::kResourceResolved) {
    if (word == "found") return OutcomeWord::kFound;
    if (word == "not_found") return OutcomeWord::kNotFound;
    if (word == "unavailable") return OutcomeWord::kUnavailable;
  }
  return word.empty() ? OutcomeWord::kAbsent : OutcomeWord::kOther;
}

}  // namespace

// A fact that another event of the invocation, or the last event at all, has as well is not kept
// again.
Ref RecordStore::keep(Fact fact, std::string_view text, const EventRecord* first,
                      const EventRecord* last) {
  for (const EventRecord* other : {last, first}) {
    if (other == nullptr) break;
    const Ref before = other->fact(fact);
    if (before != 0 && arena_.text(before) == text) return before;
  }
  if (!is_interned(fact)) return arena_.keep(text);
  Ref& recent = recent_facts_[static_cast<std::size_t>(fact)];
  if (arena_.text(recent) != text) recent = texts_.intern(text);
  return recent;
}

const Shape* RecordStore::shape_of(EventKind kind, std::uint64_t key) {
  const Shape*& recent = recent_shapes_[static_cast<std::size_t>(kind)];
  if (recent != nullptr && recent->fields == key) return recent;
  const Shape*& known = shapes_[key];
  if (known == nullptr) {
    const Ref ref = arena_.allocate(sizeof(Shape));
    if (ref == 0) return nullptr;
    known = new (arena_.at(ref)) Shape(Shape::of(key, facts_of(key)));
  }
  return recent = known;
}

// What is no text: words of closed sets and the number. Returns what they add to the key.
std::uint64_t RecordStore::note_words(const Event& event, EventRecord& out, std::int64_t& number) {
  std::uint64_t key = 0;
  if (event.kind == EventKind::kAuthorizationDecision) {
    out.decision = decision_of(event);
    if (out.decision == DecisionWord::kOther) key |= kHasWord;
    out.is_shadow =
        event.text(Field::kMode) == "shadow" && event.has(Field::kEnforced) && !event.enforced;
  } else if (event.has(Field::kOutcome)) {
    out.outcome = outcome_of(event);
    if (out.outcome == OutcomeWord::kOther) key |= kHasWord;
  }
  out.principal_state = principal_state_of(event.text(Field::kPrincipalState));
  out.approval_state = approval_state_of(event.text(Field::kApprovalState));
  out.is_resource_null = event.resource_id_is_null;
  if (out.is_resource_null) key |= kIsResourceNull;
  const Field counted =
      event.kind == EventKind::kEffectObserved ? Field::kEffects : Field::kAttempt;
  number = event.has(counted) ? event.integer(counted) : 1;
  if (number != 1) key |= kHasNumber;
  if (!event.further_resources.empty()) key |= kHasFurther;
  return key;
}

// Keeps the texts of `event`; false if there is no room for them.
bool RecordStore::keep_facts(const Event& event, const EventRecord* first, const EventRecord* last,
                             EventRecord& out) {
  std::int64_t number = 1;
  const std::uint64_t words = note_words(event, out, number);
  out.shape = shape_of(event.kind, fields_of(event) | words);
  if (out.shape == nullptr) return false;
  std::size_t slot = 0;
  constexpr std::uint32_t kNumbers = bit(Fact::kNumberLow) | bit(Fact::kNumberHigh);
  for (std::uint32_t left = out.shape->facts & ~kNumbers; left != 0; left &= left - 1) {
    const auto fact = static_cast<Fact>(__builtin_ctz(left));
    Ref ref = 0;
    if (fact == Fact::kFurtherResources) {
      ref = keep(fact, list_text(event.further_resources), first, last);
    } else if (fact == Fact::kWord) {
      const bool is_decision = event.kind == EventKind::kAuthorizationDecision;
      ref = keep(fact, event.text(is_decision ? Field::kDecision : Field::kOutcome), first, last);
    } else {
      ref = keep(fact, event.text(kFactFields[static_cast<std::size_t>(fact)]), first, last);
    }
    if (ref == 0) return false;
    out.facts[slot++] = ref;
  }
  if (out.shape->count == slot) return true;
  const auto bits = static_cast<std::uint64_t>(number);
  out.facts[slot] = static_cast<Ref>(bits);
  out.facts[slot + 1] = static_cast<Ref>(bits >> 32U);
  return true;
}

}  // namespace remit::grading
