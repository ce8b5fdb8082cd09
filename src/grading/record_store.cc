// From events to records: who wrote it, has it come before, which invocation, what to remember.
#include "grading/record_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <tuple>

#include "event/names.h"
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

/// A word of a closed set, which the decoder has checked, as its enumerator.
template <class Word, std::size_t kCount>
Word word_of(const std::array<std::string_view, kCount>& words, std::string_view text) {
  if (text.empty()) return Word{};
  const auto found = std::find(words.begin(), words.end(), text);
  return found == words.end() ? Word{} : static_cast<Word>(found - words.begin() + 1);
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

RecordStore::RecordStore(StoreRoom room, std::uint64_t seed)
    : room_(std::move(room)),
      spill_(room_.files, room_.scratch_directories, seed),
      texts_(arena_, seed),
      seed_(seed),
      index_(1024),
      named_(16, TextHash{seed}),
      anonymous_(16, TextHash{seed}),
      shapes_(64, ShapeHash{seed}) {
  for (std::size_t i = 0; i < reasons_.size(); ++i) {
    reasons_[i] = texts_.intern(access::reason_name(static_cast<access::ReasonCode>(i)));
  }
  first_bytes_ = memory_in_use();
  limit_ = room_.memory_bytes;
}

std::optional<access::ReasonCode> RecordStore::reason(Ref text) const {
  const auto found = std::find(reasons_.begin(), reasons_.end(), text);
  if (found == reasons_.end()) return std::nullopt;
  return static_cast<access::ReasonCode>(found - reasons_.begin());
}

bool RecordStore::begin_source(std::string_view input, std::string_view source) {
  if (sources_.size() >= kMaxTraceSources) return false;
  if (input != input_ || sources_.empty()) source_writer_ = kNone;
  input_ = input;
  sources_.emplace_back(source);
  return true;
}

Status RecordStore::add(const Event& event, const trace::Line& line) {
  const std::uint64_t place = this->place(line.offset);
  std::string_view text = line.text;
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  const LineSpan span = LineSpan::of(line.number, text.size());
  const bool is_call = event::is_call_event(event.kind);
  std::uint64_t id_hash = 0;
  if (is_call) {
    // The index is larger than the processor's caches: what is needed of it is sent for early.
    id_hash = hash_of_id(event.text(Field::kInvocationId));
    __builtin_prefetch(&index_[(id_hash >> 32U) & (index_.size() - 1)]);
  }
  const std::uint32_t writer = writer_of(event);
  const bool is_numbered = event.has(Field::kSeq);
  std::uint64_t hash = 0;
  if (is_numbered) {
    hash = hash_text(text, seed_);
    if (check_repeat(writer, event, place, span, hash) == Repetition::kRepeated) return {};
    writers_[writer].last_seq = event.integer(Field::kSeq);
  }
  ++kind_counts_[static_cast<std::size_t>(event.kind)];
  population_.ignored_fields += event.ignored_fields;
  bool has_room = true;
  if (is_call) {
    ++population_.events;
    const std::uint32_t invocation = invocation_of(event.text(Field::kInvocationId), id_hash);
    has_room = invocation != kNone && append(invocation, writer, event, place, span);
  } else {
    ++(event.kind == EventKind::kExtension ? population_.ignored_events : population_.events);
    declare(writers_[writer], event, place, span);
  }
  if (is_numbered) writers_[writer].recent.put(event.integer(Field::kSeq), hash, id_hash);
  if (!has_room || texts_.is_full()) return no_room();
  return memory_in_use() <= limit_ ? Status{} : evict(Staying::kOpen);
}

Error RecordStore::no_room() {
  return Error{ErrorCode::kLimitExceeded,
               fmt::format("what belongs together does not fit into the grader's {} GiB",
                           kMaxGraderBytes >> 30U)};
}

std::uint32_t RecordStore::writer_of(const Event& event) {
  const std::string_view name = event.text(Field::kWriter);
  if (name.empty()) {
    if (source_writer_ == kNone) {
      const auto found = anonymous_.find(input_);
      source_writer_ = found != anonymous_.end() ? found->second : add_writer(input_, true);
    }
    return source_writer_;
  }
  if (latest_writer_ != kNone && writers_[latest_writer_].name == name) return latest_writer_;
  const auto found = named_.find(name);
  latest_writer_ = found != named_.end() ? found->second : add_writer(name, false);
  return latest_writer_;
}

std::uint32_t RecordStore::add_writer(std::string_view name, bool is_anonymous) {
  const auto index = static_cast<std::uint32_t>(writers_.size());
  WriterLog& log = writers_.emplace_back();
  log.name = name;
  log.is_anonymous = is_anonymous;
  (is_anonymous ? anonymous_ : named_).emplace(name, index);
  return index;
}

// Takes note of the number and says whether it came before (REQ-EV-040).
RecordStore::Repetition RecordStore::check_repeat(std::uint32_t writer, const Event& event,
                                                  std::uint64_t place, LineSpan line,
                                                  std::uint64_t hash) {
  WriterLog& log = writers_[writer];
  const std::int64_t seq = event.integer(Field::kSeq);
  if (log.numbers.add(seq)) {
    if (seq != log.last_seq + 1) {  // in order, no range begins
      if (!log.numbers.contains(seq - 1)) log.range_starts[seq] = {place, line};
      log.range_starts.erase(seq + 1);
    }
    return Repetition::kFresh;
  }
  const RecentLines::Entry* first = log.recent.find(seq);
  if (first != nullptr && first->hash == hash) {
    ++population_.repeats;
    return Repetition::kRepeated;
  }
  is_plain_ = false;
  Repeat repeat;
  repeat.writer = writer;
  repeat.seq = seq;
  repeat.place = place;
  repeat.line = line;
  repeat.is_verified = first != nullptr;
  const std::string_view id = event.text(Field::kInvocationId);
  const std::uint64_t own = id.empty() ? 0 : hash_of_id(id);
  repeat.id_hash = first != nullptr ? first->id_hash : own;
  repeats_.push_back(repeat);
  return Repetition::kRepeated;
}

std::uint64_t RecordStore::find_slot(std::string_view id, std::uint64_t high) const {
  for (std::size_t at = high;; ++at) {
    const std::uint64_t slot = index_[at & (index_.size() - 1)];
    if (slot == 0 || is_slot_of(slot, id, high)) return slot;
  }
}

std::uint32_t RecordStore::invocation_of(std::string_view id, std::uint64_t hash) {
  const std::uint64_t high = hash >> 32U;
  std::uint64_t& recent = recent_[high % recent_.size()];
  if (!is_slot_of(recent, id, high)) {
    recent = find_slot(id, high);
    if (recent == 0) recent = add_invocation(id, hash);
  }
  return static_cast<std::uint32_t>(recent) - 1;  // kNone where there is no room for it
}

// The slot of a new invocation; 0 if there is no room for it.
std::uint64_t RecordStore::add_invocation(std::string_view id, std::uint64_t hash) {
  const Ref kept = arena_.keep(id);
  if (kept == 0 || invocations_.size() >= kNone - 1) return 0;
  invocations_.push_back({hash, kept, 0, 0, Stage::kNew, false});
  if (invocations_.size() * 2 > index_.size()) grow_index();
  const std::uint64_t slot = (hash >> 32U << 32U) | invocations_.size();
  std::size_t at = hash >> 32U;
  while (index_[at & (index_.size() - 1)] != 0) ++at;
  index_[at & (index_.size() - 1)] = slot;
  return slot;
}

void RecordStore::grow_index() {
  std::vector<std::uint64_t> old(index_.size() * 2);
  old.swap(index_);
  for (const std::uint64_t slot : old) {
    if (slot == 0) continue;
    std::size_t at = slot >> 32U;
    while (index_[at & (index_.size() - 1)] != 0) ++at;
    index_[at & (index_.size() - 1)] = slot;
  }
}

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
  out.principal_state =
      word_of<PrincipalState>(event::kPrincipalStates, event.text(Field::kPrincipalState));
  out.approval_state =
      word_of<ApprovalState>(event::kApprovalStates, event.text(Field::kApprovalState));
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

bool RecordStore::append(std::uint32_t invocation, std::uint32_t writer, const Event& event,
                         std::uint64_t place, LineSpan line) {
  Invocation& chain = invocations_[invocation];
  const EventRecord* first = chain.first == 0 ? nullptr : &record(chain.first);
  const EventRecord* last = chain.last == 0 ? nullptr : &record(chain.last);
  EventRecord out;
  out.kind = event.kind;
  out.writer = writer;
  out.is_numbered = event.has(Field::kSeq);
  out.seq = out.is_numbered ? event.integer(Field::kSeq) : writers_[writer].last_seq;
  out.place = place;
  out.line = line;
  if (!keep_facts(event, first, last, out)) return false;
  const Ref ref = arena_.allocate(out.kept_bytes());
  if (ref == 0) return false;
  std::memcpy(arena_.at(ref), &out, out.kept_bytes());
  count_in_log(chain, out);
  chain.stage = next_stage(chain, last, out);
  if (last == nullptr) {
    chain.first = ref;
  } else {
    std::memcpy(arena_.at(chain.last), &ref, sizeof ref);  // its `next`
  }
  chain.last = ref;
  return true;
}

void RecordStore::note_order(WriterLog& log, OrderKey key) {
  ++log.events;
  if (key < log.latest) {
    log.needs_recount = true;
    is_plain_ = false;
  }
  log.latest = key;
}

// Takes note of an event that is about to be added to `chain`.
void RecordStore::count_in_log(Invocation& chain, const EventRecord& event) {
  WriterLog& log = writers_[event.writer];
  note_order(log, event.key());
  log.has_decided |= event.kind == EventKind::kAuthorizationDecision;
  if (chain.last == 0) {
    ++log.invocations;
  } else if (record(chain.last).writer != event.writer) {
    log.needs_recount = true;  // it may be this writer's first event of the invocation
  }
  const Ref route = event.fact(Fact::kRoute);
  if (route == 0) return;
  chain.has_route = true;
  if (route != recent_route_ && !routes_.contains(text(route))) routes_.emplace(text(route));
  recent_route_ = route;
}

Stage RecordStore::next_stage(const Invocation& chain, const EventRecord* last,
                              const EventRecord& event) const {
  const bool follows =
      last == nullptr || (last->writer == event.writer && last->key() < event.key());
  if (!follows) return Stage::kOdd;
  switch (event.kind) {
    case EventKind::kToolRequest:
      return chain.stage == Stage::kNew && event.has(Fact::kTool) ? Stage::kRequested : Stage::kOdd;
    case EventKind::kResourceResolved:
    case EventKind::kApprovalChecked:
    case EventKind::kQueueEnqueued:
    case EventKind::kQueueDequeued:
      return chain.stage == Stage::kRequested ? Stage::kRequested : Stage::kOdd;
    case EventKind::kAuthorizationDecision:
      return chain.stage == Stage::kRequested ? decided_stage(chain, event) : Stage::kOdd;
    case EventKind::kExecutorStart: {
      if (chain.stage != Stage::kAllowed) return Stage::kOdd;
      const Ref cited = event.fact(Fact::kDecisionId);
      const bool is_governed = (cited == 0 || text(cited) == text(last->fact(Fact::kDecisionId))) &&
                               applies(*last, event) && last->number() == event.number();
      return is_governed ? Stage::kStarted : Stage::kOdd;
    }
    case EventKind::kExecutorFinish: {
      const bool is_known = event.outcome == OutcomeWord::kSucceeded ||
                            event.outcome == OutcomeWord::kFailed ||
                            event.outcome == OutcomeWord::kCancelled;
      const bool is_plain = chain.stage == Stage::kStarted && is_known;
      return is_plain && are_of_one_call(*last, event) ? Stage::kFinished : Stage::kOdd;
    }
    default:
      return Stage::kOdd;
  }
}

// Whether its own record does not refuse an allow: REQ-GR-102, REQ-GR-124.
bool RecordStore::is_allowed_by_itself(const EventRecord& decision) const {
  const bool is_known = decision.principal_state == PrincipalState::kUnrecorded ||
                        decision.principal_state == PrincipalState::kAuthenticated;
  const bool is_active = decision.approval_state == ApprovalState::kUnrecorded ||
                         decision.approval_state == ApprovalState::kActive;
  return is_known && is_active;
}

// What was resolved and checked before the decision, as strictly as is quick: what fails here is
// only judged in full.
bool RecordStore::agrees_with_chain(const Invocation& chain, const EventRecord& decision) const {
  bool was_resolved = false;
  bool is_of_resolved = false;
  for (Ref ref = chain.first; ref != 0; ref = record(ref).next) {
    const EventRecord& event = record(ref);
    if (event.kind == EventKind::kApprovalChecked) {
      if (event.approval_state != ApprovalState::kActive && decision.has(Fact::kApprovalId)) {
        return false;
      }
    } else if (event.kind == EventKind::kResourceResolved) {
      const bool is_found =
          event.outcome == OutcomeWord::kFound || event.outcome == OutcomeWord::kAbsent;
      if (!is_found && decision.decision != DecisionWord::kDeny) return false;
      if (!is_found || !event.has(Fact::kResourceId) || !decision.has(Fact::kResourceId)) continue;
      was_resolved = true;
      if (!agree(event, decision, Fact::kResourceId)) continue;
      if (!agree(event, decision, Fact::kResourceType) ||
          !agree(event, decision, Fact::kResourceTenant) ||
          !agree(event, decision, Fact::kResolutionRevision)) {
        return false;
      }
      is_of_resolved = true;
    }
  }
  return is_of_resolved || !was_resolved;
}

// For that request, with a reason that fits, by the policy published last.
Stage RecordStore::decided_stage(const Invocation& chain, const EventRecord& decision) const {
  const EventRecord& request = record(chain.first);
  const bool is_for_it =
      agree(request, decision, Fact::kTool) && agree(request, decision, Fact::kArgsDigest);
  const Ref version = decision.fact(Fact::kPolicyVersion);
  if (!is_for_it || version == 0 || !agrees_with_chain(chain, decision)) return Stage::kOdd;
  const auto& publications = writers_[decision.writer].publications;
  if (!publications.empty()) {
    const Publication& in_force = publications.back();
    const Ref digest = decision.fact(Fact::kPolicyDigest);
    const bool is_same_digest = in_force.digest == 0 || digest == 0 || in_force.digest == digest;
    if (in_force.version != version || !is_same_digest) return Stage::kOdd;
  }
  const Ref word = decision.fact(Fact::kReason);
  const std::optional<access::ReasonCode> reason = this->reason(word);
  if (word != 0 && !reason) return Stage::kOdd;
  const bool says_allowed = reason == access::ReasonCode::kAllowed;
  if (decision.decision == DecisionWord::kAllow) {
    const bool is_sound = (word == 0 || says_allowed) && is_allowed_by_itself(decision);
    return is_sound ? Stage::kAllowed : Stage::kOdd;
  }
  if (decision.decision == DecisionWord::kDeny) {
    return word == 0 || says_allowed ? Stage::kOdd : Stage::kDenied;
  }
  return Stage::kOdd;
}

// What an event that belongs to no invocation says of its writer or run.
void RecordStore::declare(WriterLog& log, const Event& event, std::uint64_t place, LineSpan line) {
  const bool is_numbered = event.has(Field::kSeq);
  const OrderKey key = log.key_of(is_numbered, event.integer(Field::kSeq), place);
  const auto stated = [&](Field field) {
    return event.has(field) ? std::optional(event.integer(field)) : std::nullopt;
  };
  const std::uint64_t events_before = log.events;
  note_order(log, key);
  log.other_events.push_back(key);
  if (event.kind == EventKind::kRunStarted) {
    log.started.push_back({key, place, line, is_numbered,
                           texts_.intern(event.text(Field::kEnvironment)),
                           texts_.intern(event.text(Field::kManifestDigest))});
  } else if (event.kind == EventKind::kApprovalChanged) {
    is_plain_ = false;
    log.approvals.push_back(
        {key, texts_.intern(event.text(Field::kApprovalId)),
         word_of<ApprovalState>(event::kApprovalStates, event.text(Field::kApprovalState))});
  } else if (event.kind == EventKind::kPolicyPublished) {
    if (log.has_decided && log.publications.empty()) is_plain_ = false;
    log.publications.push_back({key, texts_.intern(event.text(Field::kPolicyVersion)),
                                texts_.intern(event.text(Field::kPolicyDigest))});
  } else if (event.kind == EventKind::kEvidenceLost) {
    log.admissions.push_back({key, place, line, is_numbered, stated(Field::kEvents).value_or(-1),
                              texts_.intern(event.text(Field::kCause))});
  } else if (event.kind == EventKind::kRunFinished) {
    RunFinished finished;
    finished.key = key;
    finished.place = place;
    finished.line = line;
    finished.is_numbered = is_numbered;
    finished.run_id = texts_.intern(event.text(Field::kRunId));
    finished.source = texts_.intern(event.text(Field::kSource));
    finished.invocations = stated(Field::kInvocations);
    finished.events = stated(Field::kEvents);
    finished.seen_invocations = log.invocations;
    finished.seen_events = events_before;
    log.finished.push_back(finished);
  }
}

Position RecordStore::position(std::uint32_t writer, bool is_numbered, std::int64_t seq,
                               std::uint64_t place, LineSpan line) const {
  Position out = unwritten_position(place, line);
  const WriterLog& log = writers_[writer];
  if (is_numbered && !log.is_anonymous) {
    out.source = log.name;
    out.at = static_cast<std::uint64_t>(seq);
    out.by_sequence = true;
  }
  return out;
}

Position RecordStore::unwritten_position(std::uint64_t place, LineSpan line) const {
  Position out;
  out.source = sources_[Place::source(place)];
  out.at = Place::offset(place);
  out.file = static_cast<std::uint32_t>(Place::source(place));
  out.offset = out.at;
  out.line = line.number;
  out.bytes = static_cast<std::uint32_t>(line.bytes);
  return out;
}

Status RecordStore::settle() {
  std::vector<std::uint32_t> order(writers_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    const auto& a = writers_[left];
    const auto& b = writers_[right];
    return std::tie(a.is_anonymous, a.name, left) < std::tie(b.is_anonymous, b.name, right);
  });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) writers_[order[rank]].rank = rank;
  const auto by_key = [](const auto& left, const auto& right) { return left.key < right.key; };
  for (WriterLog& log : writers_) {
    std::sort(log.publications.begin(), log.publications.end(), by_key);
    std::sort(log.approvals.begin(), log.approvals.end(), by_key);
    std::sort(log.finished.begin(), log.finished.end(), by_key);
    std::sort(log.admissions.begin(), log.admissions.end(), by_key);
  }
  std::sort(repeats_.begin(), repeats_.end(), [](const Repeat& left, const Repeat& right) {
    return std::tie(left.id_hash, left.writer, left.seq, left.place) <
           std::tie(right.id_hash, right.writer, right.seq, right.place);
  });
  if (!spill_.is_empty()) {
    REMIT_TRY(evict(Staying::kNone));
    REMIT_TRY(spill_.flush());
  }
  REMIT_TRY(recount_finishes());
  for (WriterLog& log : writers_) find_losses(log);
  return {};
}

