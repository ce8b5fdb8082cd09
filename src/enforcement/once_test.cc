// Steps 9 and 11: approvals and invocation keys, from the first question to the last word.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "enforcement/enforcement_point.h"
#include "enforcement/once.h"
#include "ledger/database_ledger.h"
#include "ledger/desk.h"
#include "tests/support/boundary_world.h"
#include "tests/support/test_folder.h"

namespace remit::enforcement::testing {
namespace {

using namespace std::chrono_literals;
using access::Decision;
using access::ReasonCode;
using remit::testing::TestFolder;

/// The real one, which a test can make fail at each step.
class FaultyLedger final : public ledger::Ledger {
 public:
  using Hook = std::function<Status()>;
  Result<ledger::ApprovalFinding> find_approval(const ledger::ApprovalQuery& query) override {
    ++asked;
    if (on_find) REMIT_TRY(on_find());
    return real->find_approval(query);
  }
  Status note_request(const ledger::ApprovalRequest& request) override {
    ++asked;
    if (on_note) REMIT_TRY(on_note());
    return real->note_request(request);
  }
  Result<ledger::ClaimOutcome> claim(const ledger::ClaimQuery& query) override {
    ++asked;
    if (on_claim) REMIT_TRY(on_claim());
    return real->claim(query);
  }
  Status start(const ledger::Claim& claim) override {
    ++asked;
    if (on_start) REMIT_TRY(on_start());
    return real->start(claim);
  }
  void finish(const ledger::Claim& claim, ledger::Outcome outcome) noexcept override {
    ++asked;
    real->finish(claim, outcome);
  }
  void release(const ledger::Claim& claim) noexcept override {
    ++asked;
    real->release(claim);
  }
  std::unique_ptr<ledger::DatabaseLedger> real;
  Hook on_find, on_note, on_claim, on_start;
  std::atomic<int> asked{0};
};

class OnceTest : public ::testing::Test {
 protected:
  OnceTest() {
    const ledger::Location location{ledger::Location::Kind::kSqlite, folder_.path("state.db")};
    ledger_.real = ledger::DatabaseLedger::open({.location = location,
                                                 .key_check = ledger_key_check(world_.key),
                                                 .renews_by_itself = false},
                                                world_.clock, random_)
                       .value();
    desk_ = ledger::Desk::open(location, world_.clock, random_).value();
    become("alice");
    needs_approval();
    join(&ledger_);
  }
  void join(ledger::Ledger* ledger) {
    Surroundings surroundings = world_.surroundings(world_.policy, world_.evidence);
    surroundings.ledger = ledger;
    world_.boundary.emplace(std::move(surroundings));
  }
  void become(const std::string& subject) {
    world_.authenticator.behave = [subject](const access::Credential&) {
      identity::Identity out{.state = access::PrincipalState::kAuthenticated};
      out.principal = FakeAuthenticator::alice();
      out.principal->subject = subject;
      out.principal->scopes = {"invoice:read", "once"};
      return out;
    };
  }
  /// The usual policy: tenants apart, and refunds forbidden without an approval.
  void needs_approval() {
    world_.decision_point->behave = [](const decision::DecisionRequest& request) {
      if (request.principal.tenant != request.resource.tenant) {
        return Result<Decision>{Decision::deny(ReasonCode::kTenantMismatch, {"tenant-isolation"})};
      }
      if (request.action.starts_with("refund") && request.approval.state != "active") {
        return Result<Decision>{Decision::deny(ReasonCode::kApprovalRequired, {"refund-approval"})};
      }
      return Result<Decision>{Decision::allow({"permit-all"})};
    };
  }
  void decide(Decision decision) {
    world_.decision_point->behave = [decision](const decision::DecisionRequest&) {
      return Result<Decision>{decision};
    };
  }
  static access::ProposedCall call(const std::string& tool, const std::string& key = "",
                                   const std::string& invoice = "march", int amount = 1) {
    access::ProposedCall out = World::call(
        tool, R"({"invoice":")" + invoice + R"(","amount":)" + std::to_string(amount) + "}");
    out.idempotency_key = key;
    return out;
  }
  /// The outcome in a word: the reason, with the state of a first attempt, or the handler's.
  std::string invoke(const access::ProposedCall& proposed, std::stop_token stop = {}) {
    world_.evidence.clear();
    const CallOutcome outcome = world_.boundary->invoke(proposed, world_.handler, std::move(stop));
    if (const auto* denial = std::get_if<Denial>(&outcome)) {
      denial_ = *denial;
      std::string out(access::reason_name(denial->reason));
      if (!denial->first_attempt.empty()) out += " " + denial->first_attempt;
      return out;
    }
    const auto& result = std::get<HandlerResult>(outcome);
    if (!result.error_type.empty()) return result.error_type;
    return result.outcome == HandlerOutcome::kSucceeded ? "succeeded" : "not succeeded";
  }
  std::string grant(std::chrono::seconds lifetime = 600s) {
    const auto granted = desk_->grant({denial_.approval_request, "carol", "it is due", lifetime});
    EXPECT_TRUE(granted) << granted.error().to_string();
    return granted ? *granted : "";
  }
  [[nodiscard]] std::string recorded(std::string_view event, std::string_view field) const {
    return text_of(first_of(world_.evidence.events(), event), field);
  }

