// The queue in both databases: what a row keeps, whose turn it is, who has it, what ends it.
#include "queue/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/support/queue_world.h"

namespace remit::queue {
namespace {

using namespace std::chrono_literals;
using testing::QueueDatabase;
using testing::work;

class WorkQueueTest : public ::testing::TestWithParam<testing::Backend> {
 protected:
  void SetUp() override {
    if (!database_.open(GetParam())) GTEST_SKIP() << "PostgreSQL is not installed";
    queue_ = open();
  }
  std::unique_ptr<WorkQueue> open(QueueOptions options = {}) {
    auto opened = WorkQueue::open(database_.database(), database_.key, database_.clock,
                                  database_.random, options);
    EXPECT_TRUE(opened) << opened.error().to_string();
    return opened ? std::move(*opened) : nullptr;
  }
  std::string add(const Work& what) {
    const auto added = queue_->enqueue(what);
    EXPECT_TRUE(added) << added.error().to_string();
    return added ? added->id : "";
  }
  std::string error_of(const Work& what) {
    const auto added = queue_->enqueue(what);
    return added ? "" : std::string(error_code_name(added.error().code));
  }
  std::optional<Row> claim(const std::string& worker = "w") {
    auto claimed = queue_->claim(kDefaultQueue, worker);
    EXPECT_TRUE(claimed) << claimed.error().to_string();
    return claimed ? *claimed : std::nullopt;
  }
  State state_of(const std::string& id) { return queue_->find(id).value().state; }
  Status start(const Row& row) { return queue_->start(row, database_.clock.monotonic_now() + 5s); }
  static std::string code_of(const Status& status) {
    return status ? "" : std::string(error_code_name(status.error().code));
  }

