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

// REQ-BD-054, REQ-BN-015: shadow relaxes the decision and nothing else.
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
      {"enforced by the tool", "trial", "invoice.strict", R"({"invoice":"foreign"})",
       "tenant_mismatch", true, false},
      {"enforced by the tool for the route", "trial", "invoice.mixed", R"({"invoice":"foreign"})",
       "tenant_mismatch", true, false},
      {"foreign, by tool for the route", "agent", "invoice.mixed", R"({"invoice":"foreign"})",
       "tenant_mismatch", false, true},
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

// REQ-EL-024. Policies are published at every turn, some without a word to the log: the refusal
// that has the last word still stands under the newest of its place, and behind its publication. It
// binds in shadow mode as well.
TEST(PolicyInForce, WhatOverrulesStandsUnderThePolicyOfItsPlace) {
  for (const char* route : {"agent", "trial"}) {
    SCOPED_TRACE(route);
    World world;
    const auto publish_aloud = [&] {
      world.publish();
      static_cast<void>(world.boundary->record_publication(*world.policy.get()));
    };
    world.decision_point->behave = [&](const decision::DecisionRequest&) {
      publish_aloud();
      world.publish();
      return Result<access::Decision>{access::Decision::allow({"p"})};
    };
    int commits = 0;
    std::uint64_t committed = 0;
    world.evidence.on_commit = [&](const evidence::EventBatch& batch) {
      EXPECT_LE(batch.policy_generation, world.evidence.generation());
      if (++commits == kMaxRemakesAfterPublication + 2) publish_aloud();  // the first to overrule
      committed = batch.policy_generation;
      return Status{};
    };
    access::ProposedCall call = World::call("invoice.read", R"({"invoice":"march"})");
    call.route = route;
    const auto outcome = world.boundary->invoke(call, world.handler);
    EXPECT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kPolicyUnavailable);
    EXPECT_EQ(world.handler.runs(), 0U);
    EXPECT_EQ(commits, kMaxRemakesAfterPublication + 3);
    EXPECT_EQ(committed, world.evidence.generation());
    const std::vector<json::Value> events = world.evidence.events();
    EXPECT_EQ(text_of(events.back(), "event"), "authorization.decision");
    EXPECT_EQ(text_of(events.back(), "reason"), "policy_unavailable");
    EXPECT_EQ(*events.back().find("enforced")->if_bool(), true);
  }
}

// REQ-BD-051. What was found out under the policy before is not told under the next.
TEST(PolicyInForce, ADecisionMadeAnewKeepsNothingOfTheFirst) {
  for (const bool ends_early : {false, true}) {
    SCOPED_TRACE(ends_early);
    World world;
    bool is_first = true;
    world.decision_point->behave = [&](const decision::DecisionRequest&) {
      if (std::exchange(is_first, false)) {
        world.publish();
        static_cast<void>(world.boundary->record_publication(*world.policy.get()));
        if (ends_early) {
          world.authenticator.behave = [](const access::Credential&) {
            return identity::Identity{.state = access::PrincipalState::kExpired};
          };
        }
      }
      return Result<access::Decision>{access::Decision::allow({"p"})};
    };
    world.boundary->invoke(World::call("invoice.move", R"({"from":"march","to":"april"})"),
                           world.handler);
    EXPECT_EQ(world.handler.runs(), ends_early ? 0U : 1U);
    const std::vector<json::Value> events = world.evidence.events();
    const json::Value request = first_of(events, "tool.request");
    const json::Value decision = first_of(events, "authorization.decision");
    if (!ends_early) {
      EXPECT_EQ(json::write(*decision.find("further_resources")), R"(["Invoice:canonical-april"])");
      continue;
    }
    EXPECT_EQ(names_of(events), std::string("policy.published ") + kRequestDecision);
    EXPECT_EQ(text_of(decision, "reason"), "expired_identity");
    for (const char* field : {"args_digest", "requested_ref"}) {
      EXPECT_EQ(request.find(field), nullptr) << field;
    }
    for (const char* field :
         {"action", "args_digest", "further_resources", "principal_class", "principal_ref",
          "principal_revision", "principal_tenant", "resource_tenant"}) {
      EXPECT_EQ(decision.find(field), nullptr) << field;
    }
  }
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
