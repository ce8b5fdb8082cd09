// The rules of one invocation: which relations it violates, and what each verdict is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grading/call_view.h"
#include "grading/counted.h"
#include "grading/event_index.h"
#include "grading/grade.h"
#include "grading/manifest.h"
#include "grading/pinned_facts.h"
#include "grading/run_facts.h"
#include "grading/sightings.h"

namespace remit::grading {

/// What an invocation is judged against besides the contract.
struct Assignment {
  const Case* of_case = nullptr;          ///< null if it belongs to none
  const Expectation* entry = nullptr;     ///< null if none expects it
  const Expectation* misnamed = nullptr;  ///< has its id, but another tool or route
  bool is_judged_by_ids = false;          ///< expected ids alone judge planning
  bool is_expected_id = false;            ///< and it is one of them
  std::span<const Sighting> sightings;    ///< what redaction found in its lines
};

/// Judges one invocation after another by the requirements that hold for each. Findings are
/// appended to one list. Not thread-safe.
class Judge {
 public:
  Judge(const RecordStore& store, const RunFacts& facts, const PinnedFacts& pinned,
        bool effects_required, std::vector<Finding>& findings)
      : store_(store),
        facts_(facts),
        pinned_(pinned),
        effects_required_(effects_required),
        findings_(findings),
        requests_(store),
        decisions_(store),
        starts_(store) {}

  /// Appends what is wrong with `call` and returns its verdicts.
  ByVerdict<Value> judge(const CallView& call, const Assignment& assignment);

  /// Of the call that was judged last (REQ-GR-012); none where nothing is wrong with it.
  [[nodiscard]] std::optional<Owner> owner() const { return owner_; }

  /// Expected effects that were compared with starts, since nothing observed them.
  [[nodiscard]] std::uint64_t effects_by_starts() const { return effects_by_starts_; }

 private:
  using Told = std::optional<std::string>;

  /// What stands before an event in its writer's log of the invocation.
  struct Earlier {
    /// The last resolution since the decision before that found nothing.
    const EventRecord* unresolved = nullptr;
    const EventRecord* queue_denial = nullptr;  ///< with no allow behind it
    const EventRecord* resolved = nullptr;      ///< the last that found something and names it
    /// The last resolution of an id, by its type and without: `kAnyType`.
    std::map<std::pair<std::string_view, Ref>, const EventRecord*> resources;
    std::map<std::string_view, const EventRecord*> approvals;  ///< the last check of each

    void clear();
  };
  static constexpr Ref kAnyType = 0xffffffff;

  /// Facts of one event that differ from what they must be.
  struct Differences {
    Told expected, recorded;  ///< of the first
    std::string fields;       ///< all of them

    [[nodiscard]] bool is_empty() const { return fields.empty(); }
    void add(std::string_view field, Told expected_fact, Told recorded_fact);
  };

  // judge.cc: the record, planning.
  void judge_repeats();
  void judge_record();
  void judge_fields();
  void judge_reuse();
  void judge_planning();
  void mark_consequences(std::size_t from);

  // judge_decisions.cc: what was decided.
  void judge_decisions();
  void judge_decision(const EventRecord& decision, bool is_last);
  void judge_decided_call(const EventRecord& decision);
  void judge_policy(const EventRecord& decision);
  void judge_reason(const EventRecord& decision, bool is_last);
  void judge_word(const EventRecord& decision, bool is_last);

  // judge_facts.cc: on which facts.
  void judge_trusted();
  void take_note(const EventRecord& event);
  void judge_resolution(const EventRecord& event);
  void judge_facts(const EventRecord& decision, const Expectation* entry);
  void judge_principal(const EventRecord& decision, const Expectation* entry);
  void judge_resource(const EventRecord& decision, const Expectation* entry);
  [[nodiscard]] bool compare_resource(const EventRecord& event, const ResourceFacts& facts,
                                      bool is_expected);
  void judge_against_resolution(const EventRecord& decision);
  void judge_approval(const EventRecord& event);
  void judge_accepted_approval(const EventRecord& decision);
  void compare(const EventRecord& event, Fact fact, event::Field field, Ref expected,
               bool is_expected, Differences& out);

