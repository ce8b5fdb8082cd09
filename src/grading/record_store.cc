// From events to records: who wrote it, has it come before, which invocation, what to remember.
#include "grading/record_store.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <tuple>

namespace remit::grading {
namespace {

using event::Event;
using event::EventKind;
using event::Field;

struct FactField {
  Fact fact;
  Field field;
};
constexpr FactField kFactFields[] = {
    {Fact::kTool, Field::kTool},
    {Fact::kRoute, Field::kRoute},
    {Fact::kRunId, Field::kRunId},
    {Fact::kCaseId, Field::kCaseId},
    {Fact::kResourceType, Field::kResourceType},
    {Fact::kReason, Field::kReason},
    {Fact::kPolicyVersion, Field::kPolicyVersion},
    {Fact::kPolicyDigest, Field::kPolicyDigest},
    {Fact::kResourceId, Field::kResourceId},
    {Fact::kArgsDigest, Field::kArgsDigest},
    {Fact::kDecisionId, Field::kDecisionId},
};

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
  return word.empty() ? OutcomeWord::kAbsent : OutcomeWord::kOther;
}

}  // namespace

RecordStore::RecordStore(std::uint64_t seed)
    : texts_(arena_, seed),
      seed_(seed),
      index_(1024),
      named_(16, TextHash{seed}),
      anonymous_(16, TextHash{seed}) {}

bool RecordStore::begin_source(std::string_view input, std::string_view source) {
  if (sources_.size() >= kMaxTraceSources) return false;
  if (input != input_ || sources_.empty()) source_writer_ = kNone;
  input_ = input;
  sources_.emplace_back(source);
  return true;
}

bool RecordStore::add(const Event& event, const trace::Line& line) {
  const std::uint64_t place = this->place(line.offset);
  const std::uint32_t writer = writer_of(event);
  const bool is_numbered = event.has(Field::kSeq);
  std::uint64_t hash = 0;
  if (is_numbered) {
    std::string_view text = line.text;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    hash = hash_text(text, seed_);
    if (check_repeat(writer, event, place, hash) == Repetition::kRepeated) return true;
    writers_[writer].last_seq = event.integer(Field::kSeq);
  }
  ++kind_counts_[static_cast<std::size_t>(event.kind)];
  population_.ignored_fields += event.ignored_fields;
  std::uint32_t invocation = RecentLines::kNoInvocation;
  if (event::is_call_event(event.kind)) {
    ++population_.events;
    invocation = invocation_of(event.text(Field::kInvocationId));
    if (invocation == kNone || !append(invocation, writer, event, place)) return false;
  } else {
    ++(event.kind == EventKind::kExtension ? population_.ignored_events : population_.events);
    declare(writers_[writer], event, place);
  }
  if (is_numbered) writers_[writer].recent.put(event.integer(Field::kSeq), hash, invocation);
  return !texts_.is_full();
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
                                                  std::uint64_t place, std::uint64_t hash) {
  WriterLog& log = writers_[writer];
  const std::int64_t seq = event.integer(Field::kSeq);
  if (log.numbers.add(seq)) return Repetition::kFresh;
  const RecentLines::Entry* first = log.recent.find(seq);
  if (first != nullptr && first->hash == hash) {
    ++population_.repeats;
    return Repetition::kRepeated;
  }
  Repeat repeat;
  repeat.writer = writer;
  repeat.seq = seq;
  repeat.place = place;
  repeat.is_verified = first != nullptr;
  repeat.invocation = first != nullptr ? first->invocation : RecentLines::kNoInvocation;
  if (first == nullptr) repeat.invocation_id = texts_.intern(event.text(Field::kInvocationId));
  repeats_.push_back(repeat);
  return Repetition::kRepeated;
}

std::uint32_t RecordStore::find(std::string_view id) const {
  const std::uint64_t high = hash_text(id, seed_) >> 32U;
  for (std::size_t at = high;; ++at) {
    const std::uint64_t slot = index_[at & (index_.size() - 1)];
    if (slot == 0) return kNone;
    const auto index = static_cast<std::uint32_t>(slot) - 1;
    if (slot >> 32U == high && arena_.text(invocations_[index].id) == id) return index;
  }
}

