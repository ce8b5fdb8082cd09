// Steps 1 to 10 of a call: from what was proposed to a decision, with every fact it rests on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/decision.h"
#include "access/proposed_call.h"
#include "access/resource.h"
#include "base/clock.h"
#include "decision/decision_point.h"
#include "enforcement/enforcement_point.h"
#include "enforcement/once.h"
#include "enforcement/references.h"
#include "enforcement/refusal.h"
#include "identity/authenticator.h"
#include "json/value.h"
#include "ledger/ledger.h"
#include "policy/bundle.h"

namespace remit::enforcement {

/// What a look-up came to, as `resource.resolved` records it.
enum class Resolution : std::uint8_t { kUnavailable, kNotFound, kFound };

/// How far a call came and what was found out on the way. What was not reached is empty. Pointers
/// live in the snapshot. It starts as a denial.
struct Assessment {
  access::Decision decision = {};
  Step reached = Step::kAdmit;  ///< the step that ended it; kRecord when none did
  std::shared_ptr<const decision::PolicySnapshot> snapshot = nullptr;
  const policy::Route* route = nullptr;
  const policy::Tool* tool = nullptr;
  std::optional<identity::Identity> identity = std::nullopt;
  References references = {};
  json::Value arguments = {};      ///< frozen; canonical ids in place once the call may run
  std::string digested_form = {};  ///< of the arguments and the places of references in them
  std::string granted_json = {};   ///< canonical form with the canonical ids: what goes on
  std::vector<access::Resource> resources = {};  ///< the primary first
  std::vector<Resolution> resolutions = {};      ///< one for each look-up that was made
  MonotonicTime resolved_at = {};
  OnceNames once = {};  ///< where the tool may need the ledger
  std::optional<ledger::ApprovalFinding> approval = std::nullopt;  ///< where the tool asks for one
  std::optional<ledger::Claim> claim = std::nullopt;               ///< what step 11 gave
  std::optional<ledger::ClaimVerdict> earlier = std::nullopt;      ///< why it gave none
  bool lacks_key = false;                         ///< the tool needs an invocation key
  bool was_started = false;                       ///< by an earlier attempt under its key
  std::string_view decision_point = {};           ///< who decided, where it came to a decision
  std::vector<std::string> wrong_arguments = {};  ///< pointers

  /// Until when the handler may be entered (REQ-BD-062). There is a tool once a call may run.
  [[nodiscard]] MonotonicTime expires() const {
    return resolved_at + std::chrono::milliseconds{tool->permit_lifetime_ms};
  }
  /// What the bundle says for this route and tool (REQ-BN-015).
  [[nodiscard]] policy::Mode mode() const;
  /// Whether step 10 answered: what shadow mode relaxes, and nothing else.
  [[nodiscard]] bool was_decided() const { return reached == Step::kRecord; }
  /// Whether the decision binds: everything but a step 10 answer in shadow mode (REQ-BD-054).
  [[nodiscard]] bool enforced() const { return !was_decided() || mode() == policy::Mode::kEnforce; }
  /// The approval that an allow rests on and that the call uses up; empty: none.
  [[nodiscard]] std::string_view approval_to_use() const;
  /// Whether there is something to claim before the handler may be reached.
  [[nodiscard]] bool needs_claim() const {
    return may_run() && (!once.key.empty() || !approval_to_use().empty());
  }
  /// Whether it may have had its effect already and nothing is there that could tell.
  [[nodiscard]] bool is_beyond_telling() const {
    return may_run() && was_started && !needs_claim();
  }
  /// Whether it was denied for want of an approval that a person may give.
  [[nodiscard]] bool wants_approval() const;
  /// Whether the handler may be reached once this is durable.
  [[nodiscard]] bool may_run() const { return decision.allowed() || !enforced(); }
};

/// Whether `principal` holds every scope that `tool` asks for: the coarse filter.
bool holds_scopes(const access::Principal& principal, const policy::Tool& tool);

/// Makes assessments. Asks stores, authenticator and decision point; records nothing. Stateless
/// beyond what it stands on, so thread-safe.
class Assessor {
 public:
  explicit Assessor(const Surroundings& world) : world_(world) {}

  /// Whether a principal may have one more call; asked once it is known who calls. Empty: always.
  using Admits = std::function<bool(const access::Principal&)>;

  /// Steps 1 to 10 with `snapshot`, which may be null, at `now`.
  [[nodiscard]] Assessment assess(const access::ProposedCall& call,
                                  std::shared_ptr<const decision::PolicySnapshot> snapshot,
                                  WallTime now, const Admits& admits = {}) const;

  /// A transport's refusal as an assessment: steps before the one that `reason` belongs to are made
  /// up for, where they need no body.
  [[nodiscard]] Assessment refuse(const TransportRefusal& refusal,
                                  std::shared_ptr<const decision::PolicySnapshot> snapshot,
                                  WallTime now) const;

  /// The identity behind a credential. An authenticator that fails, or that claims to have
  /// authenticated nobody, or somebody of a tenant that no record can carry, is an invalid
  /// credential.
  [[nodiscard]] identity::Identity identify(const access::Credential& credential,
                                            WallTime now) const;

 private:
  // Each is one step: true when the call goes on, else `out.decision` is the denial.
  static bool parse(const access::ProposedCall& call, Assessment& out);
  static bool find_route(std::string_view route, Assessment& out);
  bool authenticate(const access::Credential& credential, WallTime now, Assessment& out) const;
  static bool admit(const Admits& admits, Assessment& out);
  static bool look_up(std::string_view tool, Assessment& out);
  static bool pass_scopes(Assessment& out);
  static bool check_arguments(Assessment& out);
  static bool check_key(const access::ProposedCall& call, Assessment& out);
  bool resolve(Assessment& out) const;
  bool find_approval(const access::ProposedCall& call, WallTime now, Assessment& out) const;
  bool without_ledger(const Error& fault, WallTime now, Assessment& out) const;
  bool decide(WallTime now, Assessment& out) const;
  [[nodiscard]] access::Decision ask(WallTime now, const decision::ApprovalFacts& approval,
                                     const Assessment& out) const;
  void weigh_approval(WallTime now, Assessment& out) const;

  static bool freeze(Assessment& out);

  void act_on_server(Assessment& out) const;

  const Surroundings& world_;
};

}  // namespace remit::enforcement
