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
inline constexpr unsigned kCallFacts = 15U;

/// Words of decisions, as bits of `Sought::words`; none and an unknown one are other words.
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

  /// From now on searches `events`, ordered as in CallView; it outlives the searches.
  void reset(const Events& events);

  /// Position of the first event sought in the range, or `kNone`.
  [[nodiscard]] std::size_t first(const Sought& sought, Range range);
  /// Position of the last one, or `kNone`.
  [[nodiscard]] std::size_t last(const Sought& sought, Range range);
  /// Position of the first event that `by` cites and that differs from it in a fact of the call, or
  /// `kNone`.
  [[nodiscard]] std::size_t first_cited_of_other_call(const EventRecord& by);

 private:
  static constexpr std::size_t kFactBits = 4;
  static constexpr std::size_t kFew = 16;
  static constexpr unsigned kById = 16U;  // further bits of what a table is sorted by
  static constexpr unsigned kByWord = 32U;
  static constexpr std::uint32_t kUnheard = 0xffffffff;  // a text that no event records

  /// What searches compare: the facts, the id, the word. 0 is nothing recorded.
  using Key = std::array<std::uint32_t, kFactBits + 2>;
  /// Positions of the events that record the same facts, by some parts of their keys.
  using Table = std::vector<std::uint32_t>;
  /// For one id: the first event, and the first that differs from it in some parts.
  using Firsts = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] bool is_small() const { return events_->size() <= kFew; }
  [[nodiscard]] bool matches(const Sought& sought, const EventRecord& event) const;
  void build();
  [[nodiscard]] Key key_of(const EventRecord& event) const;
  [[nodiscard]] std::uint32_t number_of(std::string_view text) const;
  const Table& table(unsigned recorded, unsigned parts);
  const std::vector<Firsts>& firsts(unsigned recorded, unsigned parts);
  template <class Take>
  void search(const Sought& sought, const Take& take);

  const RecordStore& store_;
  const Events* events_ = nullptr;
  bool is_built_ = false;
  std::vector<std::string_view> texts_;          // sorted; a text's number is its place, from 1 on
  std::vector<Key> keys_;                        // by position
  std::array<Table, kCallFacts + 1> recording_;  // by the facts that are recorded, ascending
  std::map<unsigned, Table> tables_;
  std::map<unsigned, std::vector<Firsts>> firsts_;
};

}  // namespace remit::grading
