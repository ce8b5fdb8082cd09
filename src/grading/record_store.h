// Everything that is remembered of a run while it is read: invocations, their events, the writers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/reason.h"
#include "base/file_system.h"
#include "base/limits.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "event/event.h"
#include "grading/arena.h"
#include "grading/grade.h"
#include "grading/record.h"
#include "grading/spill.h"
#include "grading/text_table.h"
#include "grading/writer_log.h"
#include "trace/event_reader.h"

namespace remit::grading {

/// One invocation: its id and the chain of its events.
struct Invocation {
  std::uint64_t id_hash = 0;
  Ref id = 0;
  Ref first = 0;
  Ref last = 0;
  Stage stage = Stage::kNew;
  bool has_route = false;
};

/// A line that came under a number already used, and was therefore not graded.
struct Repeat {
  std::uint32_t writer = 0;
  std::int64_t seq = 0;
  std::uint64_t place = 0;
  LineSpan line;
  bool is_verified = false;   ///< it differs from the first; else that is too old to compare
  bool is_of_call = false;    ///< the invocation it belongs to was met in `for_each_part`
  std::uint64_t id_hash = 0;  ///< of the first line's id; of this one's if not verified; 0 for none
};

/// An invocation that ended on the path without violations (`Stage`), and what of it decides which
/// requirements it met: what the request says of tool and route. No other event says another route.
struct PlainCall {
  Stage stage = Stage::kFinished;
  Ref tool = 0, route = 0;
};

/// How much memory the store takes, and where the rest goes.
struct StoreRoom {
  FileSystem& files;
  std::size_t memory_bytes = kGraderMemoryBytes;
  std::vector<std::string> scratch_directories = {};
};

/// Where a line stands and how long it is in its file: 0 where what is read is a translation of it.
inline LineSpan span_of(const trace::Line& line) {
  return LineSpan::of(line.number, line.is_translated ? 0 : without_return(line.text).size());
}

/// Takes events in the order of reading. Drops repeats, orders nothing, judges nothing. Invocations
/// are in memory while there is room; then those at rest are written to a scratch file, and if that
/// is not enough all of them. An invocation of which more comes begins anew in memory; its parts
/// are joined by `for_each_part`. In the steady state nothing is allocated per event. Not
/// thread-safe.
class RecordStore {
 public:
  /// The file system of `room` outlives this.
  RecordStore(StoreRoom room, std::uint64_t seed);

  /// False beyond kMaxTraceSources.
  bool begin_source(std::string_view input, std::string_view source);
  /// Errors: `limit_exceeded` where memory is full (kMaxGraderBytes), and those of the scratch
  /// file. Then the store is of no further use.
  /// The hashes of `line` are by the seed of this, or absent.
  Status add(const event::Event& event, const trace::Line& line);
  /// Has the processor fetch what is needed to find the invocation whose id has this hash
  /// (`trace::LineHashes::id`): its next event is a few events ahead.
  void expect(std::uint64_t id_hash) const {
    prefetch(&index_[(id_hash >> 32U) & (index_.size() - 1)]);
  }

  /// Ranks writers by name and finds what their logs lost. Once, after the last event. Errors as
  /// `add`.
  Status settle();

  /// Calls `visit` with every invocation in memory and whole, some of them at a time; none is in
  /// memory before and after, unless all always were. `take` is asked of plain ones in the scratch
  /// file; where it says true they are dealt with and not read. Texts
  /// that are interned between two calls of this are kept, those interned by `visit` are not.
  /// Errors: those of the scratch file. May be called again.
  Status for_each_part(const std::function<bool(const PlainCall&)>& take,
                       const std::function<Status()>& visit);
  /// Has the processor fetch the first event of an invocation in memory, if there are so many.
  void send_for(std::uint32_t invocation) const {
    if (invocation >= invocations_.size()) return;
    const char* const from = arena_.at(invocations_[invocation].first);
    prefetch(from);
    prefetch(from + offsetof(EventRecord, facts));
  }
  /// What there is to know of an invocation in memory, if it is plain.
  [[nodiscard]] std::optional<PlainCall> plain_call(const Invocation& call) const;

