// The parts around a boundary, each late, down, lying or dead by the roll of the dice.
#include "tests/simulation/node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "base/bytes.h"
#include "base/limits.h"
#include "enforcement/once.h"
#include "evidence/verify.h"

namespace remit::simulation {
namespace {

using access::Decision;
using access::ReasonCode;
using enforcement::Denial;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;
using Fault = testing::FaultyFileSystem::Fault;
using Loss = testing::FaultyFileSystem::Loss;

constexpr char kKeyBytes[] = "0123456789abcdef0123456789abcdef";

DigestKey digest_key() {
  return DigestKey::from_bytes(bytes_of(kKeyBytes)).value();
}

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

/// Knows the people of the facts by their tokens.
class Node::Authenticator final : public identity::Authenticator {
 public:
  explicit Authenticator(Node& node) : node_(node) {}
  identity::Identity authenticate(const access::Credential& credential, WallTime) const override {
    World& world = node_.world_;
    world.meanwhile();
    identity::Identity out;
    if (!node_.trouble(40, {ReasonCode::kInvalidIdentity})) {
      const bool claims_nobody = world.roll(2) == 0;
      if (claims_nobody) out.state = access::PrincipalState::kAuthenticated;
      return out;
    }
    if (credential.kind() == access::Credential::Kind::kNone) {
      out.state = access::PrincipalState::kMissing;
      return out;
    }
    const auto found = world.facts.people.find(credential.secret());
    if (found == world.facts.people.end()) return out;
    out.state = found->second.state;
    if (out.state != access::PrincipalState::kAuthenticated) return out;
    out.principal =
        access::Principal{.subject = found->first,
                          .tenant = found->second.tenant,
                          .class_name = "person",
                          .scopes = {found->second.scopes.begin(), found->second.scopes.end()},
                          .revision = "1"};
    return out;
  }

 private:
  Node& node_;
};

/// Knows the invoices of the facts.
class Node::Store final : public attributes::AttributeSource {
 public:
  explicit Store(Node& node) : node_(node) {}
  Result<access::Resource> resolve(const attributes::ResourceQuery& query) const override {
    World& world = node_.world_;
    ++node_.calls_.back()->looked_up;
    world.meanwhile();
    if (world.roll(30) == 0) node_.publish();
    REMIT_TRY(node_.trouble(30, {ReasonCode::kResolverUnavailable}));
    if (world.roll(20) == 0) {
      node_.meet_fate(ReasonCode::kResolverUnavailable);
      world.clock.advance(kResolveDeadline * 2);
    }
    const std::string* id = world.facts.find(query.reference);
    if (id == nullptr) return Error{ErrorCode::kNotFound, "no such invoice"};
    access::Resource out{.type = std::string(query.type),
                         .id = *id,
                         .tenant = world.facts.owner.at(*id),
                         .source = "invoices",
                         .revision = "1"};
    if (world.twist == Twist::kTrustingStore) {
      const auto caller = world.facts.people.find(node_.calls_.back()->proposal.token);
      out.tenant = caller->second.tenant;
    }
    if (world.roll(20) == 0) lie(out);
    return out;
  }

 private:
  void lie(access::Resource& out) const {
    node_.meet_fate(ReasonCode::kResolverUnavailable);
    switch (node_.world_.roll(5)) {
      case 0:
        out.type = "Other";
        break;
      case 1:
        out.id.clear();
        break;
      case 2:
        out.id = std::string(kMaxIdBytes + 1, 'x');
        break;
      case 3:
        out.attributes = {{"tenant", std::string("tenant-a")}};
        break;
      default:
        out.tenant = std::string("tenant\xff");
        break;
    }
  }
  Node& node_;
};

/// Decides by the rules of one version.
class Node::DecisionPoint final : public decision::DecisionPoint {
 public:
  DecisionPoint(Node& node, std::string_view version) : node_(node), version_(version) {}
  Result<Decision> decide(const decision::DecisionRequest& request) const override {
    World& world = node_.world_;
    world.meanwhile();
    if (world.roll(12) == 0) node_.publish();
    REMIT_TRY(node_.trouble(30, {ReasonCode::kPolicyUnavailable, ReasonCode::kPolicyError}));
    if (world.roll(20) == 0) {
      node_.meet_fate(ReasonCode::kPolicyUnavailable);
      world.clock.advance(kDecideDeadline * 2);
    }
    if (world.roll(25) == 0) {
      node_.meet_fate(ReasonCode::kForbidden);
      node_.meet_fate(ReasonCode::kPolicyError);
      if (world.roll(2) == 0) return Decision::allow({});
      return Decision::deny(ReasonCode::kForbidden, {"some-forbid"});
    }
    if (request.principal.tenant != request.resource.tenant) {
      return Decision::deny(ReasonCode::kTenantMismatch, {"tenant-isolation"});
    }
    if (!permits(version_, request.action)) return Decision::deny(ReasonCode::kNotPermitted);
    const bool is_approved = request.approval.state == "active";
    if (request.action.starts_with("refund") && !is_approved) {
      return Decision::deny(request.approval.state == "absent" ? ReasonCode::kApprovalRequired
                                                               : ReasonCode::kStaleApproval,
                            {"refund-approval"});
    }
    return Decision::allow({"permit-" + version_});
  }
  std::string_view name() const override { return "simulated"; }

