// What is known of one writer's log: which numbers came, which came again, what it declared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/record.h"

namespace remit::grading {

/// A set of sequence numbers as disjoint ranges that do not touch. Numbers in order cost nothing,
/// any other the logarithm of the number of ranges.
class NumberSet {
 public:
  NumberSet() = default;
  NumberSet(NumberSet&&) noexcept = default;  // the map's nodes stay where `highest_` points
  NumberSet& operator=(NumberSet&&) noexcept = default;

  /// False if the number was there already.
  bool add(std::int64_t number);
  [[nodiscard]] bool contains(std::int64_t number) const;
  /// First and last number of each range.
  [[nodiscard]] const std::map<std::int64_t, std::int64_t>& ranges() const { return ranges_; }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;
  std::int64_t* highest_ = nullptr;  // the last number of the last range
};

/// The hashes of the lines within kRepeatWindow below the highest number. Memory grows with what
/// was put, not with how far apart the numbers are.
class RecentLines {
 public:
  struct Entry {
    std::uint64_t hash = 0;
    std::int64_t number = 0;    ///< 0 for an empty slot
    std::uint64_t id_hash = 0;  ///< of its invocation's id; 0 for none
  };

  /// Each number once, from 1 on. One that is too old already is not kept.
  void put(std::int64_t number, std::uint64_t hash, std::uint64_t id_hash);
  /// The line of this number; null if it is too old.
  [[nodiscard]] const Entry* find(std::int64_t number) const;

 private:
  static constexpr std::size_t kFirstSlots = 16;
  static constexpr std::size_t kLastSlots = static_cast<std::size_t>(kRepeatWindow);
  static_assert((kLastSlots & (kLastSlots - 1)) == 0);

  void insert(const Entry& entry);
  void grow();

  std::vector<Entry> slots_;
  std::size_t used_ = 0;
  std::int64_t highest_ = 0;
};

/// Events of one writer that its log lost, somewhere between two positions. In `WriterLog::losses`,
/// sorted by `before`, `after` is the earliest of this loss and those behind it.
struct Loss {
  OrderKey after;
  OrderKey before;
};

struct Publication {
  OrderKey key;
  Ref version = 0;
  Ref digest = 0;
};

/// An `approval.changed`.
struct ApprovalChange {
  OrderKey key;
  Ref id = 0;  ///< interned
  ApprovalState state = ApprovalState::kUnrecorded;
};

/// What a `run.started` says of what the run is judged against.
struct RunStarted {
  OrderKey key;
  std::uint64_t place = 0;
  LineSpan line;
  bool is_numbered = false;
  Ref environment = 0;
  Ref manifest_digest = 0;
};

struct RunFinished {
  OrderKey key;
  std::uint64_t place = 0;
  LineSpan line;
  bool is_numbered = false;
  Ref run_id = 0;
  Ref source = 0;
  std::optional<std::int64_t> invocations, events;
  std::uint64_t seen_invocations = 0;  ///< of this writer before it
  std::uint64_t seen_events = 0;
};

/// An `evidence.lost`.
struct Admission {
  OrderKey key;
  std::uint64_t place = 0;
  LineSpan line;
  bool is_numbered = false;
  std::int64_t events = -1;
  Ref cause = 0;
};

struct WriterLog {
  std::string name;           ///< the writer's id, or the name of an input
  bool is_anonymous = false;  ///< events without `writer` in one input
  std::uint32_t rank = 0;     ///< by name, whatever the order of reading
  std::int64_t last_seq = 0;
  OrderKey latest;             ///< of the last event read
  bool needs_recount = false;  ///< `events` and `invocations` do not tell what stands where
  bool has_decided = false;    ///< a decision of it was read
  std::uint64_t events = 0;    ///< read so far
  std::uint64_t invocations = 0;
  NumberSet numbers;
  std::map<std::int64_t, Spot> range_starts;  ///< where the first number of each range came
  RecentLines recent;
  std::vector<Publication> publications;
  std::vector<ApprovalChange> approvals;
  std::vector<RunStarted> started;
  std::vector<RunFinished> finished;
  std::vector<Admission> admissions;
  std::vector<OrderKey> other_events;  ///< those that belong to no invocation
  std::vector<Loss> losses;            ///< filled in when everything was read

  /// Every reference to a text that the log holds.
  template <class Visit>
  void for_each_text(const Visit& visit) {
    for (Publication& one : publications) {
      visit(one.version);
      visit(one.digest);
    }
    for (ApprovalChange& one : approvals) visit(one.id);
    for (RunStarted& one : started) {
      visit(one.environment);
      visit(one.manifest_digest);
    }
    for (RunFinished& one : finished) {
      visit(one.run_id);
      visit(one.source);
    }
    for (Admission& one : admissions) visit(one.cause);
  }

  [[nodiscard]] OrderKey key_of(bool is_numbered, std::int64_t seq, std::uint64_t place) const {
    return is_numbered ? OrderKey{seq, 0} : OrderKey{last_seq, place};
  }
};

}  // namespace remit::grading
