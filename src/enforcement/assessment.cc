// The steps before anything is recorded, in the order that rules (REQ-BD-001).
#include "enforcement/assessment.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "enforcement/guarded.h"
#include "enforcement/recorded_text.h"

namespace remit::enforcement {
namespace {

using access::Decision;
using access::PrincipalState;
using access::ReasonCode;

bool stop_at(Step step, Decision decision, Assessment& out) {
  out.reached = step;
  out.decision = std::move(decision);
  return false;
}

bool stop_at(Step step, const Error& error, Assessment& out) {
  return stop_at(step, refusal_of(step, error), out);
}

bool refuse_step(Step step, std::string message, Assessment& out) {
  return stop_at(step, Error{ErrorCode::kNotFound, std::move(message)}, out);
}

bool has_snapshot(Assessment& out) {
  return out.snapshot != nullptr || refuse_step(Step::kSnapshot, "no policy is in force", out);
}

ReasonCode identity_reason(PrincipalState state) {
  switch (state) {
    case PrincipalState::kMissing:
      return ReasonCode::kMissingIdentity;
    case PrincipalState::kExpired:
      return ReasonCode::kExpiredIdentity;
    case PrincipalState::kInvalid:
    case PrincipalState::kAuthenticated:
      return ReasonCode::kInvalidIdentity;
  }
  return ReasonCode::kInvalidIdentity;
}

// Pure computation needs no look-up and no policy; its catalogue entry is what permits it.
bool is_pure(const policy::Tool& tool) {
  return !tool.has_boundary && tool.effect == policy::Effect::kNone;
}

bool is_about_approval(ReasonCode reason) {
  return reason == ReasonCode::kApprovalRequired || reason == ReasonCode::kStaleApproval;
}

// A pointer is told to the caller, whose own words may be in it; it is not told at any length.
void note_wrong(std::string pointer, std::vector<std::string>& out) {
  if (out.size() < kMaxReportedArguments && pointer.size() <= kMaxIdBytes) {
    out.push_back(std::move(pointer));
  }
}

bool is_fit_or_empty(std::string_view text) {
  return text.empty() || is_bounded_text(text);
}

// What a store may not do: answer for another type, without an id, or with text that no record can
// carry; smuggle a second tenant in among the attributes.
Status well_formed(const access::Resource& resource, std::string_view type) {
  const auto lies = [](const char* what) {
    return Error{ErrorCode::kDataLoss, std::string("the store's answer has ") + what};
  };
  if (resource.type != type) return lies("another type than was asked for");
  if (!is_bounded_text(resource.id)) return lies("no usable id");
  if (!is_fit_or_empty(resource.tenant)) return lies("an unusable tenant");
  if (!is_fit_or_empty(resource.source) || !is_fit_or_empty(resource.revision)) {
    return lies("an unusable origin");
  }
  const std::string* previous = nullptr;
  for (const auto& [name, value] : resource.attributes) {
    if (name.empty() || name == "tenant") return lies("an attribute of a reserved name");
    if (previous != nullptr && *previous >= name) return lies("attributes out of order");
    previous = &name;
  }
  return {};
}

// One decision of several: an allow only if all are; the first reason of the list wins.
Decision merged(std::vector<Decision> decisions) {
  if (decisions.size() == 1) return std::move(decisions.front());
  const bool all_allowed = !decisions.empty() &&
                           std::all_of(decisions.begin(), decisions.end(),
                                       [](const Decision& decision) { return decision.allowed(); });
  ReasonCode reason = ReasonCode::kAllowed;
  std::vector<std::string> policies;
  std::string detail;
  for (const Decision& decision : decisions) {
    if (decision.allowed() != all_allowed) continue;
    if (decision.reason() < reason) {
      reason = decision.reason();
      detail = decision.detail();
    }
    policies.insert(policies.end(), decision.determining_policies().begin(),
                    decision.determining_policies().end());
  }
  std::sort(policies.begin(), policies.end());
  policies.erase(std::unique(policies.begin(), policies.end()), policies.end());
  if (all_allowed) return Decision::allow(std::move(policies));
  return Decision::deny(reason, std::move(policies), std::move(detail));
}

}  // namespace

bool holds_scopes(const access::Principal& principal, const policy::Tool& tool) {
  return std::all_of(tool.scopes.begin(), tool.scopes.end(),
                     [&](const std::string& scope) { return principal.holds(scope); });
}

policy::Mode Assessment::mode() const {
  return policy::mode_of(route, tool);
}

std::string_view Assessment::approval_to_use() const {
  if (!approval || !decision.allowed()) return {};
  return approval->approval;
}

bool Assessment::wants_approval() const {
  return approval && was_decided() &&
         (decision.reason() == ReasonCode::kApprovalRequired ||
          decision.reason() == ReasonCode::kStaleApproval);
}

Assessment Assessor::assess(const access::ProposedCall& call,
                            std::shared_ptr<const decision::PolicySnapshot> snapshot, WallTime now,
                            const Admits& admits) const {
  Assessment out;
  out.snapshot = std::move(snapshot);
  out.was_started = call.deferral && call.deferral->was_started;
  const bool decided = parse(call, out) && has_snapshot(out) && find_route(call.route, out) &&
                       authenticate(call.credential, now, out) && admit(admits, out) &&
                       look_up(call.tool, out) && pass_scopes(out) && check_arguments(out) &&
                       check_key(call, out) && resolve(out) && find_approval(call, now, out) &&
                       decide(now, out) && freeze(out);
  if (decided) out.reached = Step::kRecord;
  return out;
}

Assessment Assessor::refuse(const TransportRefusal& refusal,
                            std::shared_ptr<const decision::PolicySnapshot> snapshot,
                            WallTime now) const {
  Assessment out;
  out.snapshot = std::move(snapshot);
  switch (refusal.reason) {
    case ReasonCode::kLimitExceeded:
      stop_at(Step::kAdmit, Decision::deny(refusal.reason), out);
      break;
    case ReasonCode::kUnknownRoute:
      if (has_snapshot(out)) stop_at(Step::kRoute, Decision::deny(refusal.reason), out);
      break;
    case ReasonCode::kUnknownTool:
      if (has_snapshot(out) && find_route(refusal.route, out) &&
          authenticate(refusal.credential, now, out)) {
        stop_at(Step::kLookUp, Decision::deny(refusal.reason), out);
      }
      break;
    default:  // a transport can refuse for nothing else before there is a call
      stop_at(Step::kParse, Decision::deny(ReasonCode::kInvalidRequest), out);
      break;
  }
  return out;
}

bool Assessor::parse(const access::ProposedCall& call, Assessment& out) {
  const std::size_t bytes = call.arguments_json.size() + call.tool.size() +
                            call.idempotency_key.size() + call.planner_policy_version.size();
  if (bytes > kMaxCallBytes) {
    return stop_at(Step::kAdmit, Error{ErrorCode::kLimitExceeded, "the call is too large"}, out);
  }
  if (call.arguments_json.empty()) {
    out.arguments = json::Object{};
    return true;
  }
  const json::ParseLimits limits{.max_bytes = kMaxCallBytes};
  Result<json::Value> parsed =
      guarded("arguments", [&] { return json::parse(call.arguments_json, limits); });
  if (!parsed) return stop_at(Step::kParse, parsed.error(), out);
  if (parsed->if_object() == nullptr) {
    return stop_at(Step::kParse, Error{ErrorCode::kInvalidInput, "the arguments are not an object"},
                   out);
  }
  out.arguments = *std::move(parsed);
  return true;
}

bool Assessor::find_route(std::string_view route, Assessment& out) {
  out.route = out.snapshot->bundle->find_route(route);
  return out.route != nullptr || refuse_step(Step::kRoute, "no such route", out);
}

identity::Identity Assessor::identify(const access::Credential& credential, WallTime now) const {
  Result<identity::Identity> asked = guarded("authenticator", [&]() -> Result<identity::Identity> {
    return world_.authenticator.authenticate(credential, now);
  });
  identity::Identity out;
  if (!asked) {
    out.detail = asked.error().to_string();
    return out;
  }
  out = *std::move(asked);
  const bool authenticated = out.state == PrincipalState::kAuthenticated;
  if (authenticated && (!out.principal || out.principal->subject.empty())) {
    out.state = PrincipalState::kInvalid;
    out.detail = "the authenticator named no subject";
  }
  // It becomes the tenant of a server's resource: held to what a store's answer is held to.
  if (authenticated && out.principal && !is_fit_or_empty(out.principal->tenant)) {
    out.state = PrincipalState::kInvalid;
    out.detail = "the authenticator named an unusable tenant";
  }
  if (out.state != PrincipalState::kAuthenticated) out.principal.reset();
  return out;
}

bool Assessor::authenticate(const access::Credential& credential, WallTime now,
                            Assessment& out) const {
  out.identity = identify(credential, now);
  if (out.identity->state == PrincipalState::kAuthenticated) return true;
  return stop_at(Step::kIdentify,
                 Decision::deny(identity_reason(out.identity->state), {}, out.identity->detail),
                 out);
}

bool Assessor::admit(const Admits& admits, Assessment& out) {
  if (!admits || admits(*out.identity->principal)) return true;
  return stop_at(
      Step::kIdentify,
      Decision::deny(ReasonCode::kLimitExceeded, {}, "calls of one principal come too often"), out);
}

bool Assessor::look_up(std::string_view tool, Assessment& out) {
  out.tool = out.snapshot->bundle->find_tool(tool);
  return out.tool != nullptr || refuse_step(Step::kLookUp, "no such tool", out);
}

bool Assessor::pass_scopes(Assessment& out) {
  const access::Principal& principal = *out.identity->principal;
  if (holds_scopes(principal, *out.tool)) return true;
  std::string lacking;
  for (const std::string& scope : out.tool->scopes) {
    if (principal.holds(scope)) continue;
    lacking += (lacking.empty() ? "" : ", ") + quoted(scope);
  }
  return refuse_step(Step::kScopes, "the principal does not hold " + lacking, out);
}

bool Assessor::check_arguments(Assessment& out) {
  const policy::Tool& tool = *out.tool;
  if (!tool.open_arguments) {
    // What is wrong and what the caller is told of it are two things: not every name is told.
    bool has_unnamed = false;
    for (const json::Member& member : out.arguments.if_object()->members()) {
      if (!std::binary_search(tool.argument_names.begin(), tool.argument_names.end(),
                              member.first)) {
        has_unnamed = true;
        note_wrong(json::pointer_to({}, member.first), out.wrong_arguments);
      }
    }
    if (has_unnamed) {
      return stop_at(Step::kArguments,
                     Error{ErrorCode::kInvalidInput, "a property that the schema does not name"},
                     out);
    }
  }
  if (tool.arguments) {
    Result<std::vector<json::SchemaMismatch>> mismatches =
        guarded("schema", [&] { return tool.arguments->validate(out.arguments); });
    if (!mismatches) return stop_at(Step::kArguments, mismatches.error(), out);
    for (const json::SchemaMismatch& mismatch : *mismatches) {
      note_wrong(mismatch.property.empty()
                     ? mismatch.instance_pointer
                     : json::pointer_to(mismatch.instance_pointer, mismatch.property),
                 out.wrong_arguments);
    }
    if (!mismatches->empty()) {
      return stop_at(Step::kArguments,
                     Error{ErrorCode::kInvalidInput, "the arguments do not match the schema"}, out);
    }
  }
  Result<References> references = take_references(tool, out.arguments);
  if (!references) {
    note_wrong(references.error().where, out.wrong_arguments);
    return stop_at(Step::kArguments, references.error(), out);
  }
  out.references = *std::move(references);
  out.digested_form = digested_form(out.references, out.arguments);
  return true;
}

// Where the catalogue wants a key, a call without one could happen twice.
bool Assessor::check_key(const access::ProposedCall& call, Assessment& out) {
  if (out.tool->idempotency != policy::Idempotency::kKeyRequired || !call.idempotency_key.empty()) {
    return true;
  }
  out.lacks_key = true;
  return stop_at(Step::kArguments, Error{ErrorCode::kInvalidInput, "no idempotency key was given"},
                 out);
}

void Assessor::act_on_server(Assessment& out) const {
  const std::string& upstream = out.tool->upstream_server;
  access::Resource server;
  server.type = "Server";
  server.id = upstream.empty() ? world_.server_name : upstream;
  server.tenant = out.identity->principal->tenant;
  server.source = "boundary";
  out.resources.push_back(std::move(server));
}

bool Assessor::resolve(Assessment& out) const {
  const MonotonicTime deadline = world_.clock.monotonic_now() + kResolveDeadline;
  for (const ReferenceGroup& group : out.references.groups) {
    if (group.count > 0 || group.entry->optional) continue;
    return stop_at(Step::kResolve,
                   Error{ErrorCode::kNotFound, "no resource was named", group.entry->argument},
                   out);
  }
  for (std::size_t i = 0; i < out.references.texts.size(); ++i) {
    const std::string_view type = out.references.types[i];
    const auto ask = [&]() -> Result<access::Resource> {
      const auto source = world_.sources.find(std::string(type));
      if (source == world_.sources.end() || source->second == nullptr) {
        return Error{ErrorCode::kUnavailable, "no store is configured for " + quoted(type)};
      }
      REMIT_TRY_ASSIGN(access::Resource resource,
                       source->second->resolve({type, out.references.texts[i], deadline}));
      REMIT_TRY(well_formed(resource, type));
      return resource;
    };
    Result<access::Resource> answer = guarded("attribute source", ask);
    if (answer && world_.clock.monotonic_now() > deadline) {
      answer = Error{ErrorCode::kDeadlineExceeded, "the store answered too late"};
    }
    if (!answer) {
      const Decision refusal = refusal_of(Step::kResolve, answer.error());
      out.resolutions.push_back(refusal.reason() == ReasonCode::kResourceNotFound
                                    ? Resolution::kNotFound
                                    : Resolution::kUnavailable);
      return stop_at(Step::kResolve, refusal, out);
    }
    out.resolutions.push_back(Resolution::kFound);
    out.resources.push_back(*std::move(answer));
  }
  out.resolved_at = world_.clock.monotonic_now();
  if (out.resources.empty()) act_on_server(out);
  return true;
}

bool Assessor::find_approval(const access::ProposedCall& call, WallTime now,
                             Assessment& out) const {
  const policy::Tool& tool = *out.tool;
  if (!tool.needs_ledger()) return true;
  if (world_.ledger == nullptr) {
    return without_ledger({ErrorCode::kUnavailable, "no ledger is configured"}, now, out);
  }
  const bool takes_key = tool.idempotency != policy::Idempotency::kNone;
  out.once = once_names({.principal = *out.identity->principal,
                         .tool = tool,
                         .resources = out.resources,
                         .digested_form = out.digested_form,
                         .policy_digest = out.snapshot->bundle->digest,
                         .idempotency_key = takes_key ? call.idempotency_key : std::string_view{}},
                        world_.digest_key);
  if (!tool.approval_required) return true;
  Result<ledger::ApprovalFinding> found = guarded("ledger", [&] {
    return world_.ledger->find_approval(
        {.request = out.once.request, .scope = out.once.scope, .claim = out.once.key});
  });
  if (!found) return without_ledger(found.error(), now, out);
  out.approval = *std::move(found);
  return true;
}

// That the ledger is away is told to those only whom it keeps from something: else whoever may not
// see a resource would learn from it that the resource is there (REQ-BD-060).
bool Assessor::without_ledger(const Error& fault, WallTime now, Assessment& out) const {
  if (is_pure(*out.tool)) return stop_at(Step::kApproval, fault, out);
  decision::ApprovalFacts approved;
  if (out.tool->approval_required) {
    approved.state = ledger::approval_state_name(ledger::ApprovalState::kActive);
  }
  Decision answer = ask(now, approved, out);
  if (answer.allowed()) return stop_at(Step::kApproval, fault, out);
  if (is_about_approval(answer.reason())) {
    answer = Decision::deny(ReasonCode::kNotPermitted, answer.determining_policies());
  }
  out.decision_point = out.snapshot->decision_point->name();
  return stop_at(Step::kApproval, std::move(answer), out);
}

bool Assessor::decide(WallTime now, Assessment& out) const {
  if (is_pure(*out.tool)) {
    out.decision_point = "catalogue";
    out.decision = Decision::allow({"boundary:none"});
    return true;
  }
  out.decision_point = out.snapshot->decision_point->name();
  decision::ApprovalFacts approval;
  if (out.approval) {
    approval = {ledger::approval_state_name(out.approval->state), out.approval->approval};
  }
  out.decision = ask(now, approval, out);
  if (out.approval && out.approval->state != ledger::ApprovalState::kActive) {
    weigh_approval(now, out);
  }
  if (world_.clock.monotonic_now() - out.resolved_at > kDecideDeadline) {
    out.decision = refusal_of(Step::kDecide,
                              Error{ErrorCode::kDeadlineExceeded, "the decision came too late"});
  }
  return true;
}

// One decision over all resources of the call.
Decision Assessor::ask(WallTime now, const decision::ApprovalFacts& approval,
                       const Assessment& out) const {
  const decision::DecisionPoint& decision_point = *out.snapshot->decision_point;
  std::vector<Decision> decisions;
  decisions.reserve(out.resources.size());
  for (const access::Resource& resource : out.resources) {
    const decision::DecisionRequest request{
        .principal = *out.identity->principal,
        .action = out.tool->action,
        .resource = resource,
        .route = out.route->name,
        .environment = out.snapshot->bundle->environment,
        .now = now,
        .approval = approval,
        .arguments = out.arguments,
    };
    Result<Decision> answer =
        guarded("decision point", [&] { return decision_point.decide(request); });
    decisions.push_back(answer ? *std::move(answer) : refusal_of(Step::kDecide, answer.error()));
  }
  return merged(std::move(decisions));
}

// An approval is asked for only where it would help, so that asking betrays nothing (REQ-BD-056).
void Assessor::weigh_approval(WallTime now, Assessment& out) const {
  const ledger::ApprovalFinding& found = *out.approval;
  if (out.decision.reason() == ReasonCode::kPolicyError ||
      out.decision.reason() == ReasonCode::kPolicyUnavailable) {
    return;
  }
  const std::string_view active = ledger::approval_state_name(ledger::ApprovalState::kActive);
  Decision approved = ask(now, {active, found.approval}, out);
  if (approved.allowed()) {
    // This very key used it up: step 11 says what became of that attempt.
    if (found.is_of_this_claim) {
      out.decision = std::move(approved);
      return;
    }
    std::vector<std::string> policies = out.decision.determining_policies();
    if (out.decision.allowed() || policies.empty()) policies = {"catalogue:approval"};
    const bool is_absent = found.state == ledger::ApprovalState::kAbsent;
    out.decision =
        Decision::deny(is_absent ? ReasonCode::kApprovalRequired : ReasonCode::kStaleApproval,
                       std::move(policies), out.decision.detail());
    return;
  }
  if (!out.decision.allowed() && !is_about_approval(out.decision.reason())) return;
  if (is_about_approval(approved.reason())) {
    approved = Decision::deny(ReasonCode::kNotPermitted, approved.determining_policies());
  }
  out.decision = std::move(approved);
}

// The handler gets the canonical ids and never a reference of the caller's (REQ-BD-033).
bool Assessor::freeze(Assessment& out) {
  if (!out.decision.allowed() && out.mode() == policy::Mode::kEnforce) return true;
  if (!has_places(out.references)) {
    out.granted_json = out.digested_form;
    return true;
  }
  if (const Status put = put_canonical_ids(out.references, out.resources, out.arguments); !put) {
    return stop_at(Step::kDecide, put.error(), out);
  }
  out.granted_json = json::canonical(out.arguments);
  return true;
}

}  // namespace remit::enforcement