  QueueDatabase database_;
  std::unique_ptr<WorkQueue> queue_;
};

// REQ-QU-002, REQ-QU-003, REQ-QU-005
TEST_P(WorkQueueTest, KeepsWhatWasAskedForAndNothingOfWhoAsked) {
  Work what = work("alice", "invoice.read", R"({ "b":1.0, "a":"INV-4" })");
  what.run_id = "run-1";
  what.case_id = "case-1";
  what.enqueued_by = "inv-1";
  what.enqueued_policy_version = "v1";
  const std::string id = add(what);
  const Row row = queue_->find(id).value();
  EXPECT_EQ(row.principal, "alice");
  EXPECT_EQ(row.arguments_json, R"({"a":"INV-4","b":1})");
  EXPECT_EQ(row.enqueued_by, "inv-1");
  EXPECT_EQ(row.enqueued_policy_version, "v1");
  EXPECT_EQ(row.run_id + row.case_id, "run-1case-1");
  EXPECT_EQ(row.state, State::kWaiting);
  EXPECT_EQ(row.route, "queued");
  EXPECT_TRUE(queue_->is_sealed(row));
}

// REQ-QU-006
TEST_P(WorkQueueTest, SeesThatARowWasChanged) {
  add(work("alice", "invoice.read"));
  for (const char* change :
       {"principal = 'mallory'", "tool = 'refund.create'", "arguments = '{\"invoice\":\"9\"}'",
        "lane = 'tenant-b'", "enqueued_by = 'x'", "seal = ''", "max_attempts = 9", "not_before = 5",
        "repeat_ms = 60000", "id = 'another'"}) {
    database_.run(std::string("update remit_queue_row set ") + change);
    EXPECT_FALSE(queue_->is_sealed(queue_->list({}).value().front())) << change;
    database_.run("delete from remit_queue_row");
    add(work("alice", "invoice.read"));
    EXPECT_TRUE(queue_->is_sealed(queue_->list({}).value().front()));
  }
}

TEST_P(WorkQueueTest, RefusesWorkThatCouldNotRun) {
  struct Case {
    const char* name;
    std::function<void(Work&)> change;
    const char* code;
  };
  const Case cases[] = {
      {"nobody", [](Work& what) { what.principal.clear(); }, "invalid_input"},
      {"no tool", [](Work& what) { what.tool.clear(); }, "invalid_input"},
      {"no queue", [](Work& what) { what.queue.clear(); }, "invalid_input"},
      {"no json", [](Work& what) { what.arguments_json = "{"; }, "invalid_input"},
      {"no object", [](Work& what) { what.arguments_json = "[]"; }, "invalid_input"},
      {"a key twice", [](Work& what) { what.arguments_json = R"({"a":1,"a":2})"; },
       "invalid_input"},
      {"a long reference", [](Work& what) { what.principal = std::string(257, 'a'); },
       "invalid_input"},
      {"a line in a name", [](Work& what) { what.tool = "a\nb"; }, "invalid_input"},
      {"not UTF-8", [](Work& what) { what.case_id = "\xff"; }, "invalid_input"},
      {"too often", [](Work& what) { what.repeat = 59s; }, "invalid_input"},
      {"backwards", [](Work& what) { what.repeat = -60s; }, "invalid_input"},
      {"no attempt", [](Work& what) { what.max_attempts = 0; }, "invalid_input"},
      {"too many attempts", [](Work& what) { what.max_attempts = kMaxAttempts + 1; },
       "invalid_input"},
      {"too large",
       [](Work& what) {
         what.arguments_json = "{\"a\":\"" + std::string(kMaxQueuedCallBytes, 'a') + "\"}";
       },
       "limit_exceeded"},
  };
  for (const Case& each : cases) {
    Work what = work("alice", "invoice.read");
    each.change(what);
    EXPECT_EQ(error_of(what), each.code) << each.name;
  }
  EXPECT_TRUE(queue_->list({}).value().empty());
}

// REQ-QU-007
TEST_P(WorkQueueTest, AKeyNamesOnePieceOfWork) {
  Work what = work("alice", "invoice.read");
  what.key = "once";
  const auto first = queue_->enqueue(what).value();
  const auto again = queue_->enqueue(what).value();
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.invocation_key, first.invocation_key);
  EXPECT_TRUE(first.is_new);
  EXPECT_FALSE(again.is_new);
  Work other = what;
  other.arguments_json = R"({"invoice":"INV-9"})";
  EXPECT_EQ(error_of(other), "already_exists");
  other.principal = "bob";  // another's key is another key
  EXPECT_EQ(error_of(other), "");
  std::vector<std::thread> threads;
  std::atomic<int> made{0};
  what.key = "raced";
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto added = queue_->enqueue(what);
      if (added && added->is_new) ++made;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.load(), 1);
}

// REQ-QU-008
TEST_P(WorkQueueTest, OpenRowsAreBoundedByLaneAndInAll) {
  queue_ = open({.max_open_rows = 4, .max_open_rows_per_lane = 3});
  for (int i = 0; i < 3; ++i) add(work("alice", "invoice.read"));
  EXPECT_EQ(error_of(work("alice", "invoice.read")), "limit_exceeded");
  Work other = work("bob", "invoice.read");
  other.lane = "tenant-b";
  EXPECT_EQ(error_of(other), "");
  EXPECT_EQ(error_of(other), "limit_exceeded");
  const Row row = *claim();
  ASSERT_TRUE(queue_->finish(row, {.state = State::kSucceeded}));
  EXPECT_EQ(error_of(work("alice", "invoice.read")), "");
}

