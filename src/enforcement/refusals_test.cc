// Refusals that a transport makes, and floods of them.
#include <gtest/gtest.h>

#include "enforcement/enforcement_point.h"
#include "enforcement/refusal_meter.h"
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

// REQ-BD-024: each principal has a rate of its own, whatever way it comes.
TEST(Refusals, ThePrincipalsRateIsItsOwn) {
  World world;
  Surroundings surroundings = world.surroundings(world.policy, world.evidence);
  surroundings.principal_calls_per_second = 2;
  world.boundary.emplace(std::move(surroundings));
  std::string subject = "alice";
  world.authenticator.behave = [&](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->subject = subject;
    return out;
  };
  const auto call = [&](const std::string& tool = "server.ping") {
    const CallOutcome outcome = world.boundary->invoke(World::call(tool, "{}"), world.handler);
    const auto* denial = std::get_if<Denial>(&outcome);
    return denial == nullptr ? "ran" : std::string(access::reason_name(denial->reason));
  };
  EXPECT_EQ(call(), "ran");
  EXPECT_EQ(call("no.such.tool"), "unknown_tool");
  const int asked = world.decision_point->asked;
  world.evidence.clear();
  EXPECT_EQ(call(), "limit_exceeded");
  EXPECT_EQ(world.decision_point->asked, asked) << "and nothing is asked";
  EXPECT_EQ(names_of(world.evidence.events()), kRequestDecision);
  EXPECT_EQ(text_of(world.evidence.events()[0], "principal_state"), "authenticated");
  const AuthorizeOutcome permit = world.boundary->authorize(World::call("server.ping", "{}"));
  EXPECT_EQ(std::get<Denial>(permit).reason, access::ReasonCode::kLimitExceeded);
  EXPECT_TRUE(world.boundary->would_allow(World::call("server.ping", "{}")).allowed())
      << "advice costs nothing";
  subject = "bob";
  EXPECT_EQ(call(), "ran");
  subject = "alice";
  world.clock.advance(std::chrono::milliseconds{500});
  EXPECT_EQ(call(), "ran");
  EXPECT_EQ(call(), "limit_exceeded");
  // A decision that is made again is one call.
  world.clock.advance(std::chrono::seconds{1});
  int commits = 0;
  world.evidence.on_commit = [&](const evidence::EventBatch&) -> Status {
    if (++commits > 1) return {};
    world.publish();
    return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
  };
  EXPECT_EQ(call(), "ran");
  EXPECT_EQ(call(), "ran");
  EXPECT_EQ(call(), "limit_exceeded");
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

// REQ-BD-024. Whoever is known to call too often takes nobody's refusals off the record.
TEST(Refusals, ThePrincipalsHasteHidesNoStranger) {
  World world;
  Surroundings surroundings = world.surroundings(world.policy, world.evidence);
  surroundings.principal_calls_per_second = 1;
  world.boundary.emplace(std::move(surroundings));
  const auto count = [&](std::string_view reason) {
    std::int64_t out = 0;
    for (const json::Value& one : world.evidence.events()) out += text_of(one, "reason") == reason;
    return out;
  };
  constexpr int kFlood = 1000;
  for (int i = 0; i < kFlood; ++i) {
    world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  }
  EXPECT_EQ(world.handler.runs(), 1U);
  EXPECT_EQ(count("limit_exceeded"), kRefusalBurst);
  access::ProposedCall strangers = World::call("server.ping", "{}");
  strangers.credential = {};
  for (int i = 0; i < kRefusalBurst; ++i) world.boundary->invoke(strangers, world.handler);
  EXPECT_EQ(count("missing_identity"), kRefusalBurst);
  ASSERT_TRUE(world.boundary->end_run());
  std::int64_t lost = 0;
  for (const json::Value& one : world.evidence.events()) {
    if (text_of(one, "event") == "evidence.lost") lost += *one.find("events")->if_integer();
  }
  EXPECT_EQ(lost, 2 * (kFlood - 1 - kRefusalBurst)) << "the haste alone";
}

// REQ-BD-002. Whatever was only counted when the point goes away is told by then.
TEST(Refusals, APointThatGoesAwayTellsWhatItOnlyCounted) {
  World world;
  access::ProposedCall call = World::call("invoice.read", "{}");
  call.credential = {};
  constexpr std::int64_t kLost = 10;
  for (std::int64_t i = 0; i < kRefusalBurst + kLost; ++i) {
    world.boundary->invoke(call, world.handler);
  }
  world.boundary.reset();
  std::int64_t lost = 0;
  for (const json::Value& one : world.evidence.events()) {
    if (text_of(one, "event") == "evidence.lost") lost += *one.find("events")->if_integer();
  }
  EXPECT_EQ(lost, 2 * kLost);
}

// Two threads may bring what they read off the clock in the wrong order.
TEST(Refusals, AnOlderReadingOfTheClockTakesNothingBack) {
  constexpr MonotonicTime kLate{1'000'000'000'000};
  constexpr Duration kLong = std::chrono::seconds{10};
  RefusalMeter meter;
  EXPECT_TRUE(meter.admit(kLate));
  for (std::int64_t i = 1; i < kRefusalBurst; ++i) {
    ASSERT_TRUE(meter.admit(kLate + -kLong)) << i;
  }
  EXPECT_FALSE(meter.admit(kLate + -kLong));
  EXPECT_FALSE(meter.admit(kLate));  // what lies between is counted already
  EXPECT_TRUE(meter.admit(kLate + std::chrono::seconds{1}));
}

}  // namespace
}  // namespace remit::enforcement::testing
