// Invocations that leave memory for the scratch file and come back, a part of them at a time.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "grading/record_store.h"

namespace remit::grading {
namespace {

/// The fixed part of a record, without `next`, the fields of its shape instead of the shape.
struct FixedPart {
  std::array<std::byte, offsetof(EventRecord, facts) - sizeof(Ref)> words;
  static constexpr std::size_t kShape = offsetof(EventRecord, shape) - sizeof(Ref);
  static_assert(offsetof(EventRecord, next) == 0);

  static FixedPart of(const EventRecord& event) {
    FixedPart out;
    std::memcpy(out.words.data(), reinterpret_cast<const std::byte*>(&event) + sizeof(Ref),
                sizeof out.words);
    std::memcpy(out.words.data() + kShape, &event.shape->fields, sizeof event.shape->fields);
    return out;
  }
  /// Everything but `next`, `shape` and the facts; returns the fields.
  std::uint64_t put_into(EventRecord& event) const {
    std::memcpy(reinterpret_cast<std::byte*>(&event) + sizeof(Ref), words.data(), sizeof words);
    event.shape = nullptr;
    std::uint64_t fields = 0;
    std::memcpy(&fields, words.data() + kShape, sizeof fields);
    return fields;
  }
};
static_assert(sizeof(Shape::fields) == sizeof(const Shape*));

/// What stands in front of each event of a fragment.
enum class Mark : std::uint8_t { kEnd, kPlain, kPattern };

constexpr std::uint32_t kNumbers = bit(Fact::kNumberLow) | bit(Fact::kNumberHigh);
/// One of these fits into a byte, beside 0 for a text that is new.
constexpr std::size_t kTextsBack = 255;

/// Whether nothing more is to be expected of an invocation whose last event is this.
bool is_at_rest(const EventRecord& last) {
  return last.kind == event::EventKind::kExecutorFinish ||
         last.kind == event::EventKind::kPermitUnspent || last.decision == DecisionWord::kDeny;
}

constexpr std::size_t kFewKeys = 1024;
/// Memory is sent for that many invocations before it is read: they came in about this order.
constexpr std::size_t kAhead = 8;

}  // namespace

// The texts of a fragment that were written lately, so that one which recurs is written once. A
// text that gave its place to another, or is too far back, is written again.
class RecordStore::WrittenTexts {
 public:
  void begin_fragment() { begin_ = count_; }
  /// 0 for a text that is to be written; else how many texts ago it was, from 1 on.
  std::uint8_t distance(Ref ref) {
    Entry& entry = entries_[ref * 0x9e3779b9U >> 25U];
    const std::size_t back = count_ - entry.number;
    if (entry.ref == ref && entry.number >= begin_ && back <= kTextsBack) {
      return static_cast<std::uint8_t>(back);
    }
    entry = {ref, count_++};
    return 0;
  }

 private:
  struct Entry {
    Ref ref = 0;
    std::size_t number = 0;
  };
  std::array<Entry, 128> entries_{};
  std::size_t count_ = 0;
  std::size_t begin_ = 0;  // the number of the fragment's first text
};

struct RecordStore::ReadTexts {
  std::array<Ref, kTextsBack + 1> texts;
  std::size_t count = 0;