TEST_P(WorkQueueTest, EndedRowsAreForgottenByAgeAndByNumber) {
  queue_ = open({.max_ended_rows = 2});
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(add(work("alice", "invoice.read")));
    database_.clock.advance(1s);
  }
  while (const auto row = claim()) {
    ASSERT_TRUE(queue_->finish(*row, {.state = State::kSucceeded}));
    database_.clock.advance(1s);
  }
  const std::string waits = add(work("alice", "invoice.read"));
  ASSERT_TRUE(queue_->tidy(kDefaultQueue));
  EXPECT_FALSE(queue_->find(ids[0]));
  EXPECT_FALSE(queue_->find(ids[1]));
  EXPECT_TRUE(queue_->find(ids[2]));
  EXPECT_TRUE(queue_->find(ids[3]));
  database_.clock.advance(kEndedQueueRowTime + 1s);
  ASSERT_TRUE(queue_->tidy(kDefaultQueue));
  EXPECT_FALSE(queue_->find(ids[3]));
  EXPECT_TRUE(queue_->find(waits));
}

// REQ-QU-011
TEST_P(WorkQueueTest, LanesTakeTurnsAndALaneGoesByDueTime) {
  const auto in_lane = [](const char* lane, const char* tool) {
    Work what = work("alice", tool);
    what.lane = lane;
    return what;
  };
  for (const char* tool : {"a1", "a2", "a3", "a4"}) add(in_lane("a", tool));
  add(in_lane("b", "b1"));
  Work sooner = in_lane("a", "a0");
  sooner.not_before = WallTime{database_.clock.wall_now().unix_ns - 1};
  add(sooner);
  add(in_lane("c", "c1"));
  add(in_lane("c", "c2"));
  std::string order;
  while (const auto row = claim()) order += row->tool + " ";
  EXPECT_EQ(order, "a0 b1 c1 a1 c2 a2 a3 a4 ");
}

// REQ-QU-009
TEST_P(WorkQueueTest, ScheduledWorkWaitsForItsTime) {
  Work what = work("alice", "invoice.read");
  what.not_before = WallTime{database_.clock.wall_now().unix_ns + 5'000'000'000};
  const std::string id = add(what);
  EXPECT_FALSE(claim());
  database_.clock.advance(5s);
  const auto row = claim();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->id, id);
  EXPECT_EQ(row->route, "scheduled");
}

