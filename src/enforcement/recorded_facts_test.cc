// What the events of a call and of a run say, and what they never say.
#include <gtest/gtest.h>

#include <stdexcept>

#include "enforcement/enforcement_point.h"
#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

// REQ-BD-043: a tool without a resource acts on its server, which serves each tenant as its own.
TEST(RecordedFacts, AToolWithoutResourceActsOnItsServer) {
  for (const auto& [tool, id] :
       {std::pair{"server.ping", "remit"}, std::pair{"report.make", "desk"}}) {
    World world;
    world.boundary->invoke(World::call(tool, "{}"), world.handler);
    const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
    EXPECT_EQ(text_of(decision, "resource_type"), "Server");
    EXPECT_EQ(text_of(decision, "resource_id"), id);
    EXPECT_EQ(text_of(decision, "resource_tenant"), "tenant-a");
    EXPECT_EQ(text_of(decision, "resolution_source"), "boundary");
  }
}

// REQ-EV-031, REQ-EV-034.
TEST(RecordedFacts, EventsCarryTheFactsOfTheDecision) {
  World world;
  access::ProposedCall call =
      World::call("invoice.move", R"({"from":"march","to":"april","note":"n"})");
  call.run_id = "run-1";
  call.case_id = "case-1";
  call.planner_policy_version = "v0";
  call.idempotency_key = "once";
  call.trace_id = std::string(32, 'a');
  call.span_id = std::string(16, 'b');
  world.handler.behave = [&](const GrantedCall& granted) {
    EXPECT_EQ(granted.run_id(), "run-1");
    EXPECT_EQ(granted.case_id(), "case-1");
    world.clock.advance(std::chrono::microseconds{1500});
    return HandlerResult{.outcome = HandlerOutcome::kFailed, .error_type = "HttpError"};
  };
  world.boundary->invoke(call, world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  ASSERT_EQ(events.size(), 6U);
  const std::string digest = world.key.digest("{\"note\":\"n\"}\n/from\n/to");
  const std::string time = "2026-11-30T12:00:00.000000000Z";

  const json::Value& request = events[0];
  EXPECT_EQ(text_of(request, "time"), time);
  EXPECT_EQ(text_of(request, "run_id"), "run-1");
  EXPECT_EQ(text_of(request, "case_id"), "case-1");
  EXPECT_EQ(text_of(request, "route"), "agent");
  EXPECT_EQ(text_of(request, "principal_state"), "authenticated");
  EXPECT_EQ(text_of(request, "args_digest"), digest);
  EXPECT_EQ(text_of(request, "requested_ref"), world.key.digest("march"));
  EXPECT_EQ(text_of(request, "planner_policy_version"), "v0");
  EXPECT_EQ(text_of(request, "idempotency_key_digest"), world.key.digest("once"));
  EXPECT_EQ(text_of(request, "trace_id"), call.trace_id);
  EXPECT_EQ(text_of(request, "span_id"), call.span_id);

  EXPECT_EQ(text_of(events[2], "resource_id"), "canonical-april");
  EXPECT_EQ(text_of(events[2], "requested_ref"), world.key.digest("april"));
  EXPECT_EQ(text_of(events[2], "outcome"), "found");
  EXPECT_EQ(text_of(events[2], "resolution_revision"), "12");

  const json::Value& decision = events[3];
  EXPECT_EQ(text_of(decision, "action"), "invoice.move");
  EXPECT_EQ(text_of(decision, "resource_id"), "canonical-march");
  EXPECT_EQ(json::write(*decision.find("further_resources")), R"(["Invoice:canonical-april"])");
  EXPECT_EQ(text_of(decision, "policy_version"), "v1");
  EXPECT_TRUE(text_of(decision, "policy_digest").starts_with("sha256:"));
  EXPECT_EQ(json::write(*decision.find("determining_policies")), R"(["permit-all"])");
  EXPECT_EQ(text_of(decision, "principal_ref"), world.key.digest("alice"));
  EXPECT_EQ(text_of(decision, "principal_class"), "support_agent");
  EXPECT_EQ(text_of(decision, "principal_tenant"), "tenant-a");
  EXPECT_EQ(text_of(decision, "principal_revision"), "7");
  EXPECT_EQ(text_of(decision, "resolution_source"), "invoices");
  EXPECT_EQ(text_of(decision, "args_digest"), digest);
  EXPECT_EQ(text_of(decision, "mode"), "enforce");
  EXPECT_EQ(*decision.find("enforced")->if_bool(), true);
  EXPECT_EQ(text_of(decision, "decision_point"), "fake");

  EXPECT_EQ(text_of(events[4], "decision_id"), text_of(decision, "decision_id"));
  EXPECT_EQ(text_of(events[4], "args_digest"), digest);
  EXPECT_EQ(text_of(events[5], "outcome"), "failed");
  EXPECT_EQ(text_of(events[5], "error_type"), "HttpError");
  EXPECT_EQ(*events[5].find("duration_us")->if_integer(), 1500);
  for (const json::Value& one : events) EXPECT_EQ(text_of(one, "tool"), "invoice.move");
}

// REQ-EV-030, REQ-EV-035: what a planner writes reaches the log as plain names and digests only.
TEST(RecordedFacts, HostileTextIsNeverRecorded) {
  const std::string canary = "canary \"\n</script>\xff";
  World world;
  std::vector<access::ProposedCall> calls;
  for (const char* tool : {"invoice.read", "admin.export", "files.read"}) {
    access::ProposedCall call =
        World::call(tool, R"({"invoice":"canary-reference","amount":4711})");
    call.planner_policy_version = canary;
    call.idempotency_key = canary;
    call.trace_id = canary;
    call.span_id = canary;
    call.run_id = canary;
    call.case_id = canary;
    calls.push_back(call);
    call.tool = canary;
    calls.push_back(call);
    call.route = canary;
    calls.push_back(call);
    call.arguments_json = canary;
    calls.push_back(call);
    call.credential = access::Credential::bearer(canary);
    calls.push_back(call);
  }
  world.authenticator.behave = [&](const access::Credential&) {
    identity::Identity out{.state = access::PrincipalState::kAuthenticated};
    out.principal = FakeAuthenticator::alice();
    out.principal->subject = canary;
    out.principal->class_name = canary;
    out.principal->revision = canary;
    return out;
  };
  world.handler.behave = [&](const GrantedCall&) {
    return HandlerResult{
        .outcome = HandlerOutcome::kFailed, .payload = canary, .error_type = canary};
  };
  for (const access::ProposedCall& call : calls) world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  const std::string text = world.evidence.text();
  for (const char* secret :
       {"canary \\", "script", "\\ufffd", "4711", "\"canary-reference\"", "alice"}) {
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(text.find("canonical-canary-reference"), std::string::npos);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "executor.finish"), "error_type"), "unnamed");
}

