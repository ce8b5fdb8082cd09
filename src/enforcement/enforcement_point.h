// The enforcement point: the one path from a proposed call to a handler.
//
// A call falls through `invoke` once, top to bottom (spec/boundary.md); each step that fails ends
// it with its reason and an event, and nothing later runs. A handler is reached only with a
// `GrantedCall`, which only this class makes, out of a `CallPermit`, which only this class makes,
// after the decision is durable.
//
//     EnforcementPoint boundary{{policy, authenticator, sources, evidence, clock, random, key}};
//     CallOutcome outcome = boundary.invoke(call, handler);
//     if (const Denial* denial = std::get_if<Denial>(&outcome)) answer(denial_json(*denial));
//
// Fails closed: whatever goes wrong on the way, an exception of a part included, is a denial with a
// reason of its own, and the handler is not reached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "access/decision.h"
#include "access/principal.h"
#include "access/proposed_call.h"
#include "access/resource.h"
#include "attributes/attribute_source.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/random.h"
#include "base/result.h"
#include "decision/decision_point.h"
#include "evidence/evidence_sink.h"
#include "identity/authenticator.h"
#include "json/value.h"
#include "ledger/ledger.h"
#include "policy/bundle.h"

namespace remit::enforcement {

/// What became of a handler's run, as `executor.finish` records it. Starts at the honest value.
enum class HandlerOutcome : std::uint8_t { kUnknown, kSucceeded, kFailed, kCancelled };
/// `unknown`, `succeeded`, `failed`, `cancelled`: the words of `outcome` in events.
std::string_view outcome_name(HandlerOutcome outcome);

/// The error types of a call whose handler was not entered although its start is on record.
inline constexpr std::string_view kPermitExpired = "permit_expired";
inline constexpr std::string_view kClaimLost = "claim_lost";

/// What a handler gives back. `payload` goes to the caller and never into evidence.
struct HandlerResult {
  HandlerOutcome outcome = HandlerOutcome::kUnknown;
  std::string payload = {};     ///< JSON text for the caller, as the handler's protocol has it
  std::string error_type = {};  ///< a class name where it failed; never a message
};

/// A call that was allowed, recorded and started: all that a handler gets to see. Only
/// EnforcementPoint makes one; it can be neither copied nor moved, so it does not outlive the run.
class GrantedCall {
 public:
  GrantedCall(const GrantedCall&) = delete;
  GrantedCall& operator=(const GrantedCall&) = delete;

  [[nodiscard]] const std::string& invocation_id() const { return invocation_id_; }
  [[nodiscard]] const policy::Tool& tool() const { return *tool_; }
  /// Canonical resources with their revisions (for conditional writes), the primary first.
  [[nodiscard]] const std::vector<access::Resource>& resources() const { return resources_; }
  /// The frozen arguments, canonical ids in place of the caller's references.
  [[nodiscard]] const json::Value& arguments() const { return arguments_; }
  /// The same as canonical JSON text: the bytes that go on (*our bytes go on*).
  [[nodiscard]] const std::string& arguments_json() const { return arguments_json_; }
  /// Who called, as of this call, and the policy that let it: what a handler that puts work off
  /// keeps a reference to, and as context.
  [[nodiscard]] const access::Principal& principal() const { return principal_; }
  [[nodiscard]] const std::string& policy_version() const { return bundle_->version; }
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  [[nodiscard]] const std::string& case_id() const { return case_id_; }
  /// Asks the handler to stop; the outcome is recorded all the same.
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