  [[nodiscard]] bool has_event(std::string_view event) const {
    const auto events = world_.evidence.events();
    return std::any_of(events.begin(), events.end(),
                       [&](const auto& one) { return text_of(one, "event") == event; });
  }

  World world_;
  TestFolder folder_;
  SystemRandom random_;
  FaultyLedger ledger_;
  std::unique_ptr<ledger::Desk> desk_;
  Denial denial_;
};

// REQ-LG-040
TEST_F(OnceTest, CallsThatHappenAsOftenAsTheyComeAskTheLedgerNothing) {
  EXPECT_EQ(invoke(call("invoice.read", "key")), "succeeded");
  EXPECT_EQ(invoke(call("note.put")), "succeeded");
  EXPECT_EQ(invoke(call("note.put")), "succeeded");
  EXPECT_EQ(ledger_.asked, 0);
}

// REQ-BD-046, REQ-BD-057, REQ-LG-010
TEST_F(OnceTest, AnApprovalIsAskedForGrantedAndUsedOnce) {
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  EXPECT_EQ(names_of(world_.evidence.events()),
            "tool.request resource.resolved approval.checked authorization.decision");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "absent");
  EXPECT_EQ(recorded("authorization.decision", "approval_state"), "absent");
  EXPECT_EQ(denial_.retry, Retry::kAfterApproval);
  ASSERT_EQ(denial_.approval_request.size(), 32U);
  const auto pending = desk_->find_request(denial_.approval_request).value();
  EXPECT_EQ(pending.asked.subject, "alice");
  EXPECT_EQ(pending.asked.tool, "refund.create");
  EXPECT_EQ(pending.asked.resources, "Invoice::\"canonical-march\"");
  EXPECT_EQ(pending.asked.arguments, R"({"amount":1,"invoice":"canonical-march"})");
  EXPECT_EQ(world_.handler.runs(), 0U);

  const std::string approval = grant();
  EXPECT_EQ(invoke(call("refund.create")), "succeeded");
  EXPECT_EQ(names_of(world_.evidence.events()),
            "tool.request resource.resolved approval.checked authorization.decision "
            "approval.changed executor.start executor.finish");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "active");
  EXPECT_EQ(recorded("authorization.decision", "approval_id"), approval);
  EXPECT_EQ(recorded("authorization.decision", "approval_state"), "active");
  EXPECT_EQ(recorded("approval.changed", "approval_state"), "consumed");
  EXPECT_EQ(recorded("approval.changed", "approval_id"), approval);