TEST(RecordedFacts, NoMorePoliciesAreNamedThanTheBound) {
  World world;
  world.decision_point->behave = [](const decision::DecisionRequest&) {
    std::vector<std::string> permits;
    for (std::size_t i = 0; i <= kMaxRecordedPolicies; ++i) {
      permits.push_back("p" + std::to_string(1000 + i));
    }
    return Result<access::Decision>{access::Decision::allow(std::move(permits))};
  };
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
  const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
  EXPECT_EQ(decision.find("determining_policies")->if_array()->size(), kMaxRecordedPolicies);
}

TEST(RecordedFacts, ASafeReferenceIsRecordedInClear) {
  World world;
  world.boundary->invoke(World::call("files.read", R"({"paths":["a.txt"]})"), world.handler);
  EXPECT_EQ(text_of(world.evidence.events()[0], "requested_ref"), "a.txt");
}

TEST(RecordedFacts, ARefusalBeforeResolutionHasNoResource) {
  World world;
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"missing"})"), world.handler);
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(text_of(events[1], "outcome"), "not_found");
  EXPECT_EQ(text_of(events[1], "resource_type"), "Invoice");
  ASSERT_NE(events[2].find("resource_id"), nullptr);
  EXPECT_TRUE(events[2].find("resource_id")->is_null());
}

