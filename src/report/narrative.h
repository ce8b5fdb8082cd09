// The story of recorded invocations in words: what was requested, decided and executed, as the
// events say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "grading/writer_log.h"

namespace remit::report {

/// Which invocations to tell. An empty member selects everything.
struct NarrativeFilter {
  std::set<std::string, std::less<>> invocation_ids = {};
  std::string run_id = {};
  std::string case_id = {};
};

/// Collects events and tells their story. It copies what it needs of an event, so memory grows with
/// the invocations that the filter selects and with the writers. It says what is recorded and what
/// is not, and judges nothing: that is grading's. Hostile text is quoted. Not thread-safe.
class Narrative {
 public:
  explicit Narrative(NarrativeFilter filter) : filter_(std::move(filter)) {}

  void add(const event::Event& event);

  [[nodiscard]] bool empty() const { return order_.empty(); }
  /// Asked-for invocations of which no event was seen.
  [[nodiscard]] std::vector<std::string> missing() const;
  /// The first ids of the record, whatever the filter selects, at most kKeptIds.
  [[nodiscard]] std::vector<std::string> first_ids(std::size_t most) const {
    return {ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids_.size()))};
  }
  static constexpr std::size_t kKeptIds = 5;
  /// One paragraph per invocation, in order of first appearance, a blank line between two.
  [[nodiscard]] std::string text() const;

 private:
  struct Step {
    event::EventKind kind;
    std::string words;
  };
  struct Invocation {
    std::string tool;
    std::string case_id;
    std::string run_id;
    std::vector<Step> steps;
    std::set<event::EventKind> seen;
    std::set<std::string, std::less<>> writers;
    bool has_effects = false;
  };
  /// What was read of one writer, to hold against what it says of itself.
  struct Writer {
    std::int64_t events = 0;
    grading::NumberSet numbers;
    bool has_lost = false;  ///< it says so
  };

  [[nodiscard]] bool selects(const event::Event& event) const;
  [[nodiscard]] std::string_view start_words(const Invocation& invocation) const;
  [[nodiscard]] bool has_loss(const Invocation& invocation) const;
  [[nodiscard]] std::string paragraph(const std::string& id, const Invocation& invocation) const;

  NarrativeFilter filter_;
  std::map<std::string, Invocation, std::less<>> invocations_;
  std::vector<std::string> order_;
  std::vector<std::string> ids_;  ///< the first of the record
  std::map<std::string, Writer, std::less<>> writers_;
  /// By source and run: whether all events that the spy wrote before it was done were read.
  std::map<std::pair<std::string, std::string>, bool> closed_spies_;
};

}  // namespace remit::report