  [[nodiscard]] Ref at(std::size_t distance) const {
    return texts[(count - distance) % texts.size()];
  }
  void add(Ref ref) { texts[count++ % texts.size()] = ref; }
};

// A fragment: the id, then the events, each behind its mark, then the mark of the end. An event of
// a pattern is the pattern's reference, which lasts, and what it has of its own: line, number,
// place and facts. Any other is its fixed part and all its facts.
void RecordStore::encode(const Invocation& call, WrittenTexts& texts, FragmentBytes& out) const {
  FragmentWriter writer(out);
  texts.begin_fragment();
  writer.text(text(call.id));
  for (Ref ref = call.first; ref != 0; ref = record(ref).next) {
    const EventRecord& event = record(ref);
    std::uint32_t facts = event.shape->facts;
    if (event.shape->prototype != nullptr) {
      writer.values(Mark::kPattern, event.shape->ref, event.line, event.seq, event.place);
      facts &= kOwnFacts;
    } else {
      writer.value(Mark::kPlain);
      writer.value(FixedPart::of(event));
    }
    for (std::uint32_t left = facts; left != 0; left &= left - 1) {
      const Ref fact =
          event.facts[event.shape->slots[static_cast<unsigned>(std::countr_zero(left))]];
      if ((left & (~left + 1) & kNumbers) != 0) {
        writer.value(fact);
        continue;
      }
      const std::uint8_t distance = texts.distance(fact);
      writer.value(distance);
      if (distance == 0) writer.text(text(fact));
    }
  }
  writer.value(Mark::kEnd);
}

// Puts a fragment behind what is in memory of its invocation; false if there is no room.
bool RecordStore::restore(const FragmentHead& head, std::string_view bytes) {
  FragmentReader in(bytes);
  const std::uint32_t index = invocation_of(in.text(), head.id_hash);
  if (index == kNone) return false;
  Invocation& call = invocations_[index];
  call.stage = call.first == 0 ? head.stage : Stage::kOdd;
  call.has_route |= head.has_route;
  ReadTexts texts;
  for (Mark mark = in.value<Mark>(); mark != Mark::kEnd; mark = in.value<Mark>()) {
    EventRecord event;
    std::uint32_t facts = 0;
    if (mark == Mark::kPattern) {
      const Shape& pattern = *reinterpret_cast<const Shape*>(arena_.at(in.value<Ref>()));
      event = *pattern.prototype;
      event.line = in.value<LineSpan>();
      event.seq = in.value<std::int64_t>();
      event.place = in.value<std::uint64_t>();
      facts = pattern.facts & kOwnFacts;
    } else {
      const std::uint64_t fields = in.value<FixedPart>().put_into(event);
      event.shape = shape_of(event.kind, fields);
      if (event.shape == nullptr) return false;
      facts = event.shape->facts;
    }
    if (!restore_facts(in, texts, facts, event) || !restore_event(event, call)) return false;
  }
  return true;
}

bool RecordStore::restore_facts(FragmentReader& in, ReadTexts& texts, std::uint32_t facts,
                                EventRecord& event) {
  for (std::uint32_t left = facts; left != 0; left &= left - 1) {
    Ref& fact = event.facts[event.shape->slots[static_cast<unsigned>(std::countr_zero(left))]];
    if ((left & (~left + 1) & kNumbers) != 0) {
      fact = in.value<Ref>();
      continue;
    }
    if (const auto distance = in.value<std::uint8_t>(); distance != 0) {
      fact = texts.at(distance);
      continue;
    }
    const std::string_view text = in.text();
    const bool is_shared = is_interned(static_cast<Fact>(std::countr_zero(left)));
    fact = is_shared ? texts_.intern(text) : arena_.keep(text);
    if (fact == 0) return false;
    texts.add(fact);
  }
  return true;
}

bool RecordStore::restore_event(const EventRecord& event, Invocation& call) {
  const Ref ref = arena_.allocate(event.kept_bytes());
  if (ref == 0) return false;
  event.copy_kept(arena_.at(ref));
  if (call.first == 0) {
    call.first = ref;
  } else {
    std::memcpy(arena_.at(call.last), &ref, sizeof ref);  // its `next`
  }
  call.last = ref;
  return true;
}

// The texts that the store itself refers to, whatever invocations are in memory.
template <class Visit>
void RecordStore::for_each_lasting_text(const Visit& visit) {
  for (Ref& reason : reasons_) visit(reason);
  for (WriterLog& log : writers_) log.for_each_text(visit);
}

// Empties memory but for what stands below `top` in the arena.
void RecordStore::forget(std::size_t top) {
  arena_.rewind(top);
  texts_.forget_from(top);
  invocations_.clear();
  std::fill(index_.begin(), index_.end(), 0);
  recent_.fill(0);
  std::erase_if(shapes_, [](const auto& one) { return !Arena::is_lasting(one.second->ref); });
  recent_shapes_.fill(nullptr);
  recent_facts_.fill(0);
  recent_route_ = 0;
  kind_numbers_.clear();
}

std::optional<PlainCall> RecordStore::plain_call(const Invocation& call) const {
  if (call.stage != Stage::kFinished && call.stage != Stage::kDenied) return std::nullopt;
  const EventRecord& request = record(call.first);
  const Ref route = request.fact(Fact::kRoute);
  if (call.has_route && route == 0) return std::nullopt;
  return PlainCall{call.stage, request.fact(Fact::kTool), route};
}

FragmentHead RecordStore::head_of(const Invocation& call, std::size_t bytes) {
  return {call.id_hash, static_cast<std::uint32_t>(bytes), call.stage, call.has_route,
          kind_of(call)};
}

std::uint16_t RecordStore::kind_of(const Invocation& call) {
  const std::optional<PlainCall> plain = plain_call(call);
  if (!plain) return FragmentHead::kNoKind;
  const auto [known, is_new] = kind_numbers_.try_emplace(
      std::uint64_t{plain->tool} << 32U | plain->route, FragmentHead::kNoKind);
  if (!is_new) return known->second;
  std::pair<std::string, std::string> texts(text(plain->tool), text(plain->route));
  auto found = kinds_.find(texts);
  if (found == kinds_.end()) {
    if (kinds_.size() == FragmentHead::kNoKind) return FragmentHead::kNoKind;
    const auto number = static_cast<std::uint16_t>(kinds_.size());
    found = kinds_.emplace(std::move(texts), number).first;
    kind_texts_.emplace_back(found->first.first, found->first.second);
  }
  return known->second = found->second;
}

Status RecordStore::evict(Staying staying) {
  std::vector<std::uint32_t> leaving;
  FragmentBytes stayed;  // fragments of those that stay
  WrittenTexts texts;
  std::vector<FragmentHead> heads;
  for (std::uint32_t i = 0; i < invocations_.size(); ++i) {
    const Invocation& call = invocations_[i];
    if (staying == Staying::kNone || is_at_rest(record(call.last))) {
      leaving.push_back(i);
      continue;
    }
    const std::size_t before = stayed.size();
    encode(call, texts, stayed);
    heads.push_back(head_of(call, stayed.size() - before));
    if (stayed.size() > room_.memory_bytes / 8) return evict(Staying::kNone);
  }
  REMIT_TRY(write_out(leaving));
  REMIT_TRY(write_other_events());
  std::vector<std::string> lasting;
  for_each_lasting_text([&](Ref& ref) {
    lasting.emplace_back(text(ref));
    ref = static_cast<Ref>(lasting.size() - 1);
  });
  forget(Arena::kEmptyTop);
  for_each_lasting_text([&](Ref& ref) { ref = texts_.intern(lasting[ref]); });
  std::string_view bytes = stayed.view();
  for (const FragmentHead& head : heads) {
    if (!restore(head, bytes)) return no_room();
    bytes.remove_prefix(head.bytes);
  }
  // Where what has to stay fills the room, it is not moved again for every event.
  limit_ = std::max(open_bytes(), 2 * memory_in_use());
  return {};
}

// They are encoded in the order of memory, and each goes to its partition's share. Shares wait
// until they are worth writing: few large ones are found and read sooner than many small ones.
Status RecordStore::write_out(const std::vector<std::uint32_t>& leaving) {
  WrittenTexts texts;
  Ref sent_for = static_cast<Ref>(Arena::kEmptyTop);
  for (std::size_t k = 0; k < leaving.size(); ++k) {
    const Invocation& call = invocations_[leaving[k]];
    const Invocation& later = invocations_[leaving[std::min(k + kAhead, leaving.size() - 1)]];
    sent_for = arena_.send_for(sent_for, later.last);
    Share& share = shares_[Spill::partition_of(call.id_hash)];
    const std::size_t before = share.bytes.size();
    encode(call, texts, share.bytes);
    const std::size_t size = share.bytes.size() - before;
    share.heads.push_back(head_of(call, size));
    shares_bytes_ += size;
    if (shares_bytes_ >= room_.memory_bytes / kSharesShare) REMIT_TRY(write_shares());
  }
  return {};
}

Status RecordStore::write_shares() {
  shares_bytes_ = 0;
  for (std::size_t partition = 0; partition < shares_.size(); ++partition) {
    Share& share = shares_[partition];
    if (share.heads.empty()) continue;
    REMIT_TRY(spill_.write(partition, share.heads, share.bytes.view()));
    share.heads.clear();
    share.bytes.clear();
  }
  return {};
}

// Those of logs that have many; they are wanted only if the log has to be counted again.
Status RecordStore::write_other_events() {
  for (std::uint32_t writer = 0; writer < writers_.size(); ++writer) {
    std::vector<OrderKey>& keys = writers_[writer].other_events;
    if (keys.size() < kFewKeys) continue;
    const std::span<const std::byte> bytes = std::as_bytes(std::span{keys});
    REMIT_TRY_ASSIGN(const Spill::Extent extent,
                     spill_.put({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    other_events_.emplace_back(writer, extent);
    keys.clear();
  }
  return {};
}

Status RecordStore::for_each_other_event(
    const std::function<void(std::uint32_t, OrderKey)>& visit) {
  std::string bytes;
  for (const auto& [writer, extent] : other_events_) {
    REMIT_TRY(spill_.read_fragments(extent, bytes));
    OrderKey key;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof key) {
      std::memcpy(&key, bytes.data() + at, sizeof key);
      visit(writer, key);
    }
  }
  for (std::uint32_t writer = 0; writer < writers_.size(); ++writer) {
    for (const OrderKey key : writers_[writer].other_events) visit(writer, key);
  }
  return {};
}

// The hashes of ids that have more than one fragment in a partition, sorted. Hardly any has, so
// they are put into a table of twice as many slots to find those, not sorted.
Result<std::vector<std::uint64_t>> RecordStore::split_ids(std::span<const Spill::Extent> extents) {
  std::uint64_t count = 0;
  for (const Spill::Extent& extent : extents) count += extent.heads;
  std::vector<std::uint64_t> seen(std::bit_ceil(2 * count + 1));
  std::vector<std::uint64_t> split;
  std::vector<FragmentHead> heads;
  for (const Spill::Extent& extent : extents) {
    REMIT_TRY(spill_.read_heads(extent, heads));
    for (const FragmentHead& head : heads) {
      std::size_t at = head.id_hash >> 32U;  // the other half is much the same in a partition
      while (seen[at & (seen.size() - 1)] != 0 && seen[at & (seen.size() - 1)] != head.id_hash)
        ++at;
      std::uint64_t& slot = seen[at & (seen.size() - 1)];
      if (slot != 0) split.push_back(head.id_hash);
      slot = head.id_hash;
    }
  }
  std::sort(split.begin(), split.end());
  split.erase(std::unique(split.begin(), split.end()), split.end());
  return split;
}

Result<bool> RecordStore::has_split_ids() {
  for (std::size_t partition = 0; partition < Spill::kPartitions; ++partition) {
    REMIT_TRY_ASSIGN(const std::vector<Spill::Extent> extents, spill_.extents(partition));
    REMIT_TRY_ASSIGN(const std::vector<std::uint64_t> split, split_ids(extents));
    if (!split.empty()) return true;
  }
  return false;
}

Status RecordStore::for_each_part(const Take& take, const std::function<Status()>& visit) {
  if (spill_.is_empty()) return visit();
  std::vector<PlainCall> kinds;  // their references last as long as this
  for (const auto& [tool, route] : kind_texts_) {
    kinds.push_back({Stage::kFinished, texts_.intern(tool), texts_.intern(route)});
  }
  const std::size_t top = arena_.top();
  const std::size_t room = std::max<std::size_t>(room_.memory_bytes / 8, kLeastPart);
  for (std::size_t partition = 0; partition < Spill::kPartitions; ++partition) {
    REMIT_TRY_ASSIGN(const std::vector<Spill::Extent> extents, spill_.extents(partition));
    std::uint64_t bytes = 0;
    for (const Spill::Extent& extent : extents) bytes += extent.bytes;
    if (bytes == 0) continue;
    REMIT_TRY_ASSIGN(const std::vector<std::uint64_t> split, split_ids(extents));
    // In memory fragments take some more than on disk.
    Part part{extents, 0, std::bit_ceil(2 * bytes / room + 1), split, kinds};
    for (; part.number < part.count; ++part.number) {
      REMIT_TRY(load(part, take));
      if (!invocations_.empty()) REMIT_TRY(visit());
      forget(top);
    }
  }
  return {};
}

// Reads those fragments that belong to a part and are not taken.
Status RecordStore::load(const Part& part, const Take& take) {
  std::vector<FragmentHead> heads;
  std::vector<bool> is_wanted;
  std::string bytes;
  for (const Spill::Extent& extent : part.extents) {
    REMIT_TRY(spill_.read_heads(extent, heads));
    is_wanted.assign(heads.size(), false);
    bool is_any_wanted = false;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const FragmentHead& head = heads[i];
      if ((head.id_hash / Spill::kPartitions) % part.count != part.number) continue;
      const bool is_whole = !std::binary_search(part.split.begin(), part.split.end(), head.id_hash);
      bool is_dealt_with = false;
      if (is_whole && head.kind != FragmentHead::kNoKind) {
        const PlainCall& kind = part.kinds[head.kind];
        is_dealt_with = take({head.stage, kind.tool, kind.route});
      }
      is_wanted[i] = !is_dealt_with;
      is_any_wanted |= is_wanted[i];
    }
    if (!is_any_wanted) continue;
    REMIT_TRY(spill_.read_fragments(extent, bytes));
    std::string_view left = bytes;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (is_wanted[i] && !restore(heads[i], left)) return no_room();
      left.remove_prefix(heads[i].bytes);
    }
  }
  return {};
}

}  // namespace remit::grading
