// From events to records: who wrote it, has it come before, which invocation, what to remember.
#include "grading/record_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "grading/state_names.h"

namespace remit::grading {

using event::Event;
using event::EventKind;
using event::Field;

RecordStore::RecordStore(StoreRoom room, std::uint64_t seed)
    : room_(std::move(room)),
      spill_(room_.files, {room_.memory_bytes / 4 * 3, room_.scratch_directories}, seed),
      arena_(std::min(room_.memory_bytes / kLastingShare, Arena::kChunkBytes)),
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
  limit_ = open_bytes();
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
  const std::string_view text = without_return(line.text);
  const LineSpan span = span_of(line);
  const bool is_call = event::is_call_event(event.kind);
  std::uint64_t id_hash = 0;
  if (is_call) {
    id_hash = line.hashes.id != 0 ? line.hashes.id : hash_of_id(event.text(Field::kInvocationId));
  }
  const std::uint32_t writer = writer_of(event);
  const bool is_numbered = event.has(Field::kSeq);
  std::uint64_t hash = 0;
  if (is_numbered) {
    hash = line.hashes.text != 0 ? line.hashes.text : hash_text(text, seed_);
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
  out.copy_kept(arena_.at(ref));
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
    log.approvals.push_back({key, texts_.intern(event.text(Field::kApprovalId)),
                             approval_state_of(event.text(Field::kApprovalState))});
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
  if (!spill_.is_empty() || shares_bytes_ > 0) {
    REMIT_TRY(evict(Staying::kNone));
    REMIT_TRY(write_shares());
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