// REQ-BD-080.
TEST(RecordedFacts, PureComputationAsksNoPolicyAndIsRecorded) {
  World world;
  world.boundary->invoke(World::call("sums.add", R"({"a":1,"b":2})"), world.handler);
  EXPECT_EQ(world.decision_point->asked, 0);
  EXPECT_EQ(world.handler.runs(), 1U);
  const json::Value decision = first_of(world.evidence.events(), "authorization.decision");
  EXPECT_EQ(text_of(decision, "decision_point"), "catalogue");
  EXPECT_EQ(json::write(*decision.find("determining_policies")), R"(["boundary:none"])");
  // Who calls is still asked.
  access::ProposedCall call = World::call("sums.add", R"({"a":1})");
  call.credential = {};
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.handler.runs(), 1U);
}

// REQ-BD-071, REQ-BD-072.
TEST(RecordedFacts, WhatBecomesOfTheRun) {
  struct Case {
    const char* name;
    FakeHandler::Behave behave;
    const char* outcome;
    const char* error_type;
  };
  const std::vector<Case> cases = {
      {"nothing said", [](const GrantedCall&) { return HandlerResult{}; }, "unknown", ""},
      {"cancelled",
       [](const GrantedCall&) { return HandlerResult{.outcome = HandlerOutcome::kCancelled}; },
       "cancelled", ""},
      {"throws", [](const GrantedCall&) -> HandlerResult { throw std::runtime_error("canary"); },
       "unknown", "exception"},
      {"throws anything", [](const GrantedCall&) -> HandlerResult { throw 1; }, "unknown",
       "exception"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    World world;
    world.handler.behave = one.behave;
    world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
    const json::Value finish = first_of(world.evidence.events(), "executor.finish");
    EXPECT_EQ(text_of(finish, "outcome"), one.outcome);
    EXPECT_EQ(text_of(finish, "error_type"), one.error_type);
  }
  World world;
  std::stop_source gone;
  gone.request_stop();
  const auto outcome =
      world.boundary->invoke(World::call("server.ping", "{}"), world.handler, gone.get_token());
  EXPECT_EQ(std::get<HandlerResult>(outcome).outcome, HandlerOutcome::kCancelled);
  EXPECT_EQ(world.handler.runs(), 0U);
  EXPECT_EQ(text_of(first_of(world.evidence.events(), "executor.finish"), "outcome"), "cancelled");
}

TEST(RecordedFacts, AFinishThatCannotBeRecordedChangesNothingForTheCaller) {
  World world;
  world.evidence.on_append = [](const evidence::EventBatch&) {
    return Status{Error{ErrorCode::kUnavailable, "no space"}};
  };
  const auto outcome = world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  EXPECT_EQ(std::get<HandlerResult>(outcome).outcome, HandlerOutcome::kSucceeded);
  EXPECT_EQ(names_of(world.evidence.events()),
            "tool.request authorization.decision executor.start");
}

TEST(RecordedFacts, ARunIsOpenedAndClosedWithItsCount) {
  World world;
  ASSERT_TRUE(world.boundary->begin_run({.run_id = "run-1",
                                         .manifest_digest = "sha256:00",
                                         .environment = "test",
                                         .contract = "sequential"}));
  world.boundary->invoke(World::call("server.ping", "{}"), world.handler);
  world.boundary->invoke(World::call("invoice.shred", "{}"), world.handler);
  ASSERT_TRUE(world.boundary->end_run());
  const std::vector<json::Value> events = world.evidence.events();
  EXPECT_EQ(text_of(events.front(), "event"), "run.started");
  EXPECT_EQ(text_of(events.front(), "run_id"), "run-1");
  EXPECT_EQ(text_of(events.front(), "manifest_digest"), "sha256:00");
  EXPECT_EQ(text_of(events.front(), "environment"), "test");
  EXPECT_EQ(text_of(events.front(), "contract"), "sequential");
  EXPECT_EQ(text_of(events.back(), "event"), "run.finished");
  EXPECT_EQ(text_of(events.back(), "run_id"), "run-1");
  EXPECT_EQ(*events.back().find("invocations")->if_integer(), 2);
}

}  // namespace
}  // namespace remit::enforcement::testing
