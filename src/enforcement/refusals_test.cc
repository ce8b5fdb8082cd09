// Refusals that a transport makes, and floods of them.
#include <gtest/gtest.h>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

constexpr char kRequestDecision[] = "tool.request authorization.decision";

// REQ-BD-002.
TEST(Refusals, ATransportsRefusalIsRecorded) {
  using access::ReasonCode;
  struct Case {
    TransportRefusal refusal;
    const char* reason;
    const char* principal_state;
  };
  const std::vector<Case> cases = {
      {{.reason = ReasonCode::kInvalidRequest, .route = "agent"}, "invalid_request", ""},
      {{.reason = ReasonCode::kLimitExceeded, .route = "agent", .tool = "invoice.read"},
       "limit_exceeded",
       ""},
      {{.reason = ReasonCode::kUnknownRoute, .route = "nowhere"}, "unknown_route", ""},
      {{.reason = ReasonCode::kUnknownTool,
        .route = "agent",
        .tool = "mcp:sampling/createMessage",
        .credential = access::Credential::local()},
       "unknown_tool",
       "authenticated"},
      {{.reason = ReasonCode::kUnknownTool, .route = "agent", .tool = "invoice.read"},
       "missing_identity",
       "missing"},
      {{.reason = ReasonCode::kUnknownTool, .route = "nowhere"}, "unknown_route", ""},
      {{.reason = ReasonCode::kAllowed, .route = "agent"}, "invalid_request", ""},
  };
  for (const Case& one : cases) {
    World world;
    const Denial denial = world.boundary->refuse(one.refusal);
    EXPECT_EQ(access::reason_name(denial.reason), one.reason);
    const std::vector<json::Value> events = world.evidence.events();
    ASSERT_EQ(names_of(events), kRequestDecision);
    EXPECT_EQ(text_of(events[1], "reason"), one.reason);
    EXPECT_EQ(text_of(events[0], "principal_state"), one.principal_state);
    EXPECT_EQ(text_of(events[1], "policy_version"), "v1");
  }
}

// Strangers cannot fill the disk; what they said is counted from the first loss on.
TEST(Refusals, AFloodOfRefusalsIsCounted) {
  World world;
  access::ProposedCall call = World::call("invoice.read", "{}");
  call.credential = {};
  constexpr int kFlood = 1000;
  for (int i = 0; i < kFlood; ++i) {
    const auto outcome = world.boundary->invoke(call, world.handler);
    ASSERT_EQ(std::get<Denial>(outcome).reason, access::ReasonCode::kMissingIdentity);
  }
  const auto count = [&](std::string_view name) {
    std::int64_t out = 0;
    for (const json::Value& one : world.evidence.events()) out += text_of(one, "event") == name;
    return out;
  };
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst);
  EXPECT_EQ(count("evidence.lost"), 1);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "evidence.lost"), "cause"), "refusal_flood");

  // Others are heard meanwhile.
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("admin.export", "{}"), world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst + 2);

  world.clock.advance(std::chrono::seconds{1});
  for (int i = 0; i < kFlood; ++i) world.boundary->invoke(call, world.handler);
  EXPECT_EQ(count("authorization.decision"), kRefusalBurst + 2 + kRefusalsPerSecond);
  ASSERT_TRUE(world.boundary->end_run());
  std::int64_t lost = 0;
  for (const json::Value& one : world.evidence.events()) {
    if (text_of(one, "event") == "evidence.lost") lost += *one.find("events")->if_integer();
  }
  EXPECT_EQ(lost, 2 * (2 * kFlood - kRefusalBurst - kRefusalsPerSecond));
}

}  // namespace
}  // namespace remit::enforcement::testing