  EXPECT_EQ(invoke(call("refund.create")), "stale_approval");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "consumed");
  EXPECT_EQ(recorded("approval.checked", "approval_id"), approval);
  EXPECT_EQ(denial_.code, "approval_required") << "the caller is told to ask again, no more";
  EXPECT_EQ(world_.handler.runs(), 1U);
  EXPECT_NE(grant(), "") << "and a person may grant it again";
  EXPECT_EQ(invoke(call("refund.create")), "succeeded");
  EXPECT_EQ(desk_->claims(true)->size(), 2U) << "each invocation without a key is its own";
}

// REQ-BD-056
TEST_F(OnceTest, AnApprovalIsAskedForOnlyWhereItWouldHelp) {
  EXPECT_EQ(invoke(call("refund.create", "", "foreign")), "tenant_mismatch");
  EXPECT_EQ(denial_.approval_request, "");
  decide(Decision::deny(ReasonCode::kApprovalRequired, {"always"}));
  EXPECT_EQ(invoke(call("refund.create")), "not_permitted");
  EXPECT_EQ(denial_.approval_request, "");
  EXPECT_EQ(denial_.code, "not_available");
  decide(Decision::deny(ReasonCode::kForbidden, {"never"}));
  EXPECT_EQ(invoke(call("refund.create")), "forbidden");
  decide(Decision::deny(ReasonCode::kPolicyError, {"broken"}));
  EXPECT_EQ(invoke(call("refund.create")), "policy_error");
  EXPECT_EQ(desk_->pending()->size(), 0U);
  // Where policy itself does not ask, the catalogue does; and a permit that hangs on the approval
  // is as good as a forbid.
  decide(Decision::allow({"permit-all"}));
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  EXPECT_EQ(world_.evidence.text().find("permit-all"), std::string::npos);
  EXPECT_NE(world_.evidence.text().find("catalogue:approval"), std::string::npos);
  world_.decision_point->behave = [](const decision::DecisionRequest& request) {
    return Result<Decision>{request.approval.state == "active"
                                ? Decision::allow({"approved"})
                                : Decision::deny(ReasonCode::kNotPermitted)};
  };
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  // What an approval forbids is not allowed for the want of one.
  world_.decision_point->behave = [](const decision::DecisionRequest& request) {
    return Result<Decision>{request.approval.state == "active"
                                ? Decision::deny(ReasonCode::kForbidden, {"odd"})
                                : Decision::allow({"permit-all"})};
  };
  EXPECT_EQ(invoke(call("refund.create")), "forbidden");
  EXPECT_EQ(world_.handler.runs(), 0U);
}

// REQ-LG-011, REQ-LG-012, REQ-LG-013
TEST_F(OnceTest, AnApprovalIsForOneCallOfOnePrincipalUnderOnePolicy) {
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  const std::string approval = grant();
  EXPECT_EQ(invoke(call("refund.create", "", "march", 2)), "stale_approval");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "mismatched");
  EXPECT_EQ(invoke(call("refund.create", "", "april")), "stale_approval");
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required") << "another tool";
  become("mallory");
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "absent");
  become("alice");
  // Another policy is another digest, whatever it says of this tool.
  const auto other = load_test_bundle("v2");
  REMIT_CHECK(world_.policy.publish(other, world_.decision_point));
  EXPECT_EQ(invoke(call("refund.create")), "stale_approval");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "mismatched");
  const std::string renewed = grant(60s);
  EXPECT_TRUE(desk_->revoke(renewed, "carol", "no"));
  EXPECT_EQ(invoke(call("refund.create")), "stale_approval");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "revoked");
  world_.clock.advance(1s);
  grant(60s);
  world_.clock.advance(61s);
  EXPECT_EQ(invoke(call("refund.create")), "stale_approval");
  EXPECT_EQ(recorded("approval.checked", "approval_state"), "expired");
  EXPECT_EQ(world_.handler.runs(), 0U);
  EXPECT_EQ(desk_->find(approval)->state, ledger::ApprovalState::kActive);
}