std::uint32_t RecordStore::invocation_of(std::string_view id) {
  if (latest_ != kNone && arena_.text(invocations_[latest_].id) == id) return latest_;
  latest_ = find(id);
  if (latest_ != kNone) return latest_;
  const Ref kept = arena_.keep(id);
  if (kept == 0 || invocations_.size() >= kNone - 1) return kNone;
  latest_ = static_cast<std::uint32_t>(invocations_.size());
  invocations_.push_back({kept, 0, 0, 0});
  if (invocations_.size() * 2 > index_.size()) grow_index();
  std::size_t at = hash_text(id, seed_) >> 32U;
  const std::uint64_t slot = (static_cast<std::uint64_t>(at) << 32U) | (latest_ + 1);
  while (index_[at & (index_.size() - 1)] != 0) ++at;
  index_[at & (index_.size() - 1)] = slot;
  return latest_;
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

// A fact that the last event of the invocation, or the last event at all, had as well is not kept
// again.
Ref RecordStore::keep(Fact fact, std::string_view text, const EventRecord* last) {
  if (last != nullptr) {
    const Ref before = last->fact(fact);
    if (before != 0 && arena_.text(before) == text) return before;
  }
  if (fact >= Fact::kFirstOwn) return arena_.keep(text);
  Ref& recent = recent_facts_[static_cast<std::size_t>(fact)];
  if (arena_.text(recent) != text) recent = texts_.intern(text);
  return recent;
}

bool RecordStore::append(std::uint32_t invocation, std::uint32_t writer, const Event& event,
                         std::uint64_t place) {
  Invocation& chain = invocations_[invocation];
  const EventRecord* last = chain.last == 0 ? nullptr : &record(chain.last);
  std::array<Ref, kFactCount> facts;
  std::size_t count = 0;
  EventRecord out;
  const auto add_fact = [&](Fact fact, std::string_view text) {
    if (text.empty()) return true;
    facts[count] = keep(fact, text, last);
    out.facts = static_cast<std::uint16_t>(out.facts | (1U << static_cast<unsigned>(fact)));
    return facts[count++] != 0;
  };
  out.kind = event.kind;
  std::string_view odd_word;
  if (event.kind == EventKind::kAuthorizationDecision) {
    out.decision = decision_of(event);
    if (out.decision == DecisionWord::kOther) odd_word = event.text(Field::kDecision);
  } else if (event.kind == EventKind::kExecutorFinish) {
    out.outcome = outcome_of(event);
    if (out.outcome == OutcomeWord::kOther) odd_word = event.text(Field::kOutcome);
  } else if (event.kind == EventKind::kEffectObserved) {
    out.effects = event.has(Field::kEffects) ? event.integer(Field::kEffects) : 1;
  }
  for (const FactField& one : kFactFields) {
    if (one.fact == Fact::kResourceId && !add_fact(Fact::kWord, odd_word)) return false;
    if (!add_fact(one.fact, event.text(one.field))) return false;
  }
  out.writer = writer;
  out.is_numbered = event.has(Field::kSeq);
  const WriterLog& log = writers_[writer];
  out.seq = out.is_numbered ? event.integer(Field::kSeq) : log.last_seq;
  out.place = place;
  const Ref ref = arena_.allocate(sizeof(EventRecord) + count * sizeof(Ref));
  if (ref == 0) return false;
  char* memory = arena_.at(ref);
  new (memory) EventRecord(out);
  std::memcpy(memory + sizeof(EventRecord), facts.data(), count * sizeof(Ref));
  if (chain.last == 0) {
    chain.first = ref;
  } else {
    reinterpret_cast<EventRecord*>(arena_.at(chain.last))->next = ref;
  }
  chain.last = ref;
  ++chain.count;
  return true;
}

// What an event that belongs to no invocation says of its writer or run.
void RecordStore::declare(WriterLog& log, const Event& event, std::uint64_t place) {
  const bool is_numbered = event.has(Field::kSeq);
  const OrderKey key = log.key_of(is_numbered, event.integer(Field::kSeq), place);
  const auto stated = [&](Field field) {
    return event.has(field) ? std::optional(event.integer(field)) : std::nullopt;
  };
  log.other_events.push_back(key);
  if (event.kind == EventKind::kPolicyPublished) {
    log.publications.push_back({key, texts_.intern(event.text(Field::kPolicyVersion)),
                                texts_.intern(event.text(Field::kPolicyDigest))});
  } else if (event.kind == EventKind::kEvidenceLost) {
    log.admissions.push_back({key, place, is_numbered, stated(Field::kEvents).value_or(-1),
                              texts_.intern(event.text(Field::kCause))});
  } else if (event.kind == EventKind::kRunFinished) {
    RunFinished finished;
    finished.key = key;
    finished.place = place;
    finished.is_numbered = is_numbered;
    finished.run_id = texts_.intern(event.text(Field::kRunId));
    finished.source = texts_.intern(event.text(Field::kSource));
    finished.invocations = stated(Field::kInvocations);
    finished.events = stated(Field::kEvents);
    log.finished.push_back(finished);
  }
}

Position RecordStore::position(std::uint32_t writer, bool is_numbered, std::int64_t seq,
                               std::uint64_t place) const {
  const WriterLog& log = writers_[writer];
  if (is_numbered && !log.is_anonymous) {
    return {log.name, static_cast<std::uint64_t>(seq), true};
  }
  return unwritten_position(place);
}

Position RecordStore::unwritten_position(std::uint64_t place) const {
  return {sources_[Place::source(place)], Place::offset(place), false};
}

void RecordStore::settle() {
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
    std::sort(log.finished.begin(), log.finished.end(), by_key);
    std::sort(log.admissions.begin(), log.admissions.end(), by_key);
  }
  count_before_finishes();
  for (WriterLog& log : writers_) find_losses(log);
  for (Repeat& repeat : repeats_) {
    if (repeat.invocation == RecentLines::kNoInvocation) repeat.invocation = kNone;
    if (repeat.invocation_id != 0) repeat.invocation = find(text(repeat.invocation_id));
  }
  std::sort(repeats_.begin(), repeats_.end(), [](const Repeat& left, const Repeat& right) {
    return std::tie(left.invocation, left.writer, left.seq, left.place) <
           std::tie(right.invocation, right.writer, right.seq, right.place);
  });
  population_.invocations = invocations_.size();
}