  /// Those in memory.
  [[nodiscard]] const std::vector<Invocation>& invocations() const { return invocations_; }
  [[nodiscard]] const std::vector<WriterLog>& writers() const { return writers_; }
  [[nodiscard]] const std::vector<Repeat>& repeats() const { return repeats_; }
  /// Those of one invocation in memory.
  [[nodiscard]] std::span<const Repeat> repeats_of(std::uint32_t invocation) const;
  /// Notes that they are the repeats of an invocation that was seen.
  void claim_repeats(std::uint32_t invocation);
  [[nodiscard]] const Population& population() const { return population_; }
  /// Number of events of a kind that were read, repeats not counted.
  [[nodiscard]] std::uint64_t count(event::EventKind kind) const {
    return kind_counts_[static_cast<std::size_t>(kind)];
  }
  /// Routes of all call events.
  [[nodiscard]] const std::set<std::string, std::less<>>& routes() const { return routes_; }
  /// Whether what Stage says holds for the run: every log was read in its order, nothing came
  /// twice, and no policy was published behind decisions.
  [[nodiscard]] bool is_plain() const { return is_plain_; }

  /// Whether two events record the same, or one of them nothing.
  [[nodiscard]] bool agree(const EventRecord& left, const EventRecord& right, Fact fact) const {
    const Ref a = left.fact(fact);
    const Ref b = right.fact(fact);
    return a == 0 || b == 0 || a == b || (!is_interned(fact) && text(a) == text(b));
  }
  /// Whether two events are of one call: same tool, action, resource and arguments, each where both
  /// record it.
  [[nodiscard]] bool are_of_one_call(const EventRecord& left, const EventRecord& right) const {
    return agree(left, right, Fact::kTool) && agree(left, right, Fact::kResourceId) &&
           agree(left, right, Fact::kResourceType) && agree(left, right, Fact::kArgsDigest) &&
           agree(left, right, Fact::kResourceTenant) && agree(left, right, Fact::kAction);
  }
  /// Whether `decision` is one for the call that `start` began (REQ-GR-041).
  [[nodiscard]] bool applies(const EventRecord& decision, const EventRecord& start) const {
    return are_of_one_call(decision, start) && (!start.has(Fact::kFurtherResources) ||
                                                text(start.fact(Fact::kFurtherResources)) ==
                                                    text(decision.fact(Fact::kFurtherResources)));
  }
  [[nodiscard]] std::optional<access::ReasonCode> reason(Ref text) const;
  [[nodiscard]] std::string_view text(Ref ref) const { return arena_.text(ref); }
  [[nodiscard]] const EventRecord& record(Ref ref) const {
    return *reinterpret_cast<const EventRecord*>(arena_.at(ref));
  }
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// The reference that equal texts of interned facts have.
  Ref intern(std::string_view text) { return texts_.intern(text); }
  /// The current source, for what is no event.
  [[nodiscard]] std::uint64_t place(std::uint64_t offset) const {
    return Place::of(sources_.size() - 1, offset);
  }
  /// That many files hold requests only (REQ-IN-033).
  void note_files_of_requests(std::uint64_t count) { files_of_requests_ += count; }
  [[nodiscard]] std::uint64_t files_of_requests() const { return files_of_requests_; }
  /// Where a line stands that no writer and number name.
  [[nodiscard]] Position unwritten_position(std::uint64_t place, LineSpan line) const;
  [[nodiscard]] Position position(std::uint32_t writer, bool is_numbered, std::int64_t seq,
                                  std::uint64_t place, LineSpan line) const;
  [[nodiscard]] Position position(const EventRecord& event) const {
    return position(event.writer, event.is_numbered, event.seq, event.place, event.line);
  }
  /// The files that were read, in the order of reading.
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return hash_text(text, seed); }
    std::uint64_t seed;
  };
  struct ShapeHash {
    std::size_t operator()(std::uint64_t fields) const {
      return hash_text({reinterpret_cast<const char*>(&fields), sizeof fields}, seed);
    }
    std::uint64_t seed;
  };
  using WriterIndex = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

  enum class Repetition : std::uint8_t { kFresh, kRepeated };
  /// An invocation, its share of a vector that doubles, and its slots in the index.
  static constexpr std::size_t kBytesPerInvocation =
      2 * sizeof(Invocation) + 4 * sizeof(std::uint64_t);
  class WrittenTexts;
  struct ReadTexts;

  static Error no_room();
  std::uint32_t writer_of(const event::Event& event);
  std::uint32_t add_writer(std::string_view name, bool is_anonymous);
  Repetition check_repeat(std::uint32_t writer, const event::Event& event, std::uint64_t place,
                          LineSpan line, std::uint64_t hash);
  [[nodiscard]] std::uint64_t hash_of_id(std::string_view id) const {
    return hash_text(id, seed_) | 1U << 31U;  // never 0
  }
  std::uint32_t invocation_of(std::string_view id, std::uint64_t hash);
  [[nodiscard]] std::uint64_t find_slot(std::string_view id, std::uint64_t high) const;
  [[nodiscard]] bool is_slot_of(std::uint64_t slot, std::string_view id, std::uint64_t high) const {
    return slot >> 32U == high && slot != 0 &&
           same_text(arena_.text(invocations_[static_cast<std::uint32_t>(slot) - 1].id), id);
  }
  std::uint64_t add_invocation(std::string_view id, std::uint64_t hash);
  void grow_index();
  [[nodiscard]] const Shape** likely_pattern(const event::Event& event, const EventRecord* last);
  [[nodiscard]] static bool follows(const Shape& pattern, const event::Event& event,
                                    std::uint64_t key, const EventRecord& out);
  const Shape* pattern_of(const event::Event& source, const EventRecord& event);
  bool append(std::uint32_t invocation, std::uint32_t writer, const event::Event& event,
              std::uint64_t place, LineSpan line);
  const Shape* shape_of(event::EventKind kind, std::uint64_t key);
  static std::uint64_t note_words(const event::Event& event, EventRecord& out,
                                  std::int64_t& number);
  bool keep_facts(const event::Event& event, const EventRecord* first, const EventRecord* last,
                  EventRecord& out);
  bool keep_own_facts(const event::Event& event, std::int64_t number, const EventRecord* first,
                      const EventRecord* last, EventRecord& out);
  Ref keep(Fact fact, std::string_view text, const EventRecord* first, const EventRecord* last);
  void count_in_log(Invocation& chain, const EventRecord& event);
  void note_order(WriterLog& log, OrderKey key);
  [[nodiscard]] Stage next_stage(const Invocation& chain, const EventRecord* last,
                                 const EventRecord& event) const;
  [[nodiscard]] Stage decided_stage(const Invocation& chain, const EventRecord& decision) const;
  [[nodiscard]] bool is_allowed_by_itself(const EventRecord& decision) const;
  [[nodiscard]] bool agrees_with_chain(const Invocation& chain, const EventRecord& decision) const;
  void declare(WriterLog& log, const event::Event& event, std::uint64_t place, LineSpan line);
  Status recount_finishes();
  void recount_calls();
  void find_losses(WriterLog& log) const;

  // In record_store_spill.cc.
  [[nodiscard]] std::size_t memory_in_use() const {
    return arena_.used_bytes() + texts_.bytes() + invocations_.size() * kBytesPerInvocation -
           first_bytes_;
  }
  /// What of the room is for invocations of which more is to be expected, for what lasts, and for
  /// what waits to be written. Most of
  /// the rest holds those at rest, packed: what is read and written all the time stays small enough
  /// for the processor's caches.
  static constexpr std::size_t kOpenShare = 24;
  static constexpr std::size_t kLastingShare = 32;
  static constexpr std::size_t kSharesShare = 32;
  [[nodiscard]] std::size_t open_bytes() const { return room_.memory_bytes / kOpenShare; }
  enum class Staying : std::uint8_t { kNone, kOpen };
  Status evict(Staying staying);
  Status write_out(const std::vector<std::uint32_t>& leaving);
  Status write_shares();
  Status write_other_events();
  Status for_each_other_event(const std::function<void(std::uint32_t, OrderKey)>& visit);
  void encode(const Invocation& call, WrittenTexts& texts, FragmentBytes& out) const;
  bool restore(const FragmentHead& head, std::string_view bytes);
  bool restore_event(const EventRecord& event, Invocation& call);
  bool restore_facts(FragmentReader& in, ReadTexts& texts, std::uint32_t facts, EventRecord& event);
  template <class Visit>
  void for_each_lasting_text(const Visit& visit);
  void forget(std::size_t top);
  using Take = std::function<bool(const PlainCall&)>;
  [[nodiscard]] FragmentHead head_of(const Invocation& call, std::size_t bytes);
  std::uint16_t kind_of(const Invocation& call);
  struct Part {
    std::span<const Spill::Extent> extents;  ///< of a partition
    std::uint64_t number = 0;                ///< of `count` parts of it
    std::uint64_t count = 1;
    std::span<const std::uint64_t> split;  ///< hashes of ids with more than one fragment, sorted
    std::span<const PlainCall> kinds;      ///< by number
  };
  Status load(const Part& part, const Take& take);
  Result<std::vector<std::uint64_t>> split_ids(std::span<const Spill::Extent> extents);
  Result<bool> has_split_ids();

  /// Smaller parts are not worth reading a partition again.
  static constexpr std::size_t kLeastPart = std::size_t{64} * 1024;

  StoreRoom room_;
  std::size_t first_bytes_ = 0;  // that an empty store has in use
  std::size_t limit_ = 0;        // beyond it invocations leave memory
  Spill spill_;
  /// What is about to be written to a partition; its memory is used again.
  struct Share {
    std::vector<FragmentHead> heads;
    FragmentBytes bytes;
  };
  std::array<Share, Spill::kPartitions> shares_;
  std::size_t shares_bytes_ = 0;
  std::vector<std::pair<std::uint32_t, Spill::Extent>> other_events_;  // written out, by writer
  // Tools and routes of plain invocations that were written out, by their numbers, and the numbers
  // by the references of the texts while these last.
  std::map<std::pair<std::string, std::string>, std::uint16_t, std::less<>> kinds_;
  std::vector<std::pair<std::string_view, std::string_view>> kind_texts_;
  std::unordered_map<std::uint64_t, std::uint16_t> kind_numbers_;
  Arena arena_;
  TextTable texts_;
  std::uint64_t seed_;
  std::vector<Invocation> invocations_;
  std::vector<std::uint64_t> index_;  // hash in the high half, index + 1 in the low one
  // Slots of `index_` that were of use lately: few enough to stay in the processor's first cache.
  std::array<std::uint64_t, 1024> recent_{};
  std::vector<WriterLog> writers_;
  WriterIndex named_;
  WriterIndex anonymous_;                                              // by input
  std::unordered_map<std::uint64_t, const Shape*, ShapeHash> shapes_;  // by their fields
  std::array<const Shape*, event::kEventKindCount> recent_shapes_{};
  std::unordered_map<std::uint64_t, const Shape*> patterns_;  // by the hash of what they share
  std::array<const Shape*, 1024> likely_patterns_{};          // by the pattern before and the kind
  std::uint32_t latest_writer_ = kNone;
  std::uint32_t source_writer_ = kNone;  // the anonymous one of the current input
  std::string input_;
  std::vector<std::string> sources_;
  std::vector<Repeat> repeats_;
  Population population_;
  std::uint64_t files_of_requests_ = 0;
  std::array<std::uint64_t, event::kEventKindCount> kind_counts_{};
  std::array<Ref, kFactCount> recent_facts_{};
  std::array<Ref, access::kReasonCount> reasons_{};
  std::set<std::string, std::less<>> routes_;
  Ref recent_route_ = 0;
  bool is_plain_ = true;
};

}  // namespace remit::grading