// REQ-BD-055, REQ-RS-013, REQ-RS-014, REQ-LG-001, REQ-LG-002, REQ-LG-003
TEST_F(OnceTest, AKeyIsGoodForOneCall) {
  EXPECT_EQ(invoke(call("note.add")), "invalid_arguments");
  EXPECT_NE(denial_.advice.find("idempotency key"), std::string::npos);
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded");
  EXPECT_EQ(invoke(call("note.add", "k")), "duplicate_invocation succeeded");
  EXPECT_EQ(denial_.retry, Retry::kNever);
  EXPECT_EQ(json::write(denial_json(denial_)),
            R"({"status":"denied","code":"repeated","retry":"never","advice":"This key was used )"
            R"(before, and the first attempt has ended. Use a new key for new work only.",)"
            R"("state":"succeeded"})");
  EXPECT_EQ(names_of(world_.evidence.events()),
            "tool.request resource.resolved authorization.decision");
  EXPECT_EQ(recorded("authorization.decision", "decision_point"), "ledger");
  EXPECT_NE(recorded("tool.request", "idempotency_key_digest"), "");
  EXPECT_EQ(invoke(call("note.add", "k", "march", 2)), "duplicate_invocation conflict");
  EXPECT_EQ(invoke(call("note.add", "k", "april")), "duplicate_invocation conflict");
  EXPECT_EQ(invoke(call("note.put", "k")), "succeeded") << "another tool has keys of its own";
  become("bob");
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded") << "and so has another principal";
  EXPECT_EQ(world_.handler.runs(), 3U);
}

// REQ-LG-001, REQ-RS-014
TEST_F(OnceTest, WhileTheFirstRunsOthersAreToldToWait) {
  std::string inner;
  Retry retry = Retry::kNever;
  FakeHandler second;
  world_.handler.behave = [&](const GrantedCall&) {
    const CallOutcome outcome = world_.boundary->invoke(call("note.add", "k"), second);
    const Denial& denial = std::get<Denial>(outcome);
    inner = denial.first_attempt;
    retry = denial.retry;
    return HandlerResult{.outcome = HandlerOutcome::kFailed, .error_type = "tool_error"};
  };
  EXPECT_EQ(invoke(call("note.add", "k")), "tool_error");
  EXPECT_EQ(inner, "running");
  EXPECT_EQ(retry, Retry::kLater);
  EXPECT_EQ(second.runs(), 0U);
  EXPECT_EQ(invoke(call("note.add", "k")), "duplicate_invocation failed");
}

// REQ-LG-007
TEST_F(OnceTest, AnEndThatNobodyKnowsIsNotTriedAgainUnlessItMayBe) {
  world_.handler.behave = [](const GrantedCall&) -> HandlerResult {
    throw std::runtime_error("lost");
  };
  EXPECT_EQ(invoke(call("note.add", "k")), "exception");
  EXPECT_EQ(invoke(call("note.put", "k")), "exception");
  world_.handler.behave = FakeHandler{}.behave;
  EXPECT_EQ(invoke(call("note.add", "k")), "outcome_unknown unknown");
  EXPECT_EQ(denial_.retry, Retry::kNever);
  EXPECT_EQ(invoke(call("note.put", "k")), "succeeded");
  EXPECT_NE(world_.evidence.text().find("\"attempt\":2"), std::string::npos);
  EXPECT_EQ(invoke(call("note.put", "k")), "duplicate_invocation succeeded");
  const std::string claim = desk_->claims(false)->front().claim;
  EXPECT_TRUE(desk_->resolve({claim, ledger::Settlement::kNotRun, "carol", "the log says so"}));
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded");
}