// REQ-QU-010: turns that were missed are not made up, a denied one rests.
TEST_P(WorkQueueTest, RepeatedWorkComesAgainByWholePeriods) {
  Work what = work("alice", "invoice.read");
  what.repeat = 60s;
  const std::int64_t begin = database_.clock.wall_now().unix_ns;
  what.not_before = WallTime{begin};
  const std::string first = add(what);
  Row row = *claim();
  database_.clock.advance(150s);  // two turns are missed
  ASSERT_TRUE(queue_->finish(row, {.state = State::kSucceeded}));
  EXPECT_FALSE(claim());
  const Row next = queue_->list({}).value().front();
  EXPECT_NE(next.id, first);
  EXPECT_EQ(next.due.unix_ns, begin + 180'000'000'000);
  EXPECT_TRUE(queue_->is_sealed(next));
  EXPECT_EQ(next.attempt, 0);
  database_.clock.advance(30s);
  row = *claim();
  EXPECT_EQ(row.id, next.id);
  ASSERT_TRUE(queue_->finish(row, {.state = State::kDenied, .reason = "forbidden"}));
  EXPECT_EQ(queue_->list({}).value().size(), 2U);
  ASSERT_TRUE(queue_->requeue({.id = next.id, .by = "carol", .reason = "policy mended"}));
  row = *claim();
  ASSERT_TRUE(queue_->finish(row, {.state = State::kFailed}));
  EXPECT_EQ(queue_->list({}).value().size(), 3U);
  // It failed, so its next turn is there; run once more by a person's word it begins no other
  // series.
  ASSERT_TRUE(queue_->requeue({.id = next.id, .by = "carol", .reason = "server mended"}));
  row = *claim();
  EXPECT_EQ(row.id, next.id);
  ASSERT_TRUE(queue_->finish(row, {.state = State::kSucceeded}));
  EXPECT_EQ(queue_->list({}).value().size(), 3U);
}

// REQ-QU-010: a turn that crashes used up is over like one that failed by its tool's word.
TEST_P(WorkQueueTest, RepeatedWorkOutlivesCrashes) {
  Work what = work("alice", "invoice.read");
  what.repeat = 60s;
  what.max_attempts = 1;
  const std::string first = add(what);
  ASSERT_TRUE(claim());
  database_.clock.advance(kQueueClaimTime + 1s);
  EXPECT_FALSE(claim());
  EXPECT_EQ(state_of(first), State::kFailed);
  EXPECT_EQ(queue_->list({}).value().size(), 2U);
  database_.clock.advance(60s);
  const auto next = claim();
  ASSERT_TRUE(next);
  EXPECT_NE(next->id, first);
  EXPECT_EQ(next->route, kScheduledRoute);
}

// REQ-QU-012
TEST_P(WorkQueueTest, ARowIsClaimedOnceUntilTheClaimRunsOut) {
  const std::string id = add(work("alice", "invoice.read"));
  const Row first = *claim("one");
  EXPECT_EQ(first.attempt, 1);
  EXPECT_FALSE(claim("two"));
  database_.clock.advance(kQueueClaimTime / 2);
  ASSERT_TRUE(queue_->renew(first));
  database_.clock.advance(kQueueClaimTime / 2 + 1s);
  EXPECT_FALSE(claim("two"));
  database_.clock.advance(kQueueClaimTime);
  const auto second = claim("two");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, id);
  EXPECT_EQ(second->attempt, 2);
  EXPECT_EQ(second->worker, "two");
  // REQ-QU-013: the first slept through its claim; nothing it says counts.
  EXPECT_EQ(code_of(start(first)), "failed_precondition");
  EXPECT_EQ(code_of(queue_->renew(first)), "failed_precondition");
  EXPECT_EQ(code_of(queue_->put_back(first, {})), "failed_precondition");
  EXPECT_EQ(code_of(queue_->release(first)), "failed_precondition");
  EXPECT_EQ(code_of(queue_->finish(first, {.state = State::kSucceeded})), "failed_precondition");
  EXPECT_EQ(code_of(start(*second)), "");
  EXPECT_EQ(code_of(start(*second)), "failed_precondition");  // once
}

// REQ-QU-018, REQ-QU-019
TEST_P(WorkQueueTest, WhatWasStartedIsNeverClaimedAgain) {
  const std::string id = add(work("alice", "invoice.read"));
  const Row row = *claim();
  ASSERT_TRUE(start(row));
  database_.clock.advance(kQueueClaimTime + 1s);
  EXPECT_FALSE(claim());
  EXPECT_EQ(state_of(id), State::kUnknown);
  EXPECT_FALSE(claim());
  // Whoever started it comes back and knows.
  ASSERT_TRUE(queue_->finish(row, {.state = State::kSucceeded, .invocation = "i"}));
  EXPECT_EQ(state_of(id), State::kSucceeded);
}

TEST_P(WorkQueueTest, APersonsWordStandsAgainstALateEnd) {
  const std::string id = add(work("alice", "invoice.read"));
  const Row row = *claim();
  ASSERT_TRUE(start(row));
  database_.clock.advance(kQueueClaimTime + 1s);
  EXPECT_FALSE(claim());
  EXPECT_EQ(code_of(queue_->requeue({.id = id, .by = "carol", .reason = "looked"})),
            "failed_precondition");
  ASSERT_TRUE(queue_->requeue(
      {.id = id, .by = "carol", .reason = "looked", .may_have_run_is_settled = true}));
  EXPECT_EQ(code_of(queue_->finish(row, {.state = State::kSucceeded})), "failed_precondition");
  EXPECT_EQ(state_of(id), State::kWaiting);
}

