// The parts around a boundary, each late, down or lying by the roll of the dice.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "tests/simulation/node.h"

namespace remit::simulation {

/// Knows the people of the facts by their tokens.
class Node::Authenticator final : public identity::Authenticator {
 public:
  explicit Authenticator(Node& node) : node_(node) {}
  identity::Identity authenticate(const access::Credential& credential, WallTime) const override {
    World& world = node_.world_;
    world.meanwhile();
    identity::Identity out;
    if (!node_.trouble(40, {access::ReasonCode::kInvalidIdentity})) {
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
    REMIT_TRY(node_.trouble(30, {access::ReasonCode::kResolverUnavailable}));
    if (world.roll(20) == 0) {
      node_.meet_fate(access::ReasonCode::kResolverUnavailable);
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
    node_.meet_fate(access::ReasonCode::kResolverUnavailable);
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
  Result<access::Decision> decide(const decision::DecisionRequest& request) const override {
    World& world = node_.world_;
    world.meanwhile();
    if (world.roll(12) == 0) node_.publish();
    REMIT_TRY(node_.trouble(
        30, {access::ReasonCode::kPolicyUnavailable, access::ReasonCode::kPolicyError}));
    if (world.roll(20) == 0) {
      node_.meet_fate(access::ReasonCode::kPolicyUnavailable);
      world.clock.advance(kDecideDeadline * 2);
    }
    if (world.roll(25) == 0) {
      node_.meet_fate(access::ReasonCode::kForbidden);
      node_.meet_fate(access::ReasonCode::kPolicyError);
      if (world.roll(2) == 0) return access::Decision::allow({});
      return access::Decision::deny(access::ReasonCode::kForbidden, {"some-forbid"});
    }
    if (request.principal.tenant != request.resource.tenant) {
      return access::Decision::deny(access::ReasonCode::kTenantMismatch, {"tenant-isolation"});
    }
    if (!permits(version_, request.action))
      return access::Decision::deny(access::ReasonCode::kNotPermitted);
    const bool is_approved = request.approval.state == "active";
    if (request.action.starts_with("refund") && !is_approved) {
      return access::Decision::deny(request.approval.state == "absent"
                                        ? access::ReasonCode::kApprovalRequired
                                        : access::ReasonCode::kStaleApproval,
                                    {"refund-approval"});
    }
    return access::Decision::allow({"permit-" + version_});
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
      node_.meet_fate(access::ReasonCode::kEvidenceUnavailable);
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
    return node_.trouble(25, {access::ReasonCode::kResolverUnavailable});
  }
  Node& node_;
  std::unique_ptr<ledger::DatabaseLedger> real_;
};

/// The tool, at which effects are counted.
class Node::Handler final : public enforcement::ToolHandler {
 public:
  explicit Handler(Node& node) : node_(node) {}
  enforcement::HandlerResult run(const enforcement::GrantedCall& granted) override {
    return node_.run(granted);
  }

 private:
  Node& node_;
};

}  // namespace remit::simulation