 private:
  friend class EnforcementPoint;
  GrantedCall() = default;
  std::shared_ptr<const policy::Bundle> bundle_;  // keeps `tool_` alive
  const policy::Tool* tool_ = nullptr;
  std::string invocation_id_;
  access::Principal principal_;
  std::vector<access::Resource> resources_;
  json::Value arguments_;
  std::string arguments_json_;
  std::string run_id_;
  std::string case_id_;
  std::stop_token stop_;
};

/// A privileged action. It cannot be run without a GrantedCall, so not without the boundary. May be
/// used from several threads at once. An exception that leaves `run` is recorded as `unknown`: it
/// may have had its effect (REQ-BD-071).
class ToolHandler {
 public:
  virtual ~ToolHandler() = default;
  virtual HandlerResult run(const GrantedCall& call) = 0;
};

struct PermitState;

/// Leave to run one call once: the decision is durable. Move-only; made only by EnforcementPoint;
/// bound to the decision, the argument digest and the canonical resources; expires a second after
/// resolution unless the catalogue says otherwise. One that is destroyed unspent records
/// `permit.unspent`; so does an enforcement point for the permits that outlive it, after which they
/// are worth nothing and harmless. Not thread-safe; may be moved to another thread.
class CallPermit {
 public:
  CallPermit(CallPermit&& other) noexcept;
  CallPermit& operator=(CallPermit&& other) noexcept;
  CallPermit(const CallPermit&) = delete;
  CallPermit& operator=(const CallPermit&) = delete;
  ~CallPermit();

  /// Empty for one that was moved from or spent.
  [[nodiscard]] std::string_view invocation_id() const;

 private:
  friend class EnforcementPoint;
  explicit CallPermit(std::shared_ptr<PermitState> state);
  void retire() noexcept;
  std::shared_ptr<PermitState> state_;
};

/// Whether and when trying again can help.
enum class Retry : std::uint8_t { kNever, kAfterApproval, kLater };

/// The safe code of what is not found, foreign, forbidden or not permitted: told alike.
inline constexpr std::string_view kNotAvailableCode = "not_available";

/// A refusal, with what the caller may be told. The exact reason is for evidence and operators;
/// callers get `code` and `advice` (spec/boundary.md, "What a caller is told").
struct Denial {
  access::ReasonCode reason = access::ReasonCode::kPolicyError;
  std::string invocation_id;
  std::string code;  ///< safe code
  Retry retry = Retry::kNever;
  std::string advice;                           ///< one sentence, without outside text
  std::vector<std::string> scopes_needed = {};  ///< for `missing_scope`
  std::vector<std::string> arguments = {};      ///< pointers, for `invalid_arguments`; never values
  std::string approval_request = {};  ///< what a person grants, where an approval would help
  std::string first_attempt = {};     ///< state of the key's: `running`, `succeeded`, …, `conflict`
  std::string detail = {};  ///< for the operator's log only, never for the caller; may be empty
};

/// `{"status":"denied","code":…,"retry":…,"advice":…}`, with `scopes`, `arguments`, `request` or
/// `state` where they apply (REQ-RS-010 to 014). Neither reason, invocation id nor detail is in it.
json::Object denial_json(const Denial& denial);

using AuthorizeOutcome = std::variant<Denial, CallPermit>;
using CallOutcome = std::variant<Denial, HandlerResult>;

/// A refusal that a transport made before there was a call: what it knows of it.
struct TransportRefusal {
  access::ReasonCode reason =
      access::ReasonCode::kInvalidRequest;  // or kLimitExceeded, kUnknownRoute, kUnknownTool
  std::string route;
  std::string tool = {};
  access::Credential credential = {};
  std::string run_id = {};
  std::string case_id = {};
  std::optional<access::Deferral> deferral = std::nullopt;  ///< of deferred work
  std::string trace_id = {};                                ///< W3C trace context, for joining only
  std::string span_id = {};
};

/// The run that a process serves, as its launcher named it.
struct RunFacts {
  std::string run_id;
  std::string manifest_digest = {};  ///< `sha256:…` of the manifest's bytes, where there is one
  std::string environment = {};
  std::string contract = {};
};

/// What the enforcement point stands on. All outlive it.
struct Surroundings {
  const decision::CurrentPolicy& policy;
  const identity::Authenticator& authenticator;
  /// Trusted stores by Cedar entity type.
  const std::unordered_map<std::string, const attributes::AttributeSource*>& sources;
  evidence::EvidenceSink& evidence;
  const Clock& clock;
  Random& random;
  DigestKey digest_key;
  /// What may happen once; null where no tool of the policy asks for approvals or keys. One that
  /// does is refused without it.
  ledger::Ledger* ledger = nullptr;
  /// A tool without a resource acts on `Server::"name"`: the upstream's name from the catalogue, or
  /// this one where the entry has no upstream. The server is shared and serves each tenant as its
  /// own, so that resource carries the tenant of the authenticated caller: tenant isolation has
  /// nothing to compare it with, and whatever protects the tool is scopes and policy.
  std::string server_name = "remit";
  /// Calls of one principal, counted once it is known who calls (REQ-BD-024); as many may come at
  /// once. 0: no bound.
  std::int64_t principal_calls_per_second = 0;
};

/// Thread-safe: one object serves every route and thread of a process. No lock is held while a
/// store, the decision point, the log or a handler is busy.
class EnforcementPoint {
 public:
  explicit EnforcementPoint(Surroundings surroundings);
  /// Records `permit.unspent` for permits that are still out, and refusals that were only counted.
  ~EnforcementPoint();
  EnforcementPoint(const EnforcementPoint&) = delete;
  EnforcementPoint& operator=(const EnforcementPoint&) = delete;