TEST_P(WorkQueueTest, AttemptsThatEndInCrashesAreBounded) {
  Work what = work("alice", "invoice.read");
  what.max_attempts = 2;
  const std::string id = add(what);
  const std::string behind = add(work("alice", "invoice.read"));
  ASSERT_TRUE(claim());
  ASSERT_EQ(claim()->id, behind);
  database_.clock.advance(kQueueClaimTime + 1s);
  EXPECT_EQ(claim()->attempt, 2);
  database_.clock.advance(kQueueClaimTime + 1s);
  while (claim()) continue;
  const Row row = queue_->find(id).value();
  EXPECT_EQ(row.state, State::kFailed);
  EXPECT_EQ(row.error_type, "attempts_used_up");
}

// REQ-QU-016: put back, it comes by the route of retries, under the same key.
TEST_P(WorkQueueTest, ARowThatIsPutBackRestsAndComesByAnotherRoute) {
  add(work("alice", "invoice.read"));
  const Row row = *claim();
  ASSERT_TRUE(queue_->put_back(row, {.pause = 10s, .reason = "resolver_unavailable"}));
  EXPECT_FALSE(claim());
  database_.clock.advance(10s);
  const Row again = *claim();
  EXPECT_EQ(again.route, "retry");
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.reason, "resolver_unavailable");
  EXPECT_EQ(again.invocation_key(), row.invocation_key());
  ASSERT_TRUE(queue_->put_back(again, {.needs_new_key = true}));
  EXPECT_NE(claim()->invocation_key(), row.invocation_key());
}

TEST_P(WorkQueueTest, AReleasedClaimWasNoAttempt) {
  add(work("alice", "invoice.read"));
  ASSERT_TRUE(queue_->release(*claim()));
  const auto again = claim();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempt, 1);
  EXPECT_EQ(again->route, "queued");
}

// REQ-QU-020
TEST_P(WorkQueueTest, APersonRequeuesWithNameAndReasonAndNotForEver) {
  const std::string id = add(work("alice", "invoice.read"));
  const auto requeue = [&](const char* by, const char* reason) {
    return code_of(queue_->requeue({.id = id, .by = by, .reason = reason}));
  };
  EXPECT_EQ(code_of(queue_->requeue({.id = "none", .by = "c", .reason = "r"})), "not_found");
  EXPECT_EQ(requeue("", "r"), "invalid_input");
  EXPECT_EQ(requeue("c", ""), "invalid_input");
  EXPECT_EQ(requeue("c", std::string(kMaxRequeueReasonBytes + 1, 'r').c_str()), "invalid_input");
  EXPECT_EQ(requeue("carol", "waiting already"), "failed_precondition");
  const std::string key = queue_->find(id)->invocation_key();
  for (std::int64_t i = 0; i < kMaxRequeues; ++i) {
    const Row row = *claim();
    EXPECT_EQ(row.attempt, 1);
    ASSERT_TRUE(queue_->finish(row, {.state = State::kDenied, .reason = "forbidden"}));
    ASSERT_EQ(requeue("carol", "access was granted"), "") << i;
  }
  ASSERT_TRUE(queue_->finish(*claim(), {.state = State::kDenied, .reason = "forbidden"}));
  EXPECT_EQ(requeue("carol", "once more"), "limit_exceeded");
  EXPECT_NE(queue_->find(id)->invocation_key(), key);
  const auto notes = queue_->notes(id).value();
  ASSERT_EQ(notes.size(), static_cast<std::size_t>(kMaxRequeues));
  EXPECT_EQ(notes[0].by, "carol");
  EXPECT_EQ(notes[0].reason, "access was granted");
  EXPECT_EQ(notes[0].from_state, "denied");
}

TEST_P(WorkQueueTest, ListsByStateTheNewestFirst) {
  const std::string one = add(work("alice", "invoice.read"));
  add(work("alice", "invoice.read"));
  ASSERT_EQ(claim()->id, one);
  const auto ids = [&](std::vector<State> states) {
    std::string out;
    const std::vector<Row> rows = queue_->list({.states = std::move(states)}).value();
    for (const Row& row : rows) {
      out += row.id == one ? "one " : "two ";
    }
    return out;
  };
  EXPECT_EQ(ids({}), "two one ");
  EXPECT_EQ(ids({State::kWaiting}), "two ");
  EXPECT_EQ(ids({State::kClaimed, State::kDenied}), "one ");
  EXPECT_EQ(queue_->list({.max_rows = 1}).value().size(), 1U);
  EXPECT_EQ(queue_->list({.queue = "other"}).value().size(), 0U);
}

