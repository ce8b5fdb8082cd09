// The calls of a process, and what each must not come to.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/simulation/node.h"
#include "tests/simulation/node_parts.h"

namespace remit::simulation {
namespace {

using access::ReasonCode;
using enforcement::Denial;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;

// Refusals of the steps before any store is asked.
bool is_before_look_up(ReasonCode reason) {
  switch (reason) {
    case ReasonCode::kInvalidRequest:
    case ReasonCode::kUnknownRoute:
    case ReasonCode::kMissingIdentity:
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
    case ReasonCode::kUnknownTool:
    case ReasonCode::kMissingScope:
    case ReasonCode::kInvalidArguments:
      return true;
    default:
      return false;
  }
}

}  // namespace

Proposal Node::propose() {
  static constexpr std::array<const char*, 7> kTokens = {"alice", "alice", "alice",  "bob",
                                                         "carol", "dave",  "mallory"};
  static constexpr std::array<const char*, 7> kNames = {
      "march", "march", "alias-of-march", "june", "june", "foreign", "nowhere"};
  static constexpr std::array<const char*, 3> kKeys = {"", "key-1", "key-2"};
  // Every other call is one that nothing speaks against, or little would ever run.
  const bool is_sound = world_.roll(2) == 0;
  Proposal out;
  do {
    out.form = &forms()[world_.roll(forms().size())];
  } while (is_sound && (out.form->fault != ReasonCode::kAllowed || out.form->references == 0));
  if (is_sound) {
    out.token = "alice";
  } else if (world_.roll(20) != 0) {
    out.token = kTokens[world_.roll(kTokens.size())];
  }
  for (int i = 0; i < out.form->references; ++i) {
    out.references.emplace_back(is_sound ? "march" : kNames[world_.roll(kNames.size())]);
  }
  out.call.tool = out.form->tool;
  out.call.route = !is_sound && world_.roll(20) == 0 ? "nowhere" : "agent";
  const policy::Tool* tool = bundle_of("v1")->find_tool(out.form->tool);
  const bool has_ledger = tool != nullptr && tool->needs_ledger();
  if (!has_ledger && world_.roll(8) == 0) out.call.route = "trial";
  if (!out.token.empty()) out.call.credential = access::Credential::bearer(out.token);
  out.call.arguments_json = filled(*out.form, out.references);
  const bool takes_key = has_ledger && tool->idempotency != policy::Idempotency::kNone;
  if (takes_key) out.call.idempotency_key = kKeys[world_.roll(kKeys.size())];
  out.call.run_id = "simulation";
  return out;
}

Node::Call Node::new_call() {
  Call out{.proposal = propose(), .facts = world_.facts};
  out.versions.insert(version_);
  return out;
}

bool Node::has_ledger(const Call& call) const {
  const policy::Tool* tool = bundle_of("v1")->find_tool(call.proposal.form->tool);
  return tool != nullptr && tool->needs_ledger();
}

std::string Node::where(const Call& call) const {
  std::string versions;
  for (const std::string& version : call.versions) versions += " " + version;
  return name_ + ": " + call.proposal.call.tool + " " + call.proposal.call.arguments_json + " by " +
         call.proposal.token + " on " + call.proposal.call.route + " under" + versions;
}

void Node::step() {
  arm();
  if (boundary_) {
    switch (world_.roll(8)) {
      case 0:
      case 1:
        authorize();
        break;
      case 2:
      case 3:
        spend();
        break;
      case 4:
        ask_for_advice();
        break;
      default:
        invoke();
        break;
    }
  }
  if (is_dead()) return stop_dead();
  if (has_failed_log_ && world_.roll(4) != 0) return reopen();
  if (world_.roll(60) == 0) return reopen();
  if (ledger_ && world_.roll(6) == 0) ledger_->renew();
}

void Node::invoke() {
  Call call = new_call();
  calls_.push_back(&call);
  std::stop_source stop;
  if (world_.roll(20) == 0) {
    call.is_cancelled = true;
    stop.request_stop();
  }
  const std::size_t before = world_.effects.size();
  const auto outcome = boundary_->invoke(call.proposal.call, *handler_, stop.get_token());
  settle(outcome, before);
  calls_.pop_back();
  world_.count("invoked");
}

void Node::authorize() {
  Call call = new_call();
  calls_.push_back(&call);
  const std::size_t before = world_.effects.size();
  auto outcome = boundary_->authorize(call.proposal.call);
  calls_.pop_back();
  if (!entered_since(before).empty()) world_.broken(where(call) + ": an effect of asking");
  if (const auto* denial = std::get_if<Denial>(&outcome)) {
    if (!is_dead()) check_denial(call, *denial);
    return;
  }
  if (is_dead()) return;
  world_.count("permits");
  permits_.push_back({std::move(call), std::get<enforcement::CallPermit>(std::move(outcome))});
}

void Node::spend() {
  if (permits_.empty()) return invoke();
  const std::size_t chosen = world_.roll(permits_.size());
  Kept kept = std::move(permits_[chosen]);
  permits_.erase(permits_.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (world_.roll(8) == 0) return;  // never spent
  Call& call = kept.call;
  const std::string invocation{kept.permit.invocation_id()};
  const bool is_other = world_.roll(8) == 0;
  const std::string arguments =
      is_other ? R"({"invoice":"foreign"})" : call.proposal.call.arguments_json;
  const bool is_same = arguments == call.proposal.call.arguments_json;
  calls_.push_back(&call);
  const std::size_t before = world_.effects.size();
  const auto outcome =
      boundary_->spend(std::move(kept.permit), call.proposal.call.tool, arguments, *handler_);
  if (const auto* denial = std::get_if<Denial>(&outcome)) {
    const bool fits = denial->code == "permit_refused" ||
                      denial->reason == ReasonCode::kPolicyUnavailable ||
                      call.may_be.count(denial->reason) != 0;
    if (!fits && !is_dead()) world_.broken(where(call) + ": a permit is refused for nothing");
  } else {
    world_.count("spent");
    if (!is_same) world_.broken(where(call) + ": a permit was good for other arguments");
    settle(outcome, before);
  }
  calls_.pop_back();
}

void Node::ask_for_advice() {
  Call call = new_call();
  calls_.push_back(&call);
  const access::Decision advice = boundary_->would_allow(call.proposal.call);
  calls_.pop_back();
  if (is_dead()) return;
  Denial as_denial;
  as_denial.reason = advice.reason();
  if (!advice.allowed()) return check_denial(call, as_denial);
  const bool may =
      std::any_of(call.versions.begin(), call.versions.end(), [&](const std::string& version) {
        return truth(call.proposal, call.facts, version) == ReasonCode::kAllowed;
      });
  if (!may) world_.broken(where(call) + ": advised what is not so");
}

// This process's own: another one's may stand between them.
std::vector<std::size_t> Node::entered_since(std::size_t before) const {
  std::vector<std::size_t> out;
  for (std::size_t i = before; i < world_.effects.size(); ++i) {
    if (world_.effects[i].invocation.starts_with(mark())) out.push_back(i);
  }
  return out;
}

void Node::settle(const enforcement::CallOutcome& outcome, std::size_t effects_before) {
  const Call& call = *calls_.back();
  const std::vector<std::size_t> entered = entered_since(effects_before);
  if (entered.size() > 1) world_.broken(where(call) + ": the handler was entered twice");
  if (const auto* denial = std::get_if<Denial>(&outcome)) {
    if (!entered.empty()) world_.broken(where(call) + ": an effect of a denied call");
    if (!is_dead()) check_denial(call, *denial);
  } else {
    check_result(call, std::get<HandlerResult>(outcome), entered);
  }
}

void Node::check_denial(const Call& call, const Denial& denial) {
  std::set<ReasonCode> right = call.may_be;
  for (const std::string& version : call.versions) {
    right.insert(truth(call.proposal, call.facts, version));
  }
  if (has_ledger(call)) {
    right.insert({ReasonCode::kDuplicateInvocation, ReasonCode::kOutcomeUnknown});
    if (call.proposal.call.tool.starts_with("refund")) {
      // Whoever gets no permit with an approval is told so, and not of approvals.
      right.insert({ReasonCode::kApprovalRequired, ReasonCode::kStaleApproval});
      if (!call.may_be.empty()) right.insert(ReasonCode::kNotPermitted);
    }
  }
  right.erase(ReasonCode::kAllowed);
  const std::string reason{access::reason_name(denial.reason)};
  if (right.count(denial.reason) == 0) {
    std::string words;
    for (const ReasonCode each : right) words += " " + std::string(access::reason_name(each));
    world_.broken(where(call) + ": denied as " + reason + ", and should be" + words);
  }
  if (is_before_look_up(denial.reason) && call.looked_up > 0 && call.publications == 0) {
    world_.broken(where(call) + ": a store was asked before " + reason);
  }
  world_.count("denied " + reason);
  if (denial.reason != ReasonCode::kEvidenceUnavailable && !denial.invocation_id.empty()) {
    told_.push_back({denial.invocation_id, denial.reason});
  }
}

void Node::check_result(const Call& call, const HandlerResult& result,
                        const std::vector<std::size_t>& entered) {
  const bool may_not_enter = result.error_type == enforcement::kPermitExpired ||
                             result.error_type == enforcement::kClaimLost ||
                             (call.is_cancelled && result.outcome == HandlerOutcome::kCancelled);
  if (entered.empty() && !may_not_enter) {
    world_.broken(where(call) + ": a result of a handler that was not entered");
  }
  if (!entered.empty() && may_not_enter && !call.is_cancelled) {
    world_.broken(where(call) + ": entered, and said not to be");
  }
  if (entered.empty()) {
    world_.count("not entered");
    return;
  }
  if (is_dead()) return;
  const std::string& invocation = world_.effects[entered.front()].invocation;
  told_.push_back({invocation.substr(mark().size()), std::nullopt});
}

HandlerResult Node::run(const enforcement::GrantedCall& granted) {
  const Call& call = *calls_.back();
  world_.count("effects");
  world_.effects.push_back({.invocation = mark() + granted.invocation_id(),
                            .tool = granted.tool().name,
                            .token = call.proposal.token,
                            .key = call.proposal.call.idempotency_key,
                            .arguments = granted.arguments_json()});
  check_granted(call, granted);
  world_.meanwhile();
  if (granted.stop().stop_requested()) return {.outcome = HandlerOutcome::kCancelled};
  switch (world_.roll(16)) {
    case 0:
      throw std::runtime_error("simulated");
    case 1:
      pass_time(std::chrono::minutes{10});
      return {.outcome = HandlerOutcome::kSucceeded, .payload = "{}"};
    case 2:
      return {.outcome = HandlerOutcome::kFailed, .error_type = "Simulated"};
    case 3:
      return {.outcome = HandlerOutcome::kUnknown};
    case 4:
      is_armed_ = is_crash_ = true;
      files_.kill();
      return {};
    case 5:
      if (world_.twist == Twist::kSideDoor) world_.effects.push_back(world_.effects.back());
      [[fallthrough]];
    default:
      return {.outcome = HandlerOutcome::kSucceeded, .payload = "{}"};
  }
}

void Node::check_granted(const Call& call, const enforcement::GrantedCall& granted) {
  const auto wrong = [&](const char* what) { world_.broken(where(call) + ": " + what); };
  const Proposal& proposal = call.proposal;
  if (granted.tool().name != proposal.call.tool) wrong("another tool was entered");
  if (granted.principal().subject != proposal.token) wrong("it ran as somebody else");
  const std::string version = granted.policy_version();
  if (call.versions.count(version) == 0) wrong("it ran under a policy that was not in force");
  const ReasonCode right = truth(proposal, call.facts, version);
  if (right != ReasonCode::kAllowed && !is_shadow(proposal)) {
    return wrong("it ran and should not have");
  }
  if (right != ReasonCode::kAllowed && right != ReasonCode::kTenantMismatch &&
      right != ReasonCode::kNotPermitted) {
    return wrong("it ran in shadow mode though it could not even be decided");
  }
  if (granted.arguments_json() != granted_arguments(proposal, call.facts)) {
    wrong("the handler got other arguments than were judged");
  }
}

}  // namespace remit::simulation
