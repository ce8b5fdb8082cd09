// What holds for the whole run and is looked up while each invocation is judged.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "grading/call_view.h"
#include "grading/record_store.h"

namespace remit::grading {

/// Publications, ended runs and losses. Made once after the last event; immutable then.
class RunFacts {
 public:
  /// `store` is settled; it outlives this.
  explicit RunFacts(const RecordStore& store);

  /// Whether the writer published the version, anywhere in its log.
  [[nodiscard]] bool is_published(std::uint32_t writer, Ref version) const;
  /// Whether `run.finished` says that the record of each event of the call is complete
  /// (REQ-GR-074).
  [[nodiscard]] bool is_run_finished(const CallView& call) const;
  /// Whether a closed spy's silence about the call means zero effects (REQ-GR-075).
  [[nodiscard]] bool has_closed_spy(const CallView& call) const;
  /// Whether a loss may have taken events of the call (REQ-GR-071).
  [[nodiscard]] bool is_touched_by_loss(const CallView& call) const;
  /// Whether the writer of `start` lost events, of the call perhaps, before it.
  [[nodiscard]] bool may_have_lost_before(const CallView& call, const EventRecord& start) const;
  [[nodiscard]] bool has_loss() const { return has_loss_; }

 private:
  const RecordStore& store_;
  std::vector<std::pair<std::uint32_t, Ref>> published_;  // writer and version, sorted
  std::vector<Ref> finished_runs_;                        // sorted
  std::vector<std::optional<OrderKey>> finished_;         // by writer: its last of its own record
  std::vector<Ref> spied_runs_;                           // sorted
  bool is_spied_ = false;                                 // by a spy that names no run
  bool has_loss_ = false;
};

}  // namespace remit::grading
