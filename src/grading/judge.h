// The rules of one invocation: which relations it violates, and what each verdict is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grading/call_view.h"
#include "grading/event_index.h"
#include "grading/grade.h"
#include "grading/manifest.h"
#include "grading/run_facts.h"

namespace remit::grading {

/// What an invocation is judged against besides the contract.
struct Assignment {
  const Case* of_case = nullptr;          ///< null if it belongs to none
  const Expectation* entry = nullptr;     ///< null if none expects it
  const Expectation* misnamed = nullptr;  ///< has its id, but another tool or route
  bool is_judged_by_ids = false;          ///< expected ids alone judge planning
  bool is_expected_id = false;            ///< and it is one of them
};

/// Judges one invocation after another by the contract `sequential` (spec/contract.md). Findings
/// are appended to one list. Not thread-safe.
class Judge {
 public:
  Judge(const RecordStore& store, const RunFacts& facts, const Manifest* manifest,
        std::vector<Finding>& findings)
      : store_(store),
        facts_(facts),
        manifest_(manifest),
        findings_(findings),
        requests_(store),
        decisions_(store) {}

  /// Appends what is wrong with `call` and returns its verdicts.
  ByVerdict<Value> judge(const CallView& call, const Assignment& assignment);

  /// Expected effects that were compared with starts, since nothing observed them.
  [[nodiscard]] std::uint64_t effects_by_starts() const { return effects_by_starts_; }
  /// Decisions without a policy digest under a version whose digest is pinned.
  [[nodiscard]] std::uint64_t unrecorded_digests() const { return unrecorded_digests_; }

 private:
  using Told = std::optional<std::string>;

  void judge_repeats();
  void judge_record();
  void judge_decisions();
  void judge_policy(const EventRecord& decision);
  void judge_reason(const EventRecord& decision, bool is_last);
  void judge_expected_decision();
  void judge_counts();
  void judge_start(const EventRecord& start);
  void judge_cited_start(const EventRecord& start);
  void judge_uncited_start(const EventRecord& start, const Range& own);
  void judge_rival_decisions(const EventRecord& start, const Range& own);
  void judge_unordered_start(const EventRecord& start, const Range& own);
  void judge_governing(const EventRecord& start, const EventRecord& decision);
  void judge_finishes();
  void judge_effects();
  void judge_planning();
  void mark_consequences(std::size_t from);

  [[nodiscard]] bool is_covered_by_unspent();
  // `own` are the decisions of the start's writer.
  [[nodiscard]] const EventRecord* decision_behind(const EventRecord& start, const Range& own);
  [[nodiscard]] const EventRecord* first_elsewhere(const Sought& sought, const Range& own);
  [[nodiscard]] const EventRecord* last_elsewhere(const Sought& sought, const Range& own);
  [[nodiscard]] Range all_decisions() const { return {0, call_->decisions.size()}; }
  [[nodiscard]] const EventRecord* first_of_writer(const Events& events,
                                                   std::uint32_t writer) const;
  [[nodiscard]] bool is_first_of_writer(const Events& events, const EventRecord& event) const {
    return first_of_writer(events, event.writer) == &event;
  }
  [[nodiscard]] Told recorded(Ref ref) const;
  [[nodiscard]] Told word_of(const EventRecord& event) const;
  void add_at(Code code, Told expected, Told recorded, std::vector<Position> positions,
              std::string_view detail);
  void add(Code code, Told expected, Told recorded, const Events& events,
           std::string_view detail = {});
  void add(Code code, Told expected, Told recorded,
           std::initializer_list<const EventRecord*> events, std::string_view detail = {}) {
    add(code, std::move(expected), std::move(recorded), Events(events), detail);
  }
  void add_start_and_decision(Code code, const EventRecord& start, const EventRecord& decision,
                              std::string_view expected, std::string_view recorded);

  const RecordStore& store_;
  const RunFacts& facts_;
  const Manifest* manifest_;
  std::vector<Finding>& findings_;
  EventIndex requests_;   // of the call
  EventIndex decisions_;  // of the call
  const CallView* call_ = nullptr;
  const Assignment* assignment_ = nullptr;
  ByVerdict<Value> verdicts_;
  std::uint64_t effects_by_starts_ = 0;
  std::uint64_t unrecorded_digests_ = 0;
};

}  // namespace remit::grading