  // judge_execution.cc: what ran.
  void judge_counts();
  void judge_counts_on_allow();
  void judge_counts_on_deny();
  void judge_too_many(Code code, const Bounds& bounds, const Events& events,
                      const Events& given_back, const Noun& noun);
  void judge_start(const EventRecord& start);
  void judge_cited_start(const EventRecord& start);
  void judge_uncited_start(const EventRecord& start, const Range& own);
  void judge_rival_decisions(const EventRecord& start, const Range& own);
  void judge_unordered_start(const EventRecord& start, const Range& own);
  void judge_governing(const EventRecord& start, const EventRecord& decision);
  void judge_finishes();
  void judge_finished_call(const EventRecord& finish);
  void judge_effects();

  /// The unspent permits that speak for an allow of the invocation.
  [[nodiscard]] Events permits_given_back();
  /// The last decision of that word, else the last of all.
  [[nodiscard]] const EventRecord& last_decision(DecisionWord word) const;
  // `own` are the decisions of the start's writer.
  [[nodiscard]] const EventRecord* decision_behind(const EventRecord& start, const Range& own);
  [[nodiscard]] const EventRecord* first_elsewhere(const Sought& sought, const Range& own);
  [[nodiscard]] const EventRecord* last_elsewhere(const Sought& sought, const Range& own);
  [[nodiscard]] Range all_decisions() const { return {0, call_->decisions.size()}; }
  /// What must agree between a start and a decision for it to apply, beyond nothing.
  [[nodiscard]] unsigned attempt_fact() const {
    return requirements_->needs_decision_per_attempt ? kAttemptFact : 0U;
  }
  [[nodiscard]] const EventRecord* first_of_writer(const Events& events,
                                                   std::uint32_t writer) const;
  [[nodiscard]] bool is_first_of_writer(const Events& events, const EventRecord& event) const {
    return first_of_writer(events, event.writer) == &event;
  }
  [[nodiscard]] Told recorded(Ref ref) const;
  [[nodiscard]] Told word_of(const EventRecord& event) const;
  Finding& add_at(Code code, Told expected, Told recorded, std::vector<Position> positions,
                  std::string_view detail);
  Finding& add(Code code, Told expected, Told recorded, const Events& events,
               std::string_view detail = {});
  Finding& add(Code code, Told expected, Told recorded,
               std::initializer_list<const EventRecord*> events, std::string_view detail = {}) {
    return add(code, std::move(expected), std::move(recorded), Events(events), detail);
  }
  [[nodiscard]] Differences differences(const EventRecord& expected, const EventRecord& found,
                                        unsigned facts) const;
  void add_not_applicable(const EventRecord& decision, const EventRecord& start);
  void add_start_without_allow(const EventRecord& start, const EventRecord* decision);
  void add_start_and_decision(Code code, const EventRecord& start, const EventRecord& decision,
                              std::string_view expected, std::string_view recorded);
  void doubt(Verdict verdict) {
    verdicts_[verdict] = worse(verdicts_[verdict], Value::kUndetermined);
  }

  const RecordStore& store_;
  const RunFacts& facts_;
  const PinnedFacts& pinned_;
  bool effects_required_;
  std::vector<Finding>& findings_;
  EventIndex requests_;   // of the call
  EventIndex decisions_;  // of the call
  EventIndex starts_;     // of the call
  Earlier earlier_;
  std::vector<std::string_view> unrecorded_;  // pinned facts that the decision does not record
  std::vector<std::pair<const EventRecord*, const EventRecord*>> queue_denied_starts_;
  std::size_t next_queue_denied_ = 0;  // of those, in the order of the starts
  bool is_start_denied_ = false;       // the start being judged has its start_after_deny
  const CallView* call_ = nullptr;
  const Requirements* requirements_ = nullptr;
  const Assignment* assignment_ = nullptr;
  ByVerdict<Value> verdicts_;
  std::optional<Owner> owner_;
  std::uint64_t effects_by_starts_ = 0;
};

}  // namespace remit::grading
