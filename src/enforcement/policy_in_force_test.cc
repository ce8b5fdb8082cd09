// One decision under one policy: several resources, shadow mode, newer policies, no policy.
#include <gtest/gtest.h>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

constexpr char kRequestDecision[] = "tool.request authorization.decision";

// REQ-BD-044, REQ-RS-004: all must be allowed, and the first reason wins.
TEST(PolicyInForce, SeveralResourcesMakeOneDecision) {
  using access::Decision;
  using access::ReasonCode;
  struct Case {
    Decision from;
    Decision to;
    const char* reason;
    const char* policies;
  };
  const std::vector<Case> cases = {
      {Decision::allow({"b"}), Decision::allow({"a", "b"}), "allowed", R"(["a","b"])"},
      {Decision::deny(ReasonCode::kForbidden, {"f"}), Decision::allow({"a"}), "forbidden",
       R"(["f"])"},
      {Decision::deny(ReasonCode::kNotPermitted), Decision::deny(ReasonCode::kForbidden, {"f"}),
       "forbidden", R"(["f"])"},
      {Decision::deny(ReasonCode::kForbidden, {"f"}),
       Decision::deny(ReasonCode::kTenantMismatch, {"t"}), "tenant_mismatch", R"(["f","t"])"},
      {Decision::deny(ReasonCode::kTenantMismatch, {"t"}),
       Decision::deny(ReasonCode::kPolicyError, {"e"}), "policy_error", R"(["e","t"])"},
  };
  for (const Case& one : cases) {
    World world;
    world.decision_point->behave = [&](const decision::DecisionRequest& request) {
      return Result<Decision>{request.resource.id == "canonical-a" ? one.from : one.to};
    };
    world.boundary->invoke(World::call("invoice.move", R"({"from":"a","to":"b"})"), world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "reason"), one.reason);
    EXPECT_EQ(json::write(*decision.find("determining_policies")), one.policies);
    EXPECT_EQ(world.handler.runs(), std::string_view{one.reason} == "allowed" ? 1U : 0U);
  }
}

// REQ-BD-054: shadow relaxes the decision and nothing else.
TEST(PolicyInForce, ShadowRelaxesTheDecisionOnly) {
  struct Case {
    const char* name;
    const char* route;
    const char* tool;
    const char* arguments;
    const char* reason;
    bool enforced;
    bool runs;
  };
  const std::vector<Case> cases = {
      {"foreign, by route", "trial", "invoice.read", R"({"invoice":"foreign"})", "tenant_mismatch",
       false, true},
      {"foreign, by tool", "agent", "invoice.trial", R"({"invoice":"foreign"})", "tenant_mismatch",
       false, true},
      {"allowed", "trial", "invoice.read", R"({"invoice":"march"})", "allowed", false, true},
      {"not found", "trial", "invoice.read", R"({"invoice":"missing"})", "resource_not_found", true,
       false},
      {"unknown tool", "trial", "invoice.shred", "{}", "unknown_tool", true, false},
      {"missing scope", "trial", "admin.export", "{}", "missing_scope", true, false},
      {"invalid arguments", "agent", "invoice.trial", R"({"x":1})", "invalid_arguments", true,
       false},
      {"enforced elsewhere", "agent", "invoice.read", R"({"invoice":"foreign"})", "tenant_mismatch",
       true, false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    World world;
    access::ProposedCall call = World::call(one.tool, one.arguments);
    call.route = one.route;
    world.boundary->invoke(call, world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "reason"), one.reason);
    EXPECT_EQ(text_of(decision, "decision"),
              std::string_view{one.reason} == "allowed" ? "allow" : "deny");
    EXPECT_EQ(*decision.find("enforced")->if_bool(), one.enforced);
    EXPECT_EQ(world.handler.runs(), one.runs ? 1U : 0U);
    if (one.runs) {
      const json::Value start = first_of(world.evidence.events(), "executor.start");
      EXPECT_EQ(text_of(start, "decision_id"), text_of(decision, "decision_id"));
    }
  }
  // Evidence stays: what cannot be recorded does not run, in shadow as well.
  World world;
  world.evidence.on_commit = [](const evidence::EventBatch&) {
    return Status{Error{ErrorCode::kUnavailable, "no space"}};
  };
  access::ProposedCall call = World::call("invoice.read", R"({"invoice":"march"})");
  call.route = "trial";
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 0U);
}