// REQ-LG-041
TEST_F(OnceTest, AKeyThatWasUsedSaysSoAlsoWhereItUsedUpAnApproval) {
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  const std::string approval = grant();
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "succeeded");
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "duplicate_invocation succeeded");
  EXPECT_EQ(recorded("authorization.decision", "approval_state"), "consumed");
  EXPECT_EQ(recorded("authorization.decision", "decision"), "deny");
  EXPECT_EQ(invoke(call("refund.keyed", "k2")), "stale_approval");
  EXPECT_EQ(invoke(call("refund.keyed")), "stale_approval");
  // A further attempt of a key that did not run needs a further approval.
  grant();
  world_.handler.behave = [](const GrantedCall&) -> HandlerResult {
    throw std::runtime_error("lost");
  };
  EXPECT_EQ(invoke(call("refund.keyed", "k3")), "exception");
  world_.handler.behave = FakeHandler{}.behave;
  EXPECT_EQ(invoke(call("refund.keyed", "k3")), "outcome_unknown unknown");
  const std::string claim = desk_->claims(false)->front().claim;
  EXPECT_TRUE(desk_->resolve({claim, ledger::Settlement::kNotRun, "carol", "the log says so"}));
  EXPECT_EQ(invoke(call("refund.keyed", "k3")), "stale_approval");
  grant();
  EXPECT_EQ(invoke(call("refund.keyed", "k3")), "succeeded");
}

// REQ-BD-058, REQ-LG-004
TEST_F(OnceTest, WhatCouldNotBeRecordedIsGivenBack) {
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  grant();
  world_.evidence.on_commit = [](const evidence::EventBatch&) -> Status {
    return Error{ErrorCode::kUnavailable, "disk full"};
  };
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "evidence_unavailable");
  EXPECT_EQ(world_.handler.runs(), 0U);
  EXPECT_EQ(desk_->claims(true)->size(), 0U);
  world_.evidence.on_commit = nullptr;
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "succeeded");
}

// REQ-BD-058
TEST_F(OnceTest, APolicyThatIsPublishedMeanwhileLeavesNoClaim) {
  int commits = 0;
  world_.evidence.on_commit = [&](const evidence::EventBatch&) -> Status {
    if (++commits > 1) return {};
    world_.publish();
    return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
  };
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded");
  EXPECT_EQ(commits, 2);
  EXPECT_EQ(desk_->claims(true)->size(), 1U);
}

// REQ-BD-058, REQ-BD-064
TEST_F(OnceTest, APermitThatIsNotSpentGivesBackWhatItClaimed) {
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  grant();
  world_.evidence.clear();
  {
    const AuthorizeOutcome permit = world_.boundary->authorize(call("refund.keyed", "k"));
    ASSERT_TRUE(std::holds_alternative<CallPermit>(permit));
    const CallOutcome other = world_.boundary->invoke(call("refund.keyed", "k"), world_.handler);
    EXPECT_EQ(std::get<Denial>(other).first_attempt, "running");
  }
  const auto events = world_.evidence.events();
  EXPECT_EQ(text_of(events.back(), "event"), "approval.changed");
  EXPECT_EQ(text_of(events.back(), "approval_state"), "active");
  AuthorizeOutcome permit = world_.boundary->authorize(call("refund.keyed", "k"));
  ASSERT_TRUE(std::holds_alternative<CallPermit>(permit));
  const CallOutcome outcome =
      world_.boundary->spend(std::move(std::get<CallPermit>(permit)), "refund.keyed",
                             R"({"invoice":"march","amount":1})", world_.handler);
  EXPECT_TRUE(std::holds_alternative<HandlerResult>(outcome));
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "duplicate_invocation succeeded");
  EXPECT_EQ(world_.handler.runs(), 1U);
}

