// What a record keeps of an event, and where it keeps it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <tuple>
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
/// Beside the fields of an event, what else decides its shape.
constexpr std::uint64_t kHasWord = std::uint64_t{1} << 63U;
constexpr std::uint64_t kHasNumber = std::uint64_t{1} << 62U;
constexpr std::uint64_t kHasFurther = std::uint64_t{1} << 61U;
constexpr std::uint64_t kIsResourceNull = std::uint64_t{1} << 60U;
static_assert(event::kFieldCount <= 60);

/// The fields that record something (REQ-GR-015).
std::uint64_t fields_of(const Event& event) {
  constexpr std::uint64_t kResourceId = std::uint64_t{1}
                                        << static_cast<unsigned>(Field::kResourceId);
  const std::uint64_t fields = event.present() & ~event.empty_texts();
  return event.resource_id_is_null ? fields | kResourceId : fields;
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

/// Where an event has the text of a fact that is no list.
Field field_of(const Event& event, Fact fact) {
  if (fact == Fact::kWord) {
    return event.kind == EventKind::kAuthorizationDecision ? Field::kDecision : Field::kOutcome;
  }
  return kFactFields[static_cast<std::size_t>(fact)];
}

/// What an event says in words of closed sets stands together.
constexpr std::size_t kWordsBytes = offsetof(EventRecord, shape) - offsetof(EventRecord, kind);
static_assert(kWordsBytes == 8);

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
    if (before != 0 && same_text(arena_.text(before), text)) return before;
  }
  if (!is_interned(fact)) return arena_.keep(text);
  Ref& recent = recent_facts_[static_cast<std::size_t>(fact)];
  if (!same_text(arena_.text(recent), text)) recent = texts_.intern(text);
  return recent;
}

const Shape* RecordStore::shape_of(EventKind kind, std::uint64_t key) {
  const Shape*& recent = recent_shapes_[static_cast<std::size_t>(kind)];
  if (recent != nullptr && recent->fields == key) return recent;
  const Shape*& known = shapes_[key];
  if (known == nullptr) {
    Ref ref = arena_.allocate_lasting(sizeof(Shape));
    if (ref == 0) ref = arena_.allocate(sizeof(Shape));
    if (ref == 0) {
      shapes_.erase(key);
      return nullptr;
    }
    Shape* const made = new (arena_.at(ref)) Shape(Shape::of(key, facts_of(key)));
    made->ref = ref;
    known = made;
  }
  return recent = known;
}

// Where the pattern of an event is remembered that follows `last` in its invocation.
const Shape** RecordStore::likely_pattern(const Event& event, const EventRecord* last) {
  const std::uint64_t before = last != nullptr ? reinterpret_cast<std::uintptr_t>(last->shape)
                                               : hash_text(event.text(Field::kTool), seed_);
  const std::uint64_t mixed =
      (before + static_cast<std::uint64_t>(event.kind)) * 0x9e3779b97f4a7c15U;
  static_assert(std::tuple_size_v<decltype(likely_patterns_)> == 1U << 10U);
  return &likely_patterns_[mixed >> 54U];
}

// Whether all but the own facts of an event, and the words that `out` has, are the pattern's.
bool RecordStore::follows(const Shape& pattern, const Event& event, std::uint64_t key,
                          const EventRecord& out) {
  const EventRecord& prototype = *pattern.prototype;
  if (pattern.fields != key || prototype.writer != out.writer ||
      std::memcmp(&prototype.kind, &out.kind, kWordsBytes) != 0) {
    return false;
  }
  return std::all_of(pattern.shared.begin(), pattern.shared.end(), [&](const SharedText& one) {
    return same_text(one.text, event.text(one.field));
  });
}