// REQ-BD-021: what changed about the principal counts on the next call.
TEST(PolicyInForce, APrincipalIsAskedAnewForEachCall) {
  World world;
  const access::ProposedCall call = World::call("invoice.read", R"({"invoice":"march"})");
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  world.authenticator.behave = [](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->tenant = "tenant-b";
    return out;
  };
  const auto outcome = world.boundary->invoke(call, world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kTenantMismatch);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-050, REQ-BD-051.
TEST(PolicyInForce, ANewerPolicyMakesTheDecisionAnew) {
  World world;
  int asked = 0;
  world.decision_point->behave = [&](const decision::DecisionRequest&) {
    if (++asked == 1) {
      // Between the decision and its record somebody publishes a policy that forbids.
      world.publish();
      static_cast<void>(world.boundary->record_publication(*world.policy.get()));
      return Result<access::Decision>{access::Decision::allow({"old"})};
    }
    return Result<access::Decision>{
        access::Decision::deny(access::ReasonCode::kForbidden, {"new"})};
  };
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(world.handler.runs(), 0U);
  EXPECT_EQ(names_of(world.evidence.events()),
            "policy.published tool.request resource.resolved authorization.decision");
  EXPECT_EQ(text_of(world.evidence.events()[3], "reason"), "forbidden");
}

// REQ-BD-051.
TEST(PolicyInForce, APolicyThatNeverSettlesDenies) {
  World world;
  world.decision_point->behave = [&](const decision::DecisionRequest&) {
    world.publish();
    static_cast<void>(world.boundary->record_publication(*world.policy.get()));
    return Result<access::Decision>{access::Decision::allow({"p"})};
  };
  const auto outcome =
      world.boundary->invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kPolicyUnavailable);
  EXPECT_EQ(world.decision_point->asked, kMaxRemakesAfterPublication + 1);
  EXPECT_EQ(world.handler.runs(), 0U);
  const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
  EXPECT_EQ(text_of(decision, "reason"), "policy_unavailable");
  EXPECT_EQ(decision.find("determining_policies"), nullptr);
  EXPECT_EQ(*decision.find("enforced")->if_bool(), true);
}

// A snapshot may come into force before anybody has told the log: the first call does.
TEST(PolicyInForce, NoDecisionStandsBeforeItsPolicy) {
  World world;
  world.publish();
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  const std::string names = names_of(world.evidence.events());
  EXPECT_EQ(names,
            "policy.published tool.request authorization.decision executor.start executor.finish "
            "tool.request authorization.decision executor.start executor.finish");
  World other;
  other.publish();
  other.evidence.on_publish = [] { return Status{Error{ErrorCode::kUnavailable, "no space"}}; };
  const auto outcome = other.boundary->invoke(World::call("server.ping", "{}"), other.handler);
  EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kEvidenceUnavailable);
  EXPECT_EQ(other.handler.runs(), 0U);
}

TEST(PolicyInForce, WithoutAPolicyNobodyIsAsked) {
  World world;
  const decision::CurrentPolicy none;
  EnforcementPoint boundary(world.surroundings(none, world.evidence));
  boundary.invoke(World::call("invoice.read", R"({"invoice":"march"})"), world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(names_of(events), kRequestDecision);
  EXPECT_EQ(text_of(events[1], "reason"), "policy_unavailable");
  EXPECT_EQ(events[1].find("principal_state"), nullptr);
  std::shared_ptr<const decision::PolicySnapshot> snapshot;
  EXPECT_TRUE(boundary.visible_tools(access::Credential::local(), snapshot).empty());
}

}  // namespace
}  // namespace remit::enforcement::testing