// How many events and invocations of its writer were seen before each `run.finished` that says how
// many there were (REQ-GR-074).
void RecordStore::count_before_finishes() {
  const auto states_counts = [](const WriterLog& log) {
    return std::any_of(log.finished.begin(), log.finished.end(), [](const RunFinished& one) {
      return one.events.has_value() || one.invocations.has_value();
    });
  };
  std::vector<bool> wanted(writers_.size());
  for (std::size_t i = 0; i < writers_.size(); ++i) wanted[i] = states_counts(writers_[i]);
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;
  const auto first_after = [](WriterLog& log, OrderKey key) {
    return std::upper_bound(log.finished.begin(), log.finished.end(), key,
                            [](OrderKey k, const RunFinished& one) { return k < one.key; });
  };
  std::vector<std::pair<std::uint32_t, OrderKey>> firsts;  // of one invocation, by writer
  for (const Invocation& invocation : invocations_) {
    firsts.clear();
    for (Ref ref = invocation.first; ref != 0; ref = record(ref).next) {
      const EventRecord& event = record(ref);
      if (!wanted[event.writer]) continue;
      WriterLog& log = writers_[event.writer];
      if (const auto at = first_after(log, event.key()); at != log.finished.end()) {
        ++at->seen_events;
      }
      const auto same = std::find_if(firsts.begin(), firsts.end(), [&](const auto& first) {
        return first.first == event.writer;
      });
      if (same == firsts.end()) {
        firsts.emplace_back(event.writer, event.key());
      } else {
        same->second = std::min(same->second, event.key());
      }
    }
    for (const auto& [writer, key] : firsts) {
      WriterLog& log = writers_[writer];
      if (const auto at = first_after(log, key); at != log.finished.end()) ++at->seen_invocations;
    }
  }
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    if (!wanted[i]) continue;
    WriterLog& log = writers_[i];
    for (const OrderKey key : log.other_events) {
      if (const auto at = first_after(log, key); at != log.finished.end()) ++at->seen_events;
    }
    for (std::size_t k = 1; k < log.finished.size(); ++k) {
      log.finished[k].seen_events += log.finished[k - 1].seen_events;
      log.finished[k].seen_invocations += log.finished[k - 1].seen_invocations;
    }
  }
}

void RecordStore::find_losses(WriterLog& log) const {
  std::int64_t expected = 1;
  for (const NumberSet::Range& range : log.numbers.ranges()) {
    if (range.first > expected) log.losses.push_back({{expected - 1, ~0ULL}, {range.first, 0}});
    expected = range.last + 1;
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
