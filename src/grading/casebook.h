// Which invocation belongs to which case and entry, and what a case is worth.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grading/call_view.h"
#include "grading/grade.h"
#include "grading/judge.h"
#include "grading/manifest.h"
#include "grading/record_store.h"

namespace remit::grading {

/// The cases of one manifest beside the invocations of one run. Not thread-safe.
class Casebook {
 public:
  /// `manifest` may be null: then nothing belongs to a case. `blocking` are the verdicts that block
  /// by the contract. Manifest and store outlive this.
  Casebook(const Manifest* manifest, const ByVerdict<bool>& blocking, RecordStore& store);

  /// Ties an invocation to its case (REQ-MF-011). Once for each.
  void enter(const CallView& call);
  /// Ties entries to invocations (REQ-MF-012). Once, after the last `enter`.
  void match();

  [[nodiscard]] const Case* case_of(std::uint32_t invocation) const;
  [[nodiscard]] const Expectation* entry_of(std::uint32_t invocation) const;
  /// The entry that has the invocation's id and another tool or route.
  [[nodiscard]] const Expectation* misnamed_of(std::uint32_t invocation) const;

  /// Adds the verdicts of an invocation to its case.
  void count(const CallView& call, const ByVerdict<Value>& verdicts);
  /// Appends findings of what is absent from cases, and grades them in the order of the manifest.
  std::vector<CaseGrade> conclude(bool has_loss, std::vector<Finding>& findings);

  /// The worst of what blocks of a verdict, over the cases (REQ-GR-005). After `conclude`.
  [[nodiscard]] Value gate_value(Verdict verdict) const { return gate_[verdict]; }

  /// Invocations that two or more cases claim by the run's id, which therefore belong to none.
  [[nodiscard]] std::uint64_t ambiguous() const { return ambiguous_; }
  [[nodiscard]] bool has_cases() const { return manifest_ != nullptr && !manifest_->cases.empty(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// One invocation of a case, by what its requests say.
  struct Member {
    std::uint32_t invocation;
    std::uint32_t writer_rank;
    OrderKey key;
    Ref tool, route;
    bool is_claimed;
  };
  struct State {
    std::vector<Member> members;
    std::vector<std::uint32_t> entries;  ///< by entry: its invocation, or kNone
    std::vector<Ref> requested;          ///< tools of all requests
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
  struct Tie {
    std::uint32_t of_case = kNone;
    std::uint32_t entry = kNone;
    std::uint32_t misnamed = kNone;  ///< entry that names it, but for another tool or route
  };

  [[nodiscard]] std::uint32_t find_case(const CallView& call);
  void match_entries(std::size_t index);
  [[nodiscard]] bool is_as_named(const Expectation& entry, const Member& member) const;
  void find_absent(std::size_t index, bool has_loss, std::vector<Finding>& findings);
  void settle_verdicts(std::size_t index, bool is_request_absent, bool is_vacuous);
  void count_for_gate(const State& state);

  const Manifest* manifest_;
  ByVerdict<bool> blocking_;
  ByVerdict<Value> gate_;
  RecordStore& store_;
  std::vector<State> states_;
  std::vector<Tie> ties_;  // by invocation
  std::unordered_map<Ref, std::uint32_t> by_case_id_;
  std::unordered_map<Ref, std::uint32_t> by_run_id_;  // kNone where several cases claim it
  std::unordered_map<std::uint32_t, Tie> by_invocation_;
  std::unordered_set<std::string> missing_ids_;  // told as missing_invocation
  std::uint64_t ambiguous_ = 0;
};

}  // namespace remit::grading