  /// The whole path: decision and start become durable in one commit, then the handler runs on this
  /// thread, then the finish is recorded. The finish releases nothing and is not waited for: after
  /// a crash the log may hold a start without its finish, which is what is known then: the outcome
  /// is unknown. The same may stand there after a commit that failed, whose bytes may have reached
  /// the disk although the handler was not entered. Where the tool takes keys or needs an approval,
  /// both are claimed before the commit and given back if it fails; the ledger hears of the start
  /// before the handler is entered, and of its end. If `stop` was asked for before the handler is
  /// entered, it is not entered and the finish is `cancelled`. If the log took longer than a permit
  /// lasts, it is not entered either: `failed` with the error type `permit_expired`, no payload.
  CallOutcome invoke(const access::ProposedCall& call, ToolHandler& handler,
                     std::stop_token stop = {});

  /// Decides and commits the decision; the permit is spent later with `spend`. At most
  /// kMaxOutstandingPermits may be out at a time, else `limit_exceeded`.
  AuthorizeOutcome authorize(const access::ProposedCall& call);

  /// Commits the start and runs the handler with what was decided. `tool` and `arguments_json` are
  /// what the caller is about to run, the references as in the proposal: if they are not what the
  /// permit was given for, if the permit is spent, late, or another enforcement point's, the
  /// handler is not reached, the code is `permit_refused` and what the log gets is
  /// `permit.unspent`. So it is when a newer policy was published in between, with the reason
  /// `policy_unavailable`: ask anew. One that becomes late while its start is made durable ends as
  /// in `invoke`.
  CallOutcome spend(CallPermit permit, std::string_view tool, std::string_view arguments_json,
                    ToolHandler& handler, std::stop_token stop = {});

  /// Advice for planners and user interfaces: what a decision would be now. Records nothing,
  /// permits nothing, proves nothing (REQ-BD-065). It claims nothing and looks at no key. It asks
  /// stores and policy like a real call.
  [[nodiscard]] access::Decision would_allow(const access::ProposedCall& call) const;

  /// Tools whose scopes the credential's principal holds, in catalogue order, from the snapshot in
  /// force; for lists shown to planners, never a substitute for the check. Empty without an
  /// identity or a policy. `snapshot` becomes the one that the pointers live in.
  [[nodiscard]] std::vector<const policy::Tool*> visible_tools(
      const access::Credential& credential,
      std::shared_ptr<const decision::PolicySnapshot>& snapshot) const;

  /// Records a transport's refusal (request and denial) and gives what the caller is told. Refusals
  /// that need no identity are recorded up to kRefusalsPerSecond, beyond it counted in
  /// `evidence.lost`. A refusal of step 5 (`unknown_tool`) passes steps 3 and 4 first, whose own
  /// reasons go before it.
  Denial refuse(const TransportRefusal& refusal);

  /// Writes `policy.published` for a snapshot that was just put in force. A call that finds a newer
  /// snapshot than the log knows does it by itself, so that no decision stands before its policy.
  /// Errors: as of EvidenceSink::publish.
  Status record_publication(const decision::PolicySnapshot& snapshot);

  /// Writes `run.started`. Errors: as of EvidenceSink::commit.
  Status begin_run(const RunFacts& run);

  /// Writes `run.finished` with the number of invocations that this writer recorded (the sink adds
  /// the number of events), durably. Call it when no call is under way and no permit is out: what
  /// comes after it reopens the run. Errors: as of EvidenceSink::commit.
  Status end_run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace remit::enforcement