std::span<const Repeat> RecordStore::repeats_of(std::uint32_t invocation) const {
  if (repeats_.empty()) return {};
  const std::uint64_t hash = invocations_[invocation].id_hash;
  const auto from = std::partition_point(repeats_.begin(), repeats_.end(),
                                         [&](const Repeat& one) { return one.id_hash < hash; });
  const auto to = std::partition_point(from, repeats_.end(),
                                       [&](const Repeat& one) { return one.id_hash == hash; });
  return {from, to};
}

void RecordStore::claim_repeats(std::uint32_t invocation) {
  for (const Repeat& one : repeats_of(invocation)) {
    repeats_[static_cast<std::size_t>(&one - repeats_.data())].is_of_call = true;
  }
}

namespace {

bool is_to_be_recounted(const WriterLog& log) {
  return log.needs_recount && !log.finished.empty();
}

RunFinished* first_after(WriterLog& log, OrderKey key) {
  const auto found =
      std::upper_bound(log.finished.begin(), log.finished.end(), key,
                       [](OrderKey value, const RunFinished& one) { return value < one.key; });
  return found == log.finished.end() ? nullptr : &*found;
}

}  // namespace

// How many events and invocations of its writer stand before each `run.finished` (REQ-GR-074), for
// the logs that could not be counted while they were read: an invocation that began anew in memory
// was counted again.
Status RecordStore::recount_finishes() {
  const auto states_calls = [](const WriterLog& log) {
    return std::any_of(log.finished.begin(), log.finished.end(),
                       [](const RunFinished& one) { return one.invocations.has_value(); });
  };
  if (std::any_of(writers_.begin(), writers_.end(), states_calls)) {
    REMIT_TRY_ASSIGN(const bool is_split, has_split_ids());
    for (WriterLog& log : writers_) log.needs_recount |= is_split;
  }
  if (std::none_of(writers_.begin(), writers_.end(), is_to_be_recounted)) return {};
  for (WriterLog& log : writers_) {
    if (!is_to_be_recounted(log)) continue;
    for (RunFinished& one : log.finished) one.seen_events = one.seen_invocations = 0;
  }
  REMIT_TRY(for_each_other_event([this](std::uint32_t writer, OrderKey key) {
    WriterLog& log = writers_[writer];
    if (!is_to_be_recounted(log)) return;
    if (RunFinished* const finish = first_after(log, key)) ++finish->seen_events;
  }));
  const auto visit = [this] {
    recount_calls();
    return Status{};
  };
  REMIT_TRY(for_each_part([](const PlainCall&) { return false; }, visit));
  for (WriterLog& log : writers_) {
    if (!is_to_be_recounted(log)) continue;
    for (std::size_t k = 1; k < log.finished.size(); ++k) {
      log.finished[k].seen_events += log.finished[k - 1].seen_events;
      log.finished[k].seen_invocations += log.finished[k - 1].seen_invocations;
    }
  }
  return {};
}