// The pattern of an event, made on first sight; null where there is no room for what lasts.
const Shape* RecordStore::pattern_of(const Event& source, const EventRecord& event) {
  std::array<std::uint32_t, kFactCount + 5> shared{};
  std::memcpy(shared.data(), &event.kind, kWordsBytes);
  std::memcpy(shared.data() + 2, &event.shape->fields, sizeof event.shape->fields);
  shared[4] = event.writer;
  std::size_t count = 5;
  for (std::uint32_t left = event.shape->facts & ~kOwnFacts; left != 0; left &= left - 1) {
    const Ref fact = event.fact(static_cast<Fact>(__builtin_ctz(left)));
    if (!Arena::is_lasting(fact)) return nullptr;
    shared[count++] = fact;
  }
  const char* const bytes = reinterpret_cast<const char*>(shared.data());
  const std::uint64_t hash = hash_text({bytes, count * sizeof shared[0]}, seed_);
  if (const auto found = patterns_.find(hash); found != patterns_.end()) return found->second;
  const std::uint32_t facts = event.shape->facts & ~kOwnFacts;
  const auto texts = static_cast<std::size_t>(std::popcount(facts));
  const Ref ref =
      arena_.allocate_lasting(sizeof(Shape) + sizeof(EventRecord) + texts * sizeof(SharedText));
  if (ref == 0) return nullptr;
  Shape* const made = new (arena_.at(ref)) Shape(*event.shape);
  auto* const prototype = new (made + 1) EventRecord();  // whole: it is copied as one piece
  prototype->facts.fill(0);
  std::memcpy(static_cast<void*>(prototype), &event, event.kept_bytes());
  auto* const expected = reinterpret_cast<SharedText*>(prototype + 1);
  std::size_t at = 0;
  for (std::uint32_t left = facts; left != 0; left &= left - 1) {
    const auto fact = static_cast<Fact>(__builtin_ctz(left));
    new (expected + at++) SharedText{arena_.text(event.fact(fact)), field_of(source, fact)};
  }
  made->prototype = prototype;
  made->shared = {expected, texts};
  made->ref = ref;
  prototype->shape = made;
  patterns_.emplace(hash, made);
  return made;
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

// Keeps what `event` says; false if there is no room for it.
bool RecordStore::keep_facts(const Event& event, const EventRecord* first, const EventRecord* last,
                             EventRecord& out) {
  std::int64_t number = 1;
  const std::uint64_t words = note_words(event, out, number);
  const std::uint64_t key = fields_of(event) | words;
  const Shape*& likely = *likely_pattern(event, last);
  if (likely != nullptr && follows(*likely, event, key, out)) {
    out.shape = likely;
    out.facts = likely->prototype->facts;
    return keep_own_facts(event, number, first, last, out);
  }
  out.shape = shape_of(event.kind, key);
  if (out.shape == nullptr) return false;
  for (std::uint32_t left = out.shape->facts & ~kOwnFacts; left != 0; left &= left - 1) {
    const auto fact = static_cast<Fact>(__builtin_ctz(left));
    const Ref ref = keep(fact, event.text(field_of(event, fact)), first, last);
    if (ref == 0) return false;
    out.facts[out.shape->slots[static_cast<std::size_t>(fact)]] = ref;
  }
  if (!keep_own_facts(event, number, first, last, out)) return false;
  if (const Shape* const pattern = pattern_of(event, out); pattern != nullptr) {
    out.shape = likely = pattern;
  }
  return true;
}

bool RecordStore::keep_own_facts(const Event& event, std::int64_t number, const EventRecord* first,
                                 const EventRecord* last, EventRecord& out) {
  for (std::uint32_t left = out.shape->facts & kOwnFacts; left != 0; left &= left - 1) {
    const auto fact = static_cast<Fact>(__builtin_ctz(left));
    Ref& ref = out.facts[out.shape->slots[static_cast<std::size_t>(fact)]];
    if (fact == Fact::kNumberLow || fact == Fact::kNumberHigh) {
      const auto bits = static_cast<std::uint64_t>(number);
      ref = static_cast<Ref>(fact == Fact::kNumberLow ? bits : bits >> 32U);
      continue;
    }
    ref = fact == Fact::kFurtherResources
              ? keep(fact, list_text(event.further_resources), first, last)
              : keep(fact, event.text(field_of(event, fact)), first, last);
    if (ref == 0) return false;
  }
  return true;
}

}  // namespace remit::grading
