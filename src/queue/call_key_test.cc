// The caller's idempotency key goes with its work: one key, one effect, by whichever door it comes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "ledger/database_ledger.h"
#include "queue/worker.h"
#include "tests/support/boundary_world.h"
#include "tests/support/queue_world.h"

namespace remit::queue {
namespace {

using namespace std::chrono_literals;
using testing::Backend;
using testing::work;

/// A worker's desk, with a ledger, at which alice is known by name.
class CallKeyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(database_.open(Backend::kSqlite));
    queue_ = WorkQueue::open(database_.database(), database_.key, database_.clock, database_.random)
                 .value();
    ledger_ = ledger::DatabaseLedger::open(
                  {.location = {.text = folder_.path("ledger.db")}, .renews_by_itself = false},
                  database_.clock, random_)
                  .value();
    world_.authenticator.behave = [](const access::Credential&) {
      access::Principal alice = enforcement::testing::FakeAuthenticator::alice();
      alice.scopes = {"invoice:read", "once"};
      return identity::Identity{.state = access::PrincipalState::kAuthenticated,
                                .principal = alice};
    };
    enforcement::Surroundings surroundings = world_.surroundings(world_.policy, world_.evidence);
    surroundings.ledger = ledger_.get();
    world_.boundary.emplace(surroundings);
  }

  static Work note(std::string key, std::string arguments = R"({"invoice":"INV-4"})") {
    Work out = work("alice", "note.add", std::move(arguments));
    out.call_key = std::move(key);
    return out;
  }
  Row run(const Work& what) {
    const std::string id = queue_->enqueue(what).value().id;
    Worker worker({.queue = *queue_,
                   .point = *world_.boundary,
                   .tools = world_.handler,
                   .clock = database_.clock,
                   .random = database_.random},
                  {});
    EXPECT_EQ(worker.work_once(), Turn::kWorked);
    return queue_->find(id).value();
  }
  enforcement::CallOutcome call(const std::string& key) {
    access::ProposedCall out =
        enforcement::testing::World::call("note.add", R"({"invoice":"INV-4"})");
    out.idempotency_key = key;
    return world_.boundary->invoke(out, world_.handler);
  }

  remit::testing::TestFolder folder_;
  SystemRandom random_;
  testing::QueueDatabase database_;
  enforcement::testing::World world_;
  std::unique_ptr<WorkQueue> queue_;
  std::unique_ptr<ledger::DatabaseLedger> ledger_;
};

// REQ-QU-022
TEST_F(CallKeyTest, OneKeyIsOneEffectAtEveryDoor) {
  EXPECT_TRUE(std::holds_alternative<enforcement::HandlerResult>(call("k")));
  // The same by the queue: decided, refused, and the row tells what the first came to.
  Row row = run(note("k"));
  EXPECT_EQ(row.state, State::kSucceeded);
  EXPECT_EQ(row.reason, "duplicate_invocation");
  // Another call under the key is none.
  row = run(note("k", R"({"invoice":"INV-5"})"));
  EXPECT_EQ(row.state, State::kDenied);
  EXPECT_EQ(row.reason, "duplicate_invocation");
  EXPECT_EQ(world_.handler.runs(), 1U);
  // And the other way round: what came by the queue is not done again by a call.
  row = run(note("other"));
  EXPECT_EQ(row.state, State::kSucceeded);
  EXPECT_EQ(row.reason, "");
  const auto again = call("other");
  ASSERT_TRUE(std::holds_alternative<enforcement::Denial>(again));
  EXPECT_EQ(std::get<enforcement::Denial>(again).first_attempt, "succeeded");
  EXPECT_EQ(world_.handler.runs(), 2U);
  // Without a key each row is a call of its own.
  run(note(""));
  run(note(""));
  EXPECT_EQ(world_.handler.runs(), 4U);
}

// REQ-QU-020, REQ-QU-022
TEST_F(CallKeyTest, WhatAPersonLetsRunAgainRunsOnceForAllRowsOfTheKey) {
  world_.handler.behave = [](const enforcement::GrantedCall&) {
    return enforcement::HandlerResult{.outcome = enforcement::HandlerOutcome::kFailed};
  };
  const Row first = run(note("k"));
  const Row second = run(note("k"));
  EXPECT_EQ(first.state, State::kFailed);
  EXPECT_EQ(second.state, State::kFailed);
  EXPECT_EQ(world_.handler.runs(), 1U);
  world_.handler.behave = enforcement::testing::FakeHandler{}.behave;
  ASSERT_TRUE(queue_->requeue({.id = first.id, .by = "carol", .reason = "mended"}));
  EXPECT_EQ(queue_->find(first.id)->invocation_key(), "k#1");
  ASSERT_TRUE(queue_->requeue({.id = second.id, .by = "carol", .reason = "mended"}));
  run(note("apart"));
  Worker worker({.queue = *queue_,
                 .point = *world_.boundary,
                 .tools = world_.handler,
                 .clock = database_.clock,
                 .random = database_.random},
                {});
  while (worker.work_once() == Turn::kWorked) continue;
  EXPECT_EQ(queue_->find(first.id)->state, State::kSucceeded);
  EXPECT_EQ(queue_->find(second.id)->state, State::kSucceeded);
  EXPECT_EQ(world_.handler.runs(), 3U) << "the first, one of the two, and the one apart";
}

// REQ-QU-006, REQ-QU-022
TEST_F(CallKeyTest, TheKeyIsUnderTheSeal) {
  const std::string id = queue_->enqueue(note("k")).value().id;
  EXPECT_TRUE(queue_->is_sealed(queue_->find(id).value()));
  database_.run("update remit_queue_row set call_key = 'another'");
  EXPECT_FALSE(queue_->is_sealed(queue_->find(id).value()));
}

TEST_F(CallKeyTest, RefusesKeysThatCannotNameOneCall) {
  Work repeated = note("k");
  repeated.repeat = 60s;
  const auto refused = queue_->enqueue(repeated);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(queue_->enqueue(note("two\nlines")));
}

}  // namespace
}  // namespace remit::queue
