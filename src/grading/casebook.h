// Which invocation belongs to which case and entry, and what a case is worth.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "grading/call_view.h"
#include "grading/grade.h"
#include "grading/judge.h"
#include "grading/manifest.h"
#include "grading/record_store.h"

namespace remit::grading {

/// The cases of one manifest beside the invocations of one run. Of an invocation it keeps its id,
/// if it belongs to a case, and what it takes to give the first ones to entries. Not thread-safe.
class Casebook {
 public:
  /// `manifest` may be null: then nothing belongs to a case. `blocking` are the verdicts that block
  /// by the contract. Manifest and store outlive this.
  Casebook(const Manifest* manifest, const ByVerdict<bool>& blocking, const RecordStore& store);

  /// Ties an invocation to its case (REQ-MF-011). Once for each.
  void enter(const CallView& call);
  /// Ties entries to invocations (REQ-MF-012). Once, after the last `enter`.
  void match();

  /// What an invocation belongs to; what does not is null. After `match`.
  struct Tie {
    const Case* of_case = nullptr;
    const Expectation* entry = nullptr;
    const Expectation* misnamed = nullptr;  ///< names it, but for another tool or route
  };
  [[nodiscard]] Tie tie_of(const CallView& call) const;

  /// Adds the verdicts of an invocation to its case.
  void count(const Case& of_case, const CallView& call, const ByVerdict<Value>& verdicts);
  /// Appends findings of what is absent from cases, and grades them in the order of the manifest.
  std::vector<CaseGrade> conclude(bool has_loss, std::vector<Finding>& findings);

  /// The worst of what blocks of a verdict, over the cases (REQ-GR-005). After `conclude`.
  [[nodiscard]] Value gate_value(Verdict verdict) const { return gate_[verdict]; }

  /// Invocations that two or more cases claim by the run's id, which therefore belong to none.
  [[nodiscard]] std::uint64_t ambiguous() const { return ambiguous_; }
  [[nodiscard]] bool has_cases() const { return manifest_ != nullptr && !manifest_->cases.empty(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// Where an invocation stands among those of its case: by its first request, else by its first
  /// event.
  struct Rank {
    std::uint32_t writer_rank = 0;
    OrderKey key;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  /// An invocation, and what it asked for.
  struct Named {
    std::string id, tool, route;
  };
  /// So many are looked at for what came instead of an absent request.
  static constexpr std::size_t kFirst = 8;
  /// Invocations of a case that an entry may claim, by their rank, with their ids.
  using Candidates = std::map<Rank, std::string>;
  struct State {
    /// By tool and, where an entry names it, route; the first ones only, as many as entries ask for
    /// the tool, since no more can be claimed.
    std::map<std::pair<std::string, std::optional<std::string>>, Candidates> candidates;
    std::unordered_map<std::string_view, std::size_t> wanted;  ///< entries without an id, by tool
    std::set<std::string, std::less<>> routes;                 ///< that entries name
    std::vector<bool> is_matched;                              ///< by entry
    std::set<std::string, std::less<>> requested;              ///< of the required requests
    std::vector<std::pair<Rank, std::string>> ids;             ///< of all invocations
    std::map<Rank, Named> first;  ///< the first of them that no entry names, at most kFirst
    ByVerdict<VerdictResult> verdicts;
    ByVerdict<Value> blocking;  ///< of those invocations for which the verdict blocks
    ByVerdict<Value> own;       ///< of the case, whatever came of it
    State() { blocking.items.fill(Value::kPassed), own.items.fill(Value::kPassed); }
    /// Something of the case itself, which no invocation shows.
    void note(Verdict verdict, Value value) {
      verdicts[verdict].value = worse(verdicts[verdict].value, value);
      own[verdict] = worse(own[verdict], value);
    }
  };
  /// An entry, by its case and its place there.
  struct Claim {
    std::uint32_t of_case = kNone;
    std::uint32_t entry = kNone;
    bool is_met = false;       ///< an invocation with the id was seen
    bool is_misnamed = false;  ///< for another tool or route
  };

  [[nodiscard]] std::uint32_t find_case(const CallView& call) const;
  void offer(State& state, const CallView& call, const Rank& rank);
  void match_entries(std::size_t index);
  [[nodiscard]] bool is_as_named(const Expectation& entry, const CallView& call) const;
  [[nodiscard]] std::optional<std::string> came_instead(const State& state,
                                                        const Expectation& entry) const;
  void find_absent(std::size_t index, bool has_loss, std::vector<Finding>& findings);
  void settle_verdicts(std::size_t index, bool is_request_absent, bool is_vacuous);
  void count_for_gate(const State& state);

  const Manifest* manifest_;
  ByVerdict<bool> blocking_;
  ByVerdict<Value> gate_;
  const RecordStore& store_;
  std::vector<State> states_;
  std::unordered_map<std::string_view, std::uint32_t> by_case_id_;
  std::unordered_map<std::string_view, std::uint32_t> by_run_id_;  // kNone where several claim it
  std::unordered_map<std::string_view, Claim> by_id_;              // entries with an invocation id
  std::unordered_map<std::string, Claim> claimed_;                 // by other invocations' ids
  std::unordered_set<std::string> missing_ids_;                    // told as missing_invocation
  std::uint64_t ambiguous_ = 0;
};

}  // namespace remit::grading