 private:
  Node& node_;
  const std::string version_;
};

/// The real log, behind a disk that takes its time.
class Node::Sink final : public evidence::EvidenceSink {
 public:
  explicit Sink(Node& node) : node_(node) {}
  Status commit(const evidence::EventBatch& batch) override {
    node_.world_.meanwhile();
    if (node_.world_.roll(15) == 0) node_.pass_time(std::chrono::seconds{3});
    if (node_.world_.twist == Twist::kForgetfulLog && node_.world_.roll(4) == 0) return {};
    return watched(node_.log_->commit(batch));
  }
  Status append(const evidence::EventBatch& batch) override {
    return watched(node_.log_->append(batch));
  }
  Status publish(const event::Event& published, std::uint64_t generation) override {
    return watched(node_.log_->publish(published, generation));
  }
  Status flush() override { return watched(node_.log_->flush()); }

 private:
  Status watched(Status done) {
    if (!done && done.error().code != ErrorCode::kFailedPrecondition) {
      node_.has_failed_log_ = true;
      node_.meet_fate(ReasonCode::kEvidenceUnavailable);
    }
    return done;
  }
  Node& node_;
};

/// The real ledger, behind a connection that loses questions, answers and last words.
class Node::FaultyLedger final : public ledger::Ledger {
 public:
  FaultyLedger(Node& node, std::unique_ptr<ledger::DatabaseLedger> real)
      : node_(node), real_(std::move(real)) {}

  Result<ledger::ApprovalFinding> find_approval(const ledger::ApprovalQuery& query) override {
    REMIT_TRY(reach());
    return real_->find_approval(query);
  }
  Status note_request(const ledger::ApprovalRequest& request) override {
    REMIT_TRY(reach());
    return real_->note_request(request);
  }
  Result<ledger::ClaimOutcome> claim(const ledger::ClaimQuery& query) override {
    node_.world_.meanwhile();
    REMIT_TRY(reach());
    if (node_.world_.twist == Twist::kForgetfulLedger) {
      return ledger::ClaimOutcome{ledger::ClaimVerdict::kClaimed,
                                  {.claim = std::string(query.claim),
                                   .invocation = std::string(query.invocation),
                                   .approval = std::string(query.approval),
                                   .attempt = 1}};
    }
    auto outcome = real_->claim(query);
    REMIT_TRY(reach());  // the answer may be lost, too
    return outcome;
  }
  Status start(const ledger::Claim& claim) override {
    node_.world_.meanwhile();
    REMIT_TRY(reach());
    if (node_.world_.twist == Twist::kForgetfulLedger) return {};
    REMIT_TRY(real_->start(claim));
    return reach();
  }
  void finish(const ledger::Claim& claim, ledger::Outcome outcome) noexcept override {
    if (node_.is_dead() || node_.world_.roll(12) == 0) return;  // nobody ever hears of it
    if (node_.world_.twist == Twist::kMuteLedger) outcome = ledger::Outcome::kNotRun;
    real_->finish(claim, outcome);
    const bool is_end = outcome == ledger::Outcome::kSucceeded ||
                        outcome == ledger::Outcome::kFailed ||
                        outcome == ledger::Outcome::kCancelled;
    for (Effect& effect : node_.world_.effects) {
      if (effect.invocation == node_.mark() + claim.invocation) effect.is_known = is_end;
    }
  }
  void release(const ledger::Claim& claim) noexcept override {
    // One that could not be written is tried again for as long as the process lives.
    if (!node_.is_dead()) real_->release(claim);
  }
  void renew() {
    if (!node_.is_dead()) static_cast<void>(real_->renew());
  }

 private:
  Status reach() {
    if (node_.is_dead()) return Error{ErrorCode::kUnavailable, "this process is gone"};
    return node_.trouble(25, {ReasonCode::kResolverUnavailable});
  }
  Node& node_;
  std::unique_ptr<ledger::DatabaseLedger> real_;
};

/// The tool, at which effects are counted.
class Node::Handler final : public enforcement::ToolHandler {
 public:
  explicit Handler(Node& node) : node_(node) {}
  HandlerResult run(const enforcement::GrantedCall& granted) override { return node_.run(granted); }