// REQ-QU-015: what another program wrote there has its turn like the rest.
TEST_P(WorkQueueTest, LegacyRowsAreClaimedToo) {
  add(work("alice", "invoice.read"));
  database_.run("insert into remit_queue_row(id, tool, arguments) values('old', 'refund', 'x')");
  database_.run(
      "insert into remit_queue_row(id, tool, arguments, lane) values('odd', 'refund', 'x', 'z')");
  ASSERT_TRUE(queue_->tidy(kDefaultQueue));
  std::set<std::string> tools;
  for (int i = 0; i < 3; ++i) {
    const auto row = claim();
    ASSERT_TRUE(row) << i;
    EXPECT_EQ(queue_->is_sealed(*row), row->principal == "alice");
    tools.insert(row->id);
  }
  EXPECT_EQ(tools.count("old") + tools.count("odd"), 2U);
}

TEST_P(WorkQueueTest, ClockStepsDelayAndNeverDouble) {
  add(work("alice", "invoice.read"));
  const Row row = *claim("one");
  // Forward: the claim seems to have run out, and the other gets the row; the first is told.
  const WallTime before = database_.clock.wall_now();
  database_.clock.set_wall(WallTime{before.unix_ns + 3'600'000'000'000});
  const auto other = claim("two");
  ASSERT_TRUE(other);
  EXPECT_EQ(code_of(start(row)), "failed_precondition");
  EXPECT_EQ(code_of(start(*other)), "");
  // Back again: nobody gets what is started.
  database_.clock.set_wall(before);
  EXPECT_FALSE(claim("three"));
  EXPECT_EQ(code_of(queue_->finish(*other, {.state = State::kSucceeded})), "");
}