// REQ-LG-042
TEST_F(OnceTest, AHandlerThatWasNotEnteredLeavesTheKeyFree) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(invoke(call("note.add", "k"), stop.get_token()), "not succeeded");
  ledger_.on_start = [&]() -> Status {
    world_.clock.advance(2s);
    return {};
  };
  EXPECT_EQ(invoke(call("note.add", "k")), "permit_expired");
  ledger_.on_start = []() -> Status { return Error{ErrorCode::kUnavailable, "gone"}; };
  EXPECT_EQ(invoke(call("note.add", "k")), "claim_lost");
  EXPECT_EQ(names_of(world_.evidence.events()),
            "tool.request resource.resolved authorization.decision executor.start "
            "executor.finish");
  EXPECT_EQ(recorded("executor.finish", "outcome"), "failed");
  EXPECT_EQ(world_.handler.runs(), 0U);
  ledger_.on_start = nullptr;
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded");
  EXPECT_EQ(world_.handler.runs(), 1U);
}

// REQ-LG-030, REQ-RS-006
TEST_F(OnceTest, ALedgerThatIsAwayIsADenialWithoutAnEffect) {
  const auto fails = []() -> Status { return Error{ErrorCode::kUnavailable, "gone"}; };
  const auto throws = []() -> Status { throw std::runtime_error("broken"); };
  for (const FaultyLedger::Hook& fault : {FaultyLedger::Hook{fails}, FaultyLedger::Hook{throws}}) {
    ledger_.on_find = fault;
    EXPECT_EQ(invoke(call("refund.create")), "resolver_unavailable");
    EXPECT_EQ(denial_.retry, Retry::kLater);
    ledger_.on_find = nullptr;
    ledger_.on_claim = fault;
    EXPECT_EQ(invoke(call("note.add", "k")), "resolver_unavailable");
    EXPECT_EQ(recorded("authorization.decision", "decision"), "deny");
    ledger_.on_claim = nullptr;
    ledger_.on_note = fault;
    EXPECT_EQ(invoke(call("refund.create")), "approval_required");
    EXPECT_EQ(denial_.approval_request, "") << "nobody could grant it";
    EXPECT_NE(denial_.detail, "");
    ledger_.on_note = nullptr;
  }
  EXPECT_EQ(world_.handler.runs(), 0U);
  EXPECT_EQ(desk_->claims(true)->size(), 0U);
  join(nullptr);
  EXPECT_EQ(invoke(call("refund.create")), "resolver_unavailable");
  EXPECT_EQ(invoke(call("note.add", "k")), "resolver_unavailable");
  EXPECT_EQ(invoke(call("invoice.read")), "succeeded");
}

// REQ-BD-056: that the ledger is away betrays nothing of what is there.
TEST_F(OnceTest, ALedgerThatIsAwayIsToldToThoseOnlyWhomItKeepsFromSomething) {
  const auto away = [&](bool is_away) {
    ledger_.on_find = nullptr;
    if (is_away) {
      ledger_.on_find = []() -> Status { return Error{ErrorCode::kUnavailable, "gone"}; };
    }
  };
  const auto told = [&](const access::ProposedCall& proposed) {
    const std::string reason = invoke(proposed);
    return reason + " " + json::write(denial_json(denial_));
  };
  for (const char* tool : {"refund.create", "refund.keyed", "refund.trial"}) {
    away(false);
    const std::string missing = told(call(tool, "", "missing"));
    EXPECT_TRUE(missing.starts_with("resource_not_found ")) << missing;
    away(true);
    EXPECT_EQ(told(call(tool, "", "missing")), missing);
    const std::string foreign = told(call(tool, "", "foreign"));
    EXPECT_TRUE(foreign.starts_with("tenant_mismatch ")) << foreign;
    EXPECT_EQ(foreign.substr(foreign.find(' ')), missing.substr(missing.find(' ')));
    EXPECT_EQ(names_of(world_.evidence.events()),
              "tool.request resource.resolved authorization.decision");
    EXPECT_EQ(recorded("authorization.decision", "decision_point"), "fake");
    EXPECT_TRUE(told(call(tool)).starts_with("resolver_unavailable ")) << tool;
  }
  decide(Decision::deny(ReasonCode::kApprovalRequired, {"always"}));
  EXPECT_TRUE(told(call("refund.create")).starts_with("not_permitted "));
  decide(Decision::deny(ReasonCode::kForbidden, {"never"}));
  EXPECT_TRUE(told(call("refund.create")).starts_with("forbidden "));
  needs_approval();
  away(false);
  join(nullptr);
  EXPECT_TRUE(told(call("note.add", "k", "foreign")).starts_with("tenant_mismatch "));
  EXPECT_TRUE(told(call("note.add", "k")).starts_with("resolver_unavailable "));
  EXPECT_EQ(world_.handler.runs(), 0U);
}