 private:
  Node& node_;
};

Node::Node(World& world, std::string name)
    : world_(world),
      name_(std::move(name)),
      authenticator_(std::make_unique<Authenticator>(*this)),
      store_(std::make_unique<Store>(*this)),
      sources_({{"Invoice", store_.get()}}),
      handler_(std::make_unique<Handler>(*this)) {
  start();
}

Node::~Node() {
  // In order of dependence: permits and boundary have last words for log and ledger.
  permits_.clear();
  boundary_.reset();
}

void Node::start() {
  is_changing_ = true;
  is_armed_ = is_crash_ = has_failed_log_ = false;
  files_.heal();
  auto log = evidence::FileEvidenceLog::open(
      files_, world_.clock, world_.random,
      {.directory = kRoot, .max_segment_bytes = 4096, .append_interval = std::chrono::hours{1}});
  if (!log) return world_.broken(name_ + ": the log does not open: " + log.error().to_string());
  log_ = *std::move(log);
  sink_ = std::make_unique<Sink>(*this);
  const DigestKey key = digest_key();
  auto real = ledger::DatabaseLedger::open({.location = world_.state,
                                            .key_check = enforcement::ledger_key_check(key),
                                            .renews_by_itself = false},
                                           world_.clock, world_.random);
  if (!real) return world_.broken(name_ + ": no ledger: " + real.error().to_string());
  ledger_ = std::make_unique<FaultyLedger>(*this, *std::move(real));
  boundary_.emplace(enforcement::Surroundings{.policy = policy_,
                                              .authenticator = *authenticator_,
                                              .sources = sources_,
                                              .evidence = *sink_,
                                              .clock = world_.clock,
                                              .random = world_.random,
                                              .digest_key = key,
                                              .ledger = ledger_.get()});
  static_cast<void>(boundary_->begin_run({.run_id = "simulation"}));
  if (version_.empty() ? world_.roll(16) != 0 : world_.roll(2) == 0) publish();
  is_changing_ = false;
}

bool Node::is_dead() {
  return is_crash_ && files_.has_failed();
}

// What a dead process leaves: nothing of it gets to disk or ledger, and what it did not sync is
// what the disk makes of it.
void Node::stop_dead() {
  is_changing_ = true;
  world_.count("deaths");
  permits_.clear();
  boundary_.reset();
  log_.reset();
  ledger_.reset();
  switch (world_.roll(3)) {
    case 0:
      files_.revive();
      break;
    case 1:
      files_.restart(static_cast<Loss>(world_.roll(3)));
      break;
    default:
      files_.restart_in_disorder(world_.roll(1'000'000));
      break;
  }
  const auto found = evidence::verify(files_, kRoot);
  if (found && !found->intact()) {
    world_.broken(name_ + ": what was left does not verify: " + found->damage->to_string());
  }
  start();
}

// As an operator does with a process whose log failed, or for a new version of it.
void Node::reopen() {
  is_changing_ = true;
  world_.count("restarts");
  permits_.clear();
  if (boundary_) static_cast<void>(boundary_->end_run());
  boundary_.reset();
  if (log_) static_cast<void>(log_->close());
  log_.reset();
  ledger_.reset();
  start();
}

void Node::end() {
  if (is_dead()) stop_dead();
  files_.heal();
  permits_.clear();
  if (boundary_) static_cast<void>(boundary_->end_run());
  boundary_.reset();
  const bool closed = log_ && log_->close();
  log_.reset();
  ledger_.reset();
  if (closed) return;
  // The next one closes what this one could not.
  start();
  if (log_ != nullptr) end();
}

// One of the next operations on the disk fails, and the process perhaps with it.
void Node::arm() {
  if (is_armed_ || world_.roll(10) != 0) return;
  is_armed_ = true;
  const Fault fault = static_cast<Fault>(world_.roll(3));
  is_crash_ = fault == Fault::kCrash;
  files_.fail_at(1 + world_.roll(12), fault);
}

void Node::meet_fate(ReasonCode reason) {
  for (Call* call : calls_) call->may_be.insert(reason);
}

Status Node::trouble(std::uint64_t odds, std::initializer_list<ReasonCode> reasons) {
  if (world_.roll(odds) != 0) return {};
  world_.count("faults");
  for (const ReasonCode reason : reasons) meet_fate(reason);
  if (world_.roll(3) == 0) throw std::runtime_error("simulated");
  static constexpr std::array kCodes = {
      ErrorCode::kInternal,         ErrorCode::kInvalidInput, ErrorCode::kLimitExceeded,
      ErrorCode::kAlreadyExists,    ErrorCode::kUnsupported,  ErrorCode::kFailedPrecondition,
      ErrorCode::kDeadlineExceeded, ErrorCode::kUnavailable,  ErrorCode::kDataLoss};
  return Error{kCodes[world_.roll(kCodes.size())], "simulated"};
}

// Whoever waited longer than it may is late.
void Node::pass_time(Duration longest) {
  world_.clock.advance(Duration{
      static_cast<Duration::rep>(world_.roll(static_cast<std::uint64_t>(longest.count())))});
}

void Node::publish() {
  version_ = kVersions[world_.roll(kVersions.size())];
  std::string_view rules = version_;
  if (world_.twist == Twist::kOldPolicy && version_ != "v1") rules = "v1";
  const auto snapshot =
      policy_.publish(bundle_of(version_), std::make_shared<DecisionPoint>(*this, rules));
  if (!snapshot) return world_.broken("a bundle is not published");
  world_.count("publications");
  for (Call* call : calls_) {
    ++call->publications;
    call->versions.insert(version_);
    call->may_be.insert(ReasonCode::kPolicyUnavailable);  // it may have changed too often
  }
  if (boundary_ && world_.roll(2) == 0) {
    static_cast<void>(boundary_->record_publication(**snapshot));
  }
}

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
  const Decision advice = boundary_->would_allow(call.proposal.call);
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