TEST_P(WorkQueueTest, ManyWorkersShareTheRowsWithoutDoubles) {
  constexpr int kRows = 120;
  for (int i = 0; i < kRows; ++i) {
    Work what = work("alice", "invoice.read");
    what.lane = "lane-" + std::to_string(i % 3);
    add(what);
  }
  Mutex mutex;
  std::multiset<std::string> seen;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, name = "w" + std::to_string(i)] {
      const auto mine = open();  // as another process would have it
      int idle = 0;
      while (idle < 3) {
        const auto row = mine->claim(kDefaultQueue, name);
        if (!row || !*row) {
          ++idle;
          continue;
        }
        const bool is_started =
            mine->start(**row, database_.clock.monotonic_now() + 20s).has_value();
        if (is_started) {
          const MutexLock lock(mutex);
          seen.insert((*row)->id);
        }
        EXPECT_TRUE(mine->finish(**row, {.state = State::kSucceeded}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kRows));
  EXPECT_EQ((std::set<std::string>(seen.begin(), seen.end()).size()),
            static_cast<std::size_t>(kRows));
}

// A commit whose answer was lost is made again.
TEST_P(WorkQueueTest, ToSayTheSameTwiceIsNoError) {
  const std::string first = add(work("alice", "invoice.read"));
  Row row = claim().value();
  const PutBack back{.reason = "policy_unavailable", .invocation = "i1"};
  EXPECT_TRUE(queue_->put_back(row, back));
  EXPECT_TRUE(queue_->put_back(row, back));
  EXPECT_EQ(code_of(queue_->put_back(row, {.invocation = "i2"})), "failed_precondition");
  row = claim().value();
  ASSERT_TRUE(start(row));
  const Ending ending{.state = State::kSucceeded, .invocation = "i3"};
  EXPECT_TRUE(queue_->finish(row, ending));
  EXPECT_TRUE(queue_->finish(row, ending));
  EXPECT_EQ(code_of(queue_->finish(row, {.state = State::kFailed, .invocation = "i3"})),
            "failed_precondition");
  EXPECT_EQ(state_of(first), State::kSucceeded);
  // A turn of repeated work has one next turn for all that.
  Work again = work("alice", "invoice.read");
  again.repeat = 60s;
  add(again);
  row = claim().value();
  ASSERT_TRUE(start(row));
  EXPECT_TRUE(queue_->finish(row, ending));
  EXPECT_TRUE(queue_->finish(row, ending));
  EXPECT_EQ(queue_->list({.states = {State::kWaiting}})->size(), 1U);
}

// REQ-QU-007
TEST_P(WorkQueueTest, OtherWorkUnderOneKeyAtOnceIsRefusedInItsOwnWords) {
  constexpr int kThreads = 6;
  std::atomic<int> added{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Work what = work("alice", "invoice.read", "{\"n\":" + std::to_string(i) + "}");
      what.key = "once";
      const std::string code = error_of(what);
      if (code.empty()) ++added;
      if (code == "already_exists") ++refused;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(added, 1);
  EXPECT_EQ(refused, kThreads - 1);
}

TEST_P(WorkQueueTest, RefusesTablesOfAnotherVersion) {
  database_.run("update remit_queue_version set version = 9");
  const auto opened =
      WorkQueue::open(database_.database(), database_.key, database_.clock, database_.random);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
}

// Tables that were made before it was kept that a row was started, and before keys of calls.
TEST_P(WorkQueueTest, TakesOverTablesOfTheVersionBefore) {
  const std::string id = add(work("alice", "invoice.read"));
  const Row first = claim().value();
  ASSERT_TRUE(start(first));
  database_.run("alter table remit_queue_row drop column call_key");
  database_.run("alter table remit_queue_row drop column started_generation");
  database_.run("delete from remit_queue_version");
  database_.run("insert into remit_queue_version(version) values(1)");
  queue_ = open();
  ASSERT_NE(queue_, nullptr);
  database_.clock.advance(kQueueClaimTime + 1s);
  const auto may = [](const Row&) { return true; };
  const Row again = queue_->claim(kDefaultQueue, "w", may).value().value();
  EXPECT_EQ(again.id, id);
  EXPECT_TRUE(again.was_started());
  ASSERT_NE(open(), nullptr) << "and once is enough";
  database_.run("alter table remit_queue_row drop column call_key");
  database_.run("delete from remit_queue_version where version <> 1");
  database_.run("update remit_queue_version set version = 2");
  ASSERT_NE(open(), nullptr);
  EXPECT_TRUE(queue_->find(id)->was_started());
}

// REQ-QU-018, REQ-QU-020
TEST_P(WorkQueueTest, ARowSaysThatItWasStartedUnderItsKey) {
  const std::string id = add(work("alice", "invoice.read"));
  Row row = claim().value();
  EXPECT_FALSE(row.was_started());
  ASSERT_TRUE(start(row));
  EXPECT_TRUE(queue_->find(id)->was_started());
  ASSERT_TRUE(queue_->put_back(row, {}));
  EXPECT_TRUE(queue_->find(id)->was_started());
  row = queue_->claim(kDefaultQueue, "w", [](const Row&) { return true; }).value().value();
  EXPECT_TRUE(row.was_started());
  ASSERT_TRUE(queue_->put_back(row, {.needs_new_key = true}));
  EXPECT_FALSE(queue_->find(id)->was_started());
  row = claim().value();
  EXPECT_FALSE(row.was_started());
}

INSTANTIATE_TEST_SUITE_P(Databases, WorkQueueTest,
                         ::testing::Values(testing::Backend::kSqlite, testing::Backend::kPostgres),
                         [](const auto& each) { return testing::backend_name(each.param); });

}  // namespace
}  // namespace remit::queue