// REQ-LG-012
TEST_F(OnceTest, AnApprovalThatGoesAwayBeforeTheClaimIsGone) {
  EXPECT_EQ(invoke(call("refund.create")), "approval_required");
  const std::string approval = grant();
  ledger_.on_claim = [&]() -> Status {
    return desk_->revoke(approval, "carol", "at the last moment");
  };
  EXPECT_EQ(invoke(call("refund.create")), "stale_approval");
  EXPECT_EQ(recorded("authorization.decision", "approval_state"), "revoked");
  EXPECT_EQ(world_.handler.runs(), 0U);
}

// REQ-BD-046: an approval that was active and could then not be claimed may be used up by now.
TEST_F(OnceTest, OfAnApprovalThatCouldNotBeClaimedNothingIsRecorded) {
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  grant();
  ledger_.on_claim = [] { return Status{Error{ErrorCode::kUnavailable, "away"}}; };
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "resolver_unavailable");
  EXPECT_EQ(recorded("authorization.decision", "approval_state"), "");
  EXPECT_FALSE(has_event("approval.checked"));
  ledger_.on_claim = nullptr;
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "succeeded");
}

// REQ-BD-046: of two calls by one key, the one that came second records the approval as used up,
// although it was active when it was looked up.
TEST_F(OnceTest, AnApprovalThatItsOwnKeyUsesUpMeanwhileIsRecordedAsUsedUp) {
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  grant();
  ledger_.on_claim = [&]() -> Status {
    ledger_.on_claim = nullptr;
    EXPECT_EQ(invoke(call("refund.keyed", "k")), "succeeded");
    return {};
  };
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "duplicate_invocation succeeded");
  std::string states;
  for (const auto& event : world_.evidence.events()) {
    if (text_of(event, "event") != "approval.checked") continue;
    states += std::string(text_of(event, "approval_state")) + " ";
  }
  EXPECT_EQ(states, "active consumed ");
}

// REQ-BD-054, REQ-LG-043
TEST_F(OnceTest, ShadowModeRelaxesTheApprovalAndNotTheKey) {
  EXPECT_EQ(invoke(call("refund.trial", "k")), "succeeded");
  EXPECT_EQ(recorded("authorization.decision", "reason"), "approval_required");
  EXPECT_EQ(recorded("authorization.decision", "mode"), "shadow");
  EXPECT_EQ(invoke(call("refund.trial", "k")), "duplicate_invocation succeeded");
  EXPECT_EQ(invoke(call("refund.trial")), "succeeded");
  EXPECT_EQ(desk_->pending()->size(), 0U) << "nobody waits for it";
}

TEST_F(OnceTest, AdviceClaimsNothing) {
  EXPECT_EQ(world_.boundary->would_allow(call("refund.create")).reason(),
            ReasonCode::kApprovalRequired);
  EXPECT_EQ(desk_->pending()->size(), 0U);
  EXPECT_TRUE(world_.boundary->would_allow(call("note.add", "k")).allowed());
  EXPECT_EQ(desk_->claims(true)->size(), 0U);
}

