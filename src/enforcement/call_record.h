// What the log gets to know of one call: its events, each made of an assessment and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/proposed_call.h"
#include "base/clock.h"
#include "base/digest.h"
#include "enforcement/assessment.h"
#include "event/event.h"

namespace remit::enforcement {

/// One call as its events tell it. Owns every text that they point to, so they are good while this
/// stands still: make events, commit them, then move. Nothing a planner wrote is in it but plain
/// names and digests (REQ-EV-030, REQ-EV-035). Not thread-safe.
class CallRecord {
 public:
  CallRecord(const access::ProposedCall& call, std::string invocation_id, WallTime now,
             const DigestKey& key);

  /// Takes what was found out; a remade decision takes the place of the earlier one.
  void set_assessment(Assessment assessment, std::string decision_id, const DigestKey& key);
  /// Puts a denial in the place of what was decided, which could not be recorded in time; it is
  /// recorded under the policy `in_force`.
  void overrule(access::Decision denial, std::shared_ptr<const decision::PolicySnapshot> in_force);

  [[nodiscard]] const Assessment& assessment() const { return assessment_; }
  /// For the one who runs the call: resources and arguments may be moved out.
  [[nodiscard]] Assessment& assessment() { return assessment_; }
  [[nodiscard]] const std::string& invocation_id() const { return invocation_id_; }
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  [[nodiscard]] const std::string& case_id() const { return case_id_; }

  /// `tool.request`, `resource.resolved` for each look-up, `authorization.decision`; of deferred
  /// work `queue.dequeued` behind the request, and `queue.denied` behind what refuses it.
  void append_decision(std::vector<event::Event>& out) const;
  /// `executor.start`, at `time` (RFC 3339) or, if that is empty, at the time of the call.
  void append_start(std::string_view time, std::vector<event::Event>& out) const;
  /// `executor.finish`; `resource` is the primary, `error_type` a plain name or empty.
  [[nodiscard]] event::Event finish(const access::Resource& resource, std::string_view outcome,
                                    std::string_view error_type, std::int64_t duration_us) const;
  /// `permit.unspent`, and that an approval which was used up for it is active again.
  void append_unspent(std::vector<event::Event>& out) const;

 private:
  // The fields that every event of the call carries; the time is the sink's unless given.
  [[nodiscard]] event::Event begin(event::EventKind kind, std::string_view time) const;
  [[nodiscard]] event::Event request() const;
  [[nodiscard]] event::Event deferred(event::EventKind kind) const;
  [[nodiscard]] event::Event resolution(std::size_t index) const;
  [[nodiscard]] event::Event approval_checked() const;
  [[nodiscard]] event::Event approval_changed(ledger::ApprovalState state) const;
  [[nodiscard]] event::Event decision() const;
  void set_approval(event::Event& out) const;
  [[nodiscard]] bool uses_approval() const {
    return assessment_.claim && !assessment_.claim->approval.empty();
  }

  std::string invocation_id_;
  std::string time_;
  std::string run_id_;
  std::string case_id_;
  std::string route_;
  std::string tool_;
  std::string trace_id_;
  std::string span_id_;
  std::string planner_policy_version_;
  std::string idempotency_key_digest_;
  std::string queue_;  // these of deferred work
  std::string enqueued_policy_version_;
  std::string worker_;
  std::int64_t attempt_ = 0;

  Assessment assessment_;
  std::shared_ptr<const decision::PolicySnapshot> in_force_;  // where it is not the assessment's
  std::string decision_id_;
  std::string args_digest_;
  std::string action_;
  std::string principal_ref_;
  std::string principal_class_;
  std::string principal_tenant_;
  std::string principal_revision_;
  std::vector<std::string> requested_refs_;
  std::vector<std::string> further_resources_;
};

}  // namespace remit::enforcement
