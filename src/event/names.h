// The names of spec/events.md: events, fields, and the closed sets of values.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "event/event.h"
#include "event/name_table.h"

namespace remit::event {

inline constexpr std::array<std::string_view, kEventKindCount> kKindNames = {
    "x.",
    "run.started",
    "run.finished",
    "tool.request",
    "resource.resolved",
    "approval.checked",
    "authorization.decision",
    "permit.unspent",
    "executor.start",
    "executor.finish",
    "effect.observed",
    "queue.enqueued",
    "queue.dequeued",
    "queue.denied",
    "policy.published",
    "approval.changed",
    "evidence.lost",
};

/// In the order of `Field`, and behind them `event`, which is a key but no field.
inline constexpr std::array<std::string_view, kFieldCount + 1> kKeyNames = {
    "invocation_id",
    "time",
    "writer",
    "run_id",
    "case_id",
    "route",
    "tool",
    "action",
    "resource_type",
    "resource_id",
    "resource_tenant",
    "requested_ref",
    "trace_id",
    "span_id",
    "manifest_digest",
    "environment",
    "contract",
    "source",
    "principal_state",
    "principal_class",
    "principal_ref",
    "principal_tenant",
    "principal_revision",
    "args_digest",
    "planner_policy_version",
    "idempotency_key_digest",
    "resolution_source",
    "resolution_revision",
    "outcome",
    "approval_id",
    "approval_state",
    "decision",
    "reason",
    "policy_version",
    "policy_digest",
    "mode",
    "decision_id",
    "decision_point",
    "worker",
    "error_type",
    "queue",
    "enqueued_policy_version",
    "cause",
    "seq",
    "attempt",
    "invocations",
    "events",
    "effects",
    "duration_us",
    "enforced",
    "further_resources",
    "determining_policies",
    "event",
};
inline constexpr std::size_t kEventKey = kFieldCount;

inline constexpr std::array<std::string_view, 4> kPrincipalStates = {"authenticated", "missing",
                                                                     "invalid", "expired"};
inline constexpr std::array<std::string_view, 6> kApprovalStates = {
    "active", "absent", "expired", "revoked", "mismatched", "consumed"};
inline constexpr std::array<std::string_view, 2> kModes = {"enforce", "shadow"};

inline constexpr NameTable kKinds(kKindNames);
inline constexpr NameTable kKeys(kKeyNames);
inline constexpr NameTable kPrincipalStateTable(kPrincipalStates);
inline constexpr NameTable kApprovalStateTable(kApprovalStates);
inline constexpr NameTable kModeTable(kModes);

/// The known key that `name` is but for capitals and what parts its words (`invocationId`,
/// `policy-version`), as an index of kKeyNames, or kKeys.kNone.
std::size_t key_meant_by(std::string_view name);

}  // namespace remit::event