// REQ-BD-059
TEST_F(OnceTest, AKeyThatIsCalledNewAndWasBegunIsRefused) {
  const auto begun = [](const std::string& tool, const std::string& key) {
    access::ProposedCall out = call(tool, key);
    out.deferral = access::Deferral{.queue = "q", .attempt = 2, .was_started = true};
    return out;
  };
  EXPECT_EQ(invoke(begun("note.add", "k")), "outcome_unknown unknown");
  EXPECT_EQ(denial_.retry, Retry::kNever);
  EXPECT_EQ(names_of(world_.evidence.events()),
            "tool.request queue.dequeued resource.resolved authorization.decision queue.denied");
  EXPECT_EQ(recorded("authorization.decision", "decision_point"), "ledger");
  EXPECT_EQ(desk_->claims(true)->size(), 0U) << "what it claimed is given back";
  // So is the approval, and the log has nothing of it.
  EXPECT_EQ(invoke(call("refund.keyed", "k")), "approval_required");
  const std::string approval = grant();
  EXPECT_EQ(invoke(begun("refund.keyed", "k")), "outcome_unknown unknown");
  EXPECT_EQ(world_.evidence.text().find("approval.changed"), std::string::npos);
  EXPECT_EQ(desk_->find(approval)->state, ledger::ApprovalState::kActive);
  // Without a key there is nothing that could tell, in shadow mode too.
  EXPECT_EQ(invoke(begun("note.put", "")), "outcome_unknown unknown");
  EXPECT_EQ(invoke(begun("invoice.read", "k")), "outcome_unknown unknown");
  EXPECT_EQ(invoke(begun("refund.trial", "k")), "outcome_unknown unknown");
  EXPECT_EQ(world_.handler.runs(), 0U);
  // What the ledger knows decides.
  EXPECT_EQ(invoke(call("note.add", "k")), "succeeded");
  EXPECT_EQ(invoke(begun("note.add", "k")), "duplicate_invocation succeeded");
  world_.handler.behave = [](const GrantedCall&) -> HandlerResult {
    throw std::runtime_error("lost");
  };
  EXPECT_EQ(invoke(call("note.put", "k")), "exception");
  world_.handler.behave = FakeHandler{}.behave;
  EXPECT_EQ(invoke(begun("note.put", "k")), "succeeded");
}

// REQ-LG-001
TEST_F(OnceTest, OfManyThreadsWithOneKeyOneRuns) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  std::atomic<int> ran{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const CallOutcome outcome = world_.boundary->invoke(call("note.add", "k"), world_.handler);
      if (std::holds_alternative<HandlerResult>(outcome)) ++ran;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(world_.handler.runs(), 1U);
}

// REQ-LG-011
TEST(OnceNames, PartsDoNotRunIntoOneAnother) {
  const DigestKey key = DigestKey::from_bytes(bytes_of(World::kKeyBytes)).value();
  policy::Tool tool;
  tool.name = "t";
  access::Principal one = FakeAuthenticator::alice();
  access::Principal two = one;
  one.tenant = "ab";
  one.subject = "c";
  two.tenant = "a";
  two.subject = "bc";
  const auto names = [&](const access::Principal& principal,
                         const std::vector<access::Resource>& resources) {
    return once_names({.principal = principal,
                       .tool = tool,
                       .resources = resources,
                       .digested_form = "{}",
                       .policy_digest = "d",
                       .idempotency_key = "k"},
                      key);
  };
  EXPECT_NE(names(one, {}).principal, names(two, {}).principal);
  EXPECT_NE(names(one, {}).key, names(two, {}).key);
  access::Resource left{.type = "A", .id = "bc", .tenant = "", .source = "", .revision = "1"};
  access::Resource right = left;
  right.type = "Ab";
  right.id = "c";
  EXPECT_NE(names(one, {left}).call, names(one, {right}).call);
  EXPECT_NE(names(one, {left, right}).call, names(one, {right, left}).call);
  right = left;
  right.revision = "2";
  EXPECT_EQ(names(one, {left}).call, names(one, {right}).call);
  two = one;
  two.on_behalf_of = "bob";
  EXPECT_NE(names(one, {}).request, names(two, {}).request);
}

}  // namespace
}  // namespace remit::enforcement::testing
