// Everything that is remembered of a run while it is read: invocations, their events, the writers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/reason.h"
#include "event/event.h"
#include "grading/arena.h"
#include "grading/grade.h"
#include "grading/record.h"
#include "grading/text_table.h"
#include "grading/writer_log.h"
#include "trace/event_reader.h"

namespace remit::grading {

/// One invocation: its id and the chain of its events.
struct Invocation {
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
  bool is_verified = false;      ///< it differs from the first; else that is too old to compare
  std::uint32_t invocation = 0;  ///< of the first line; of this one if not verified; or kNone
  Ref invocation_id = 0;         ///< of this line if not verified, until `settle`
};

/// Takes events in the order of reading. Drops repeats, orders nothing, judges nothing. In the
/// steady state it allocates nothing per event. Not thread-safe.
class RecordStore {
 public:
  explicit RecordStore(std::uint64_t seed);

  /// False beyond kMaxTraceSources.
  bool begin_source(std::string_view input, std::string_view source);
  /// False where memory is full.
  bool add(const event::Event& event, const trace::Line& line);

  /// Ranks writers by name and finds what their logs lost. Once, after the last event.
  void settle();

  [[nodiscard]] const std::vector<Invocation>& invocations() const { return invocations_; }
  [[nodiscard]] const std::vector<WriterLog>& writers() const { return writers_; }
  /// Sorted by invocation.
  [[nodiscard]] const std::vector<Repeat>& repeats() const { return repeats_; }
  [[nodiscard]] const Population& population() const { return population_; }
  /// Number of events of a kind that were read, repeats not counted.
  [[nodiscard]] std::uint64_t count(event::EventKind kind) const {
    return kind_counts_[static_cast<std::size_t>(kind)];
  }
  /// Routes of all call events.
  [[nodiscard]] const std::set<Ref>& routes() const { return routes_; }
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
  /// Index of the invocation with this id, or `kNone`.
  [[nodiscard]] std::uint32_t find(std::string_view id) const;
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// The reference that equal texts of interned facts have.
  Ref intern(std::string_view text) { return texts_.intern(text); }
  /// The current source, for what is no event.
  [[nodiscard]] std::uint64_t place(std::uint64_t offset) const {
    return Place::of(sources_.size() - 1, offset);
  }
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

  std::uint32_t writer_of(const event::Event& event);
  std::uint32_t add_writer(std::string_view name, bool is_anonymous);
  Repetition check_repeat(std::uint32_t writer, const event::Event& event, std::uint64_t place,
                          LineSpan line, std::uint64_t hash);
  std::uint32_t invocation_of(std::string_view id, std::uint64_t high);
  [[nodiscard]] std::uint64_t find_slot(std::string_view id, std::uint64_t high) const;
  [[nodiscard]] bool is_slot_of(std::uint64_t slot, std::string_view id, std::uint64_t high) const {
    return slot >> 32U == high && slot != 0 &&
           arena_.text(invocations_[static_cast<std::uint32_t>(slot) - 1].id) == id;
  }
  std::uint64_t add_invocation(std::string_view id, std::uint64_t high);
  void grow_index();
  bool append(std::uint32_t invocation, std::uint32_t writer, const event::Event& event,
              std::uint64_t place, LineSpan line);
  const Shape* shape_of(event::EventKind kind, std::uint64_t key);
  static std::uint64_t note_words(const event::Event& event, EventRecord& out,
                                  std::int64_t& number);
  bool keep_facts(const event::Event& event, const EventRecord* first, const EventRecord* last,
                  EventRecord& out);
  Ref keep(Fact fact, std::string_view text, const EventRecord* first, const EventRecord* last);
  void count_in_log(Invocation& chain, const EventRecord& event);
  void note_order(WriterLog& log, OrderKey key);
  [[nodiscard]] Stage next_stage(const Invocation& chain, const EventRecord* last,
                                 const EventRecord& event) const;
  [[nodiscard]] Stage decided_stage(const Invocation& chain, const EventRecord& decision) const;
  [[nodiscard]] bool is_allowed_by_itself(const EventRecord& decision) const;
  [[nodiscard]] bool agrees_with_chain(const Invocation& chain, const EventRecord& decision) const;
  void declare(WriterLog& log, const event::Event& event, std::uint64_t place, LineSpan line);
  void recount_finishes();
  void find_losses(WriterLog& log) const;

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
  std::uint32_t latest_writer_ = kNone;
  std::uint32_t source_writer_ = kNone;  // the anonymous one of the current input
  std::string input_;
  std::vector<std::string> sources_;
  std::vector<Repeat> repeats_;
  Population population_;
  std::array<std::uint64_t, event::kEventKindCount> kind_counts_{};
  std::array<Ref, kFactCount> recent_facts_{};
  std::array<Ref, access::kReasonCount> reasons_{};
  std::set<Ref> routes_;
  Ref recent_route_ = 0;
  bool is_plain_ = true;
};

}  // namespace remit::grading
