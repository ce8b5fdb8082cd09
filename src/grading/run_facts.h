// What holds for the whole run and is looked up while each invocation is judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/call_view.h"
#include "grading/manifest.h"
#include "grading/record_store.h"

namespace remit::grading {

/// Policies, ended runs and losses, with their texts as references. Made once after the
/// last event; immutable then.
class RunFacts {
 public:
  /// `store` is settled; it outlives this.
  RunFacts(RecordStore& store, const Manifest* manifest);

  struct Policy {
    Ref version;
    Ref digest;  ///< 0 where the manifest gives none
  };
  [[nodiscard]] const std::vector<Policy>& policies() const { return policies_; }

  /// Whether `run.finished` says that the record of each event of the call is complete
  /// (REQ-GR-074).
  [[nodiscard]] bool is_run_finished(const CallView& call) const;
  /// Whether a closed spy's silence about the call means zero effects (REQ-GR-075).
  [[nodiscard]] bool has_closed_spy(const CallView& call) const;
  /// Whether a loss may have taken events of the call (REQ-GR-071).
  [[nodiscard]] bool is_touched_by_loss(const CallView& call) const;
  [[nodiscard]] bool has_loss() const { return has_loss_; }

 private:
  const RecordStore& store_;
  std::vector<Policy> policies_;
  std::vector<Ref> finished_runs_;                 // sorted
  std::vector<std::optional<OrderKey>> finished_;  // by writer: its last of its own record
  std::vector<Ref> spied_runs_;                    // sorted
  bool is_spied_ = false;                          // by a spy that names no run
  bool has_loss_ = false;
};

}  // namespace remit::grading