void RecordStore::recount_calls() {
  std::vector<std::pair<std::uint32_t, OrderKey>> events;  // of one invocation
  for (const Invocation& invocation : invocations_) {
    events.clear();
    for (Ref ref = invocation.first; ref != 0; ref = record(ref).next) {
      const EventRecord& event = record(ref);
      if (is_to_be_recounted(writers_[event.writer])) {
        events.emplace_back(event.writer, event.key());
      }
    }
    std::sort(events.begin(), events.end());
    for (std::size_t i = 0; i < events.size(); ++i) {
      RunFinished* const finish = first_after(writers_[events[i].first], events[i].second);
      if (finish == nullptr) continue;
      ++finish->seen_events;
      if (i == 0 || events[i - 1].first != events[i].first) ++finish->seen_invocations;
    }
  }
}

void RecordStore::find_losses(WriterLog& log) const {
  std::int64_t expected = 1;
  for (const auto& [first, last] : log.numbers.ranges()) {
    if (first > expected) log.losses.push_back({{expected - 1, ~0ULL}, {first, 0}});
    expected = last + 1;
  }
  for (const Admission& one : log.admissions) log.losses.push_back({one.key, one.key});
  for (const RunFinished& one : log.finished) {
    const auto exceeds = [](const std::optional<std::int64_t>& stated, std::uint64_t seen) {
      return stated && static_cast<std::uint64_t>(*stated) > seen;
    };
    if (exceeds(one.events, one.seen_events) || exceeds(one.invocations, one.seen_invocations)) {
      log.losses.push_back({{0, 0}, one.key});
    }
  }
  std::sort(log.losses.begin(), log.losses.end(),
            [](const Loss& left, const Loss& right) { return left.before < right.before; });
  for (std::size_t i = log.losses.size(); i-- > 1;) {
    log.losses[i - 1].after = std::min(log.losses[i - 1].after, log.losses[i].after);
  }
}

}  // namespace remit::grading
