// What the log holds of deferred work: where it came from, which try it is, who took it up.
#include <gtest/gtest.h>

#include "tests/support/boundary_world.h"

namespace remit::enforcement::testing {
namespace {

access::ProposedCall deferred_call(std::string tool, std::string arguments) {
  access::ProposedCall call = World::call(std::move(tool), std::move(arguments));
  call.credential = access::Credential::reference("alice");
  call.deferral = access::Deferral{
      .queue = "refunds", .enqueued_policy_version = "v0", .worker = "desk-1", .attempt = 2};
  return call;
}

std::int64_t attempt_of(const json::Value& event) {
  const json::Value* attempt = event.find("attempt");
  return attempt == nullptr ? 0 : *attempt->if_integer();
}

// REQ-QU-030: each event says which try it is, and the run says whose queue it came from.
TEST(DeferredCalls, AnAllowedOneRecordsQueueAttemptAndWorker) {
  World world;
  const CallOutcome outcome =
      world.boundary->invoke(deferred_call("invoice.read", R"({"invoice":"i-4"})"), world.handler);
  ASSERT_TRUE(std::holds_alternative<HandlerResult>(outcome));
  const auto events = world.evidence.events();
  EXPECT_EQ(names_of(events),
            "tool.request queue.dequeued resource.resolved authorization.decision executor.start "
            "executor.finish");
  for (const json::Value& event : events) EXPECT_EQ(attempt_of(event), 2);
  const json::Value dequeued = first_of(events, "queue.dequeued");
  EXPECT_EQ(text_of(dequeued, "queue"), "refunds");
  EXPECT_EQ(text_of(dequeued, "enqueued_policy_version"), "v0");
  EXPECT_EQ(text_of(dequeued, "tool"), "invoice.read");
  EXPECT_EQ(text_of(first_of(events, "executor.start"), "worker"), "desk-1");
  EXPECT_EQ(text_of(first_of(events, "authorization.decision"), "policy_version"), "v1");
}

// REQ-QU-031
TEST(DeferredCalls, ADeniedOneIsDeniedByTheQueueToo) {
  World world;
  const CallOutcome outcome = world.boundary->invoke(
      deferred_call("invoice.read", R"({"invoice":"foreign"})"), world.handler);
  ASSERT_TRUE(std::holds_alternative<Denial>(outcome));
  const auto events = world.evidence.events();
  EXPECT_EQ(names_of(events),
            "tool.request queue.dequeued resource.resolved authorization.decision queue.denied");
  EXPECT_EQ(text_of(first_of(events, "queue.denied"), "queue"), "refunds");
  EXPECT_EQ(world.handler.runs(), 0U);
}

TEST(DeferredCalls, ARefusalBeforeThereIsACallNamesTheQueue) {
  World world;
  world.boundary->refuse({.reason = access::ReasonCode::kInvalidRequest,
                          .route = "agent",
                          .tool = "invoice.read",
                          .deferral = access::Deferral{.queue = "refunds"}});
  EXPECT_EQ(names_of(world.evidence.events()),
            "tool.request queue.dequeued authorization.decision queue.denied");
}

TEST(DeferredCalls, AnotherCallSaysNothingOfQueues) {
  World world;
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"i-4"})"), world.handler);
  EXPECT_EQ(world.evidence.text().find("queue"), std::string::npos);
  EXPECT_EQ(world.evidence.text().find("attempt"), std::string::npos);
  EXPECT_EQ(world.evidence.text().find("worker"), std::string::npos);
}

// A name that no record can carry is a digest there, as a planner's words are.
TEST(DeferredCalls, ForeignWordsAreRecordedAsDigests) {
  World world;
  access::ProposedCall call = deferred_call("invoice.read", R"({"invoice":"i-4"})");
  call.deferral->queue = "a queue of secrets";
  call.deferral->worker = "host with blanks";
  world.boundary->invoke(call, world.handler);
  EXPECT_EQ(world.evidence.text().find("secrets"), std::string::npos);
  EXPECT_EQ(world.evidence.text().find("blanks"), std::string::npos);
}

class Keeper final : public ToolHandler {
 public:
  HandlerResult run(const GrantedCall& call) override {
    subject = call.principal().subject;
    policy_version = call.policy_version();
    return {.outcome = HandlerOutcome::kSucceeded};
  }
  std::string subject, policy_version;
};

// REQ-QU-004: a handler that puts work off knows from the boundary who called.
TEST(DeferredCalls, AHandlerKnowsWhoCalledAndUnderWhichPolicy) {
  World world;
  Keeper keeper;
  world.boundary->invoke(World::call("invoice.read", R"({"invoice":"i-4"})"), keeper);
  EXPECT_EQ(keeper.subject, "alice");
  EXPECT_EQ(keeper.policy_version, "v1");
}

}  // namespace
}  // namespace remit::enforcement::testing
