// Finds, among the events of one kind of one invocation, those that another event is judged under.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/call_view.h"

namespace remit::grading {

/// Positions in a list of events, from the first to behind the last.
struct Range {
  std::size_t from = 0;
  std::size_t to = 0;
  [[nodiscard]] bool is_empty() const { return from == to; }
};

/// Which events of `events`, ordered as in CallView, are those of a writer.
Range range_of_writer(const RecordStore& store, const Events& events, std::uint32_t writer);

/// Facts of a call, as bits of `Sought::facts`.
inline constexpr unsigned kToolFact = 1U;
inline constexpr unsigned kResourceTypeFact = 2U;
inline constexpr unsigned kResourceIdFact = 4U;
inline constexpr unsigned kArgsFact = 8U;
inline constexpr unsigned kActionFact = 16U;
inline constexpr unsigned kResourceTenantFact = 32U;
inline constexpr unsigned kFurtherFact = 64U;   ///< an event without any has an empty list
inline constexpr unsigned kAttemptFact = 128U;  ///< 1 where none is recorded
inline constexpr unsigned kCallFacts = 127U;    ///< all but the attempt

/// Words of decisions, as bits of `Sought::words`; none and an unknown one are other words, and a
/// shadow decision's is an allow's (REQ-GR-061).
inline constexpr unsigned kAllowWord = 1U;
inline constexpr unsigned kDenyWord = 2U;
inline constexpr unsigned kOtherWord = 4U;
inline constexpr unsigned kAnyWord = 7U;

/// What events are looked for by another one.
struct Sought {
  const EventRecord* by = nullptr;
  unsigned facts = 0;         ///< those that must agree, where both record them
  bool is_cited = false;      ///< with the `decision_id` of `by`, which records one
  unsigned words = kAnyWord;  ///< with one of these words
};

/// Few events are searched one by one; of many a search takes logarithmic time, whatever facts they
/// record, so that grading takes no quadratic time. Allocates only for many. Not thread-safe.
class EventIndex {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit EventIndex(const RecordStore& store) : store_(store) {}

  /// From now on searches `events`, ordered as in CallView; it outlives the searches. Whether a
  /// decision can be a shadow decision is the contract's choice.
  void reset(const Events& events, bool expects_shadow);

  /// Position of the first event sought in the range, or `kNone`.
  [[nodiscard]] std::size_t first(const Sought& sought, Range range);
  /// Position of the last one, or `kNone`.
  [[nodiscard]] std::size_t last(const Sought& sought, Range range);
  /// Position of the first event that `by` cites and that differs from it in one of `facts`, or
  /// `kNone`.
  [[nodiscard]] std::size_t first_cited_that_differs(const EventRecord& by, unsigned facts);

 private:
  static constexpr std::size_t kFactBits = 8;
  static constexpr std::size_t kFew = 16;
  static constexpr unsigned kById = 256U;  // further bits of what a table is sorted by
  static constexpr unsigned kByWord = 512U;
  static constexpr std::uint32_t kUnheard = 0xffffffff;  // a text that no event records
  static constexpr std::uint32_t kEmptyList = 0xfffffffe;

  /// What searches compare: the facts, the id, the word. 0 is nothing recorded.
  using Key = std::array<std::uint64_t, kFactBits + 2>;
  /// Positions of the events that record the same facts, by some parts of their keys.
  using Table = std::vector<std::uint32_t>;
  /// For one id: the first event, and the first that differs from it in some parts.
  using Firsts = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] bool is_small() const { return events_->size() <= kFew; }
  [[nodiscard]] bool matches(const Sought& sought, const EventRecord& event) const;
  void build();
  [[nodiscard]] unsigned word_bit(const EventRecord& event) const;
  [[nodiscard]] bool agree_on_further(const EventRecord& event, const EventRecord& by) const;
  [[nodiscard]] Key key_of(const EventRecord& event) const;
  [[nodiscard]] std::uint32_t number_of(std::string_view text) const;
  const Table& table(unsigned recorded, unsigned parts);
  const std::vector<Firsts>& firsts(unsigned recorded, unsigned parts);
  template <class Take>
  void search(const Sought& sought, const Take& take);

  const RecordStore& store_;
  const Events* events_ = nullptr;
  bool expects_shadow_ = false;
  bool is_built_ = false;
  std::vector<std::string_view> texts_;           // sorted; a text's number is its place, from 1 on
  std::vector<Key> keys_;                         // by position
  std::array<Table, 1U << kFactBits> recording_;  // by the facts that are recorded, ascending
  std::map<unsigned, Table> tables_;
  std::map<unsigned, std::vector<Firsts>> firsts_;
};

}  // namespace remit::grading
