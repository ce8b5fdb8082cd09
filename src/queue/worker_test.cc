// The worker: everything is asked anew, what cannot change is said once, and nothing happens twice.
#include "queue/worker.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "ledger/database_ledger.h"
#include "ledger/desk.h"
#include "queue/deferring_handler.h"
#include "tests/support/boundary_world.h"
#include "tests/support/queue_world.h"

namespace remit::queue {
namespace {

using namespace std::chrono_literals;
using access::PrincipalState;
using enforcement::GrantedCall;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;
using enforcement::testing::first_of;
using enforcement::testing::names_of;
using enforcement::testing::text_of;
using testing::Backend;
using testing::QueueDatabase;
using testing::work;

/// A boundary on fakes, whose authenticator knows alice by reference, and a queue.
struct Desk {
  explicit Desk(Backend backend = Backend::kSqlite, QueueOptions options = {}) {
    is_there = database.open(backend);
    if (!is_there) return;
    queue =
        WorkQueue::open(database.database(), database.key, database.clock, database.random, options)
            .value();
    world.authenticator.behave = [this](const access::Credential& credential) {
      identity::Identity out;
      if (credential.kind() == access::Credential::Kind::kNone) {
        out.state = PrincipalState::kMissing;
        return out;
      }
      const bool is_alice =
          credential.kind() == access::Credential::Kind::kReference && credential.name() == "alice";
      out.state = is_alice ? alice_state : PrincipalState::kInvalid;
      if (out.state == PrincipalState::kAuthenticated) out.principal = alice;
      return out;
    };
  }
  [[nodiscard]] Worker worker(std::string name = "w") {
    return Worker(parts(), {.name = std::move(name)});
  }
  [[nodiscard]] WorkerParts parts() {
    return {.queue = *queue,
            .point = *world.boundary,
            .tools = world.handler,
            .clock = database.clock,
            .random = database.random,
            .notice = [this](std::string_view line) {
              const MutexLock lock(mutex);
              notices += std::string(line) + "\n";
            }};
  }
  std::string add(const Work& what) { return queue->enqueue(what).value().id; }
  std::string add() { return add(work("alice", "invoice.read")); }
  /// `state reason error_type attempt`, of which what is empty is left out.
  std::string word(const std::string& id) {
    const Result<Row> found = queue->find(id);
    if (!found) return found.error().to_string();
    const Row& row = *found;
    std::string out{state_name(row.state)};
    if (!row.reason.empty()) out += " " + row.reason;
    if (!row.error_type.empty()) out += " " + row.error_type;
    return out + " " + std::to_string(row.attempt);
  }
  void advance(Duration span) { database.clock.advance(span); }

  bool is_there = false;
  QueueDatabase database;
  enforcement::testing::World world;
  access::Principal alice = enforcement::testing::FakeAuthenticator::alice();
  PrincipalState alice_state = PrincipalState::kAuthenticated;
  std::unique_ptr<WorkQueue> queue;
  Mutex mutex;
  std::string notices;
};

// REQ-QU-009, REQ-QU-014
TEST(Worker, RunsWhatIsAllowedNow) {
  Desk desk;
  Work what = work("alice", "invoice.read", R"({"invoice":"i-4","amount":3})");
  what.enqueued_policy_version = "v0";
  what.run_id = "run-1";
  const std::string id = desk.add(what);
  EXPECT_EQ(desk.worker().work_once(), Turn::kWorked);
  EXPECT_EQ(desk.worker().work_once(), Turn::kIdle);
  EXPECT_EQ(desk.word(id), "succeeded 1");
  EXPECT_EQ(desk.world.handler.arguments, R"({"amount":3,"invoice":"canonical-i-4"})");
  const auto events = desk.world.evidence.events();
  EXPECT_EQ(names_of(events),
            "tool.request queue.dequeued resource.resolved authorization.decision executor.start "
            "executor.finish");
  EXPECT_EQ(text_of(events[0], "route"), "queued");
  EXPECT_EQ(text_of(events[0], "run_id"), "run-1");
  EXPECT_EQ(text_of(events[0], "idempotency_key_digest"),
            desk.world.key.digest("queue:" + id + ":0"));
  EXPECT_EQ(text_of(events[1], "enqueued_policy_version"), "v0");
  EXPECT_EQ(text_of(events[3], "policy_version"), "v1");
  EXPECT_EQ(desk.queue->find(id)->last_invocation, text_of(events[0], "invocation_id"));
}

// REQ-QU-002, REQ-QU-014, REQ-QU-015: what changed between enqueuing and running counts.
TEST(Worker, DeniesWhatIsNotAllowedAnyMore) {
  using World = enforcement::testing::World;
  struct Case {
    const char* reason;
    std::function<void(Desk&)> change;
  };
  const Case cases[] = {
      {"expired_identity", [](Desk& desk) { desk.alice_state = PrincipalState::kExpired; }},
      {"invalid_identity", [](Desk& desk) { desk.alice_state = PrincipalState::kInvalid; }},
      {"missing_scope", [](Desk& desk) { desk.alice.scopes.clear(); }},
      {"tenant_mismatch", [](Desk& desk) { desk.alice.tenant = "tenant-b"; }},
      {"tenant_mismatch",
       [](Desk& desk) {
         desk.world.invoices.behave =
             [](const attributes::ResourceQuery& query) -> Result<access::Resource> {
           auto found = World::find(query);
           if (found) found->tenant = "tenant-b";
           return found;
         };
       }},
      {"resource_not_found",
       [](Desk& desk) {
         desk.world.invoices.behave =
             [](const attributes::ResourceQuery&) -> Result<access::Resource> {
           return Error{ErrorCode::kNotFound, "no such row"};
         };
       }},
      {"forbidden",
       [](Desk& desk) {
         desk.world.decision_point->behave =
             [](const decision::DecisionRequest&) -> Result<access::Decision> {
           return access::Decision::deny(access::ReasonCode::kForbidden, {"no-more"});
         };
         desk.world.publish();
       }},
  };
  for (const Case& each : cases) {
    Desk desk;
    const std::string id = desk.add();
    each.change(desk);
    EXPECT_EQ(desk.worker().work_once(), Turn::kWorked) << each.reason;
    EXPECT_EQ(desk.word(id), "denied " + std::string(each.reason) + " 1");
    desk.advance(1h);
    EXPECT_EQ(desk.worker().work_once(), Turn::kIdle) << each.reason;
    EXPECT_EQ(desk.world.handler.runs(), 0U) << each.reason;
    const auto events = desk.world.evidence.events();
    EXPECT_EQ(text_of(first_of(events, "authorization.decision"), "reason"), each.reason);
    EXPECT_EQ(text_of(events.back(), "event"), "queue.denied") << each.reason;
  }
}

// REQ-QU-006, REQ-QU-015
TEST(Worker, RowsThatCannotRunHoldUpNobody) {
  Desk desk;
  const char* legacy =
      "insert into remit_queue_row(id, tool, arguments, lane) values('%s', '%s', '%s', 'tenant-a')";
  const auto insert = [&](const char* id, const char* tool, const char* arguments) {
    char text[512];
    std::snprintf(text, sizeof text, legacy, id, tool, arguments);
    desk.database.run(text);
  };
  insert("old", "invoice.read", R"({"invoice":"i-4"})");
  insert("rotten", "invoice.read", "{");
  insert("empty", "", "");
  desk.database.run(
      "insert into remit_queue_row(id, principal, tool, arguments, lane) values('forged', 'alice', "
      "'invoice.read', '{\"invoice\":\"i-4\"}', 'tenant-a')");
  const std::string gone = desk.add(work("alice", "no.such.tool"));
  const std::string wrong =
      desk.add(work("alice", "invoice.read", R"({"invoice":"i","amount":"x"})"));
  const std::string stranger = desk.add(work("mallory", "invoice.read"));
  const std::string changed = desk.add();
  desk.database.run("update remit_queue_row set arguments = '{\"invoice\":\"i-9\"}' where id = '" +
                    changed + "'");
  const std::string good = desk.add();
  Worker worker = desk.worker();
  while (worker.work_once() == Turn::kWorked) continue;
  EXPECT_EQ(desk.word("old"), "denied missing_identity 1");
  EXPECT_EQ(desk.word("rotten"), "denied invalid_request 1");
  EXPECT_EQ(desk.word("empty"), "denied missing_identity 1");
  EXPECT_EQ(desk.word("forged"), "denied invalid_request 1");
  EXPECT_EQ(desk.word(gone), "denied unknown_tool 1");
  EXPECT_EQ(desk.word(wrong), "denied invalid_arguments 1");
  EXPECT_EQ(desk.word(stranger), "denied invalid_identity 1");
  EXPECT_EQ(desk.word(changed), "denied invalid_request 1");
  EXPECT_EQ(desk.word(good), "succeeded 1");
  EXPECT_EQ(desk.world.handler.runs(), 1U);
}

// An authenticator that lets in who presents nothing does not let a row in that nobody sealed.
TEST(Worker, NothingUnsealedReachesAHandler) {
  Desk desk;
  desk.world.authenticator.behave = [&](const access::Credential&) {
    return identity::Identity{.state = PrincipalState::kAuthenticated, .principal = desk.alice};
  };
  desk.database.run(
      "insert into remit_queue_row(id, tool, arguments) values('old', 'invoice.read', "
      "'{\"invoice\":\"i-4\"}')");
  EXPECT_EQ(desk.worker().work_once(), Turn::kIdle);
  ASSERT_TRUE(desk.queue->tidy(kDefaultQueue));
  EXPECT_EQ(desk.worker().work_once(), Turn::kWorked);
  EXPECT_EQ(desk.world.handler.runs(), 0U);
  EXPECT_EQ(desk.word("old"), "failed not_sealed 1");
}

// REQ-QU-016
TEST(Worker, WhatMayBeAnotherLaterIsTriedAgainWithItsOwnDecisions) {
  Desk desk;
  int down = 2;
  desk.world.invoices.behave =
      [&](const attributes::ResourceQuery& query) -> Result<access::Resource> {
    if (down-- > 0) return Error{ErrorCode::kUnavailable, "the store is down"};
    return enforcement::testing::World::find(query);
  };
  const std::string id = desk.add();
  Worker worker = desk.worker();
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "waiting resolver_unavailable 1");
  EXPECT_EQ(worker.work_once(), Turn::kIdle);
  desk.advance(1s);
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  desk.advance(2s);
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "succeeded 3");
  std::string told;
  for (const json::Value& event : desk.world.evidence.events()) {
    if (text_of(event, "event") != "authorization.decision") continue;
    told += text_of(event, "route") + " " + std::to_string(*event.find("attempt")->if_integer()) +
            " " + text_of(event, "reason") + "; ";
  }
  EXPECT_EQ(told, "queued 1 resolver_unavailable; retry 2 resolver_unavailable; retry 3 allowed; ");
}

TEST(Worker, TriesAgainWithinABound) {
  struct Case {
    const char* reason;
    std::function<void(Desk&)> breaks;
  };
  const Case cases[] = {
      {"resolver_unavailable",
       [](Desk& desk) {
         desk.world.invoices.behave =
             [](const attributes::ResourceQuery&) -> Result<access::Resource> {
           return Error{ErrorCode::kUnavailable, "down"};
         };
       }},
      {"policy_unavailable",
       [](Desk& desk) {
         desk.world.decision_point->behave =
             [](const decision::DecisionRequest&) -> Result<access::Decision> {
           return Error{ErrorCode::kUnavailable, "down"};
         };
       }},
      {"policy_error",
       [](Desk& desk) {
         desk.world.decision_point->behave =
             [](const decision::DecisionRequest&) -> Result<access::Decision> {
           throw std::runtime_error("broken");
         };
       }},
      {"evidence_unavailable",
       [](Desk& desk) {
         desk.world.evidence.on_commit = [](const evidence::EventBatch&) -> Status {
           return Error{ErrorCode::kUnavailable, "disk full"};
         };
       }},
  };
  for (const Case& each : cases) {
    Desk desk;
    Work what = work("alice", "invoice.read");
    what.max_attempts = 3;
    const std::string id = desk.add(what);
    const std::string behind = desk.add(work("mallory", "invoice.read"));
    each.breaks(desk);
    Worker worker = desk.worker();
    for (int i = 0; i < 10; ++i) {
      while (worker.work_once() == Turn::kWorked) continue;
      desk.advance(1h);
    }
    EXPECT_EQ(desk.word(id), "denied " + std::string(each.reason) + " 3");
    EXPECT_EQ(desk.word(behind).substr(0, 6), "denied");
    EXPECT_EQ(desk.world.handler.runs(), 0U);
  }
}

TEST(Worker, PausesGrowAndAreBounded) {
  remit::testing::SeededRandom random;
  std::chrono::milliseconds last{0};
  for (std::int64_t attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    const auto full = std::min<std::chrono::milliseconds>(kFirstRetryPause * (1LL << (attempt - 1)),
                                                          kLongestRetryPause);
    for (int i = 0; i < 50; ++i) {
      last = pause_after(attempt, random);
      EXPECT_LE(last, full);
      EXPECT_GE(last, full * 3 / 4);
    }
  }
}

// REQ-QU-017
TEST(Worker, TheHandlersWordEndsTheRow) {
  struct Case {
    const char* word;
    std::function<HandlerResult(const GrantedCall&)> behave;
  };
  const Case cases[] = {
      {"failed HttpError 1",
       [](const GrantedCall&) {
         return HandlerResult{.outcome = HandlerOutcome::kFailed, .error_type = "HttpError"};
       }},
      {"unknown deadline_exceeded 1",
       [](const GrantedCall&) {
         return HandlerResult{.outcome = HandlerOutcome::kUnknown,
                              .error_type = "deadline_exceeded"};
       }},
      {"unknown exception 1",
       [](const GrantedCall&) -> HandlerResult { throw std::runtime_error("lost"); }},
      {"waiting cancelled 1",
       [](const GrantedCall&) {
         return HandlerResult{.outcome = HandlerOutcome::kCancelled, .error_type = "cancelled"};
       }},
  };
  for (const Case& each : cases) {
    Desk desk;
    const std::string id = desk.add();
    desk.world.handler.behave = each.behave;
    desk.worker().work_once();
    EXPECT_EQ(desk.word(id), each.word);
    const bool is_open = std::string(each.word).starts_with("waiting");
    desk.advance(1h);
    EXPECT_EQ(desk.worker().work_once(), is_open ? Turn::kWorked : Turn::kIdle) << each.word;
  }
}

TEST(Worker, APermitThatExpiredIsTriedAgain) {
  Desk desk;
  const std::string id = desk.add();
  bool is_slow = true;
  desk.world.evidence.on_commit = [&](const evidence::EventBatch&) -> Status {
    if (std::exchange(is_slow, false)) desk.world.clock.advance(2s);
    return {};
  };
  EXPECT_EQ(desk.worker().work_once(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "waiting permit_expired 1");
  EXPECT_EQ(desk.world.handler.runs(), 0U);
  desk.advance(1s);
  EXPECT_EQ(desk.worker().work_once(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "succeeded 2");
}

// REQ-QU-013: while the first asks, its claim runs out and another does the work.
TEST(Worker, AWorkerThatSleptHasNoEffect) {
  Desk desk;
  const std::string id = desk.add();
  Worker other = desk.worker("other");
  bool sleeps = true;
  desk.world.invoices.behave =
      [&](const attributes::ResourceQuery& query) -> Result<access::Resource> {
    if (std::exchange(sleeps, false)) {
      desk.advance(kQueueClaimTime + 1s);
      EXPECT_EQ(other.work_once(), Turn::kWorked);
    }
    return enforcement::testing::World::find(query);
  };
  EXPECT_EQ(desk.worker("sleeper").work_once(), Turn::kWorked);
  EXPECT_EQ(desk.world.handler.runs(), 1U);
  EXPECT_EQ(desk.word(id), "succeeded 2");
  EXPECT_EQ(desk.queue->find(id)->worker, "other");
  const json::Value last = desk.world.evidence.events().back();
  EXPECT_EQ(text_of(last, "outcome"), "cancelled");
  EXPECT_EQ(text_of(last, "error_type"), "claim_lost");
}

/// A desk with a ledger, at which a worker is lost while its handler works.
struct LossyDesk : Desk {
  explicit LossyDesk(Backend at) : Desk(at), backend(at) {
    if (!is_there) return;
    alice.scopes = {"invoice:read", "once"};
    swap_ledger();
  }
  /// Another memory, in which nothing is.
  void swap_ledger() {
    const bool is_file = backend == Backend::kSqlite;
    const ledger::Location location{
        is_file ? ledger::Location::Kind::kSqlite : ledger::Location::Kind::kPostgres,
        is_file ? folder.path("ledger" + std::to_string(++ledgers)) : postgres_schema()};
    memory = ledger::DatabaseLedger::open(
                 {.location = location, .key_check = "key", .renews_by_itself = false},
                 database.clock, system_random)
                 .value();
    claims = ledger::Desk::open(location, database.clock, system_random).value();
    enforcement::Surroundings surroundings = world.surroundings(world.policy, world.evidence);
    surroundings.ledger = memory.get();
    world.boundary.emplace(std::move(surroundings));
  }
  static std::string postgres_schema() { return testing::postgres()->new_schema(); }
  /// From here on the catalogue says this of `note.put`.
  void catalogue(policy::Idempotency idempotency, bool idempotent) {
    auto bundle = std::make_shared<policy::Bundle>(
        *enforcement::testing::load_test_bundle("c" + std::to_string(++catalogues)));
    for (policy::Tool& tool : bundle->tools) {
      if (tool.name != "note.put") continue;
      tool.idempotency = idempotency;
      tool.idempotent = idempotent;
    }
    REMIT_CHECK(world.policy.publish(bundle, world.decision_point));
  }
  /// A row whose worker was lost after its handler was entered: the boundary says so to the ledger,
  /// nobody to the queue.
  std::string lose_one() {
    const std::string id = add(work("alice", "note.put"));
    const Row row = queue->claim(kDefaultQueue, "lost").value().value();
    access::ProposedCall call = enforcement::testing::World::call("note.put", row.arguments_json);
    call.credential = access::Credential::reference("alice");
    call.idempotency_key = row.invocation_key();
    world.handler.behave = [&](const GrantedCall&) {
      EXPECT_TRUE(queue->start(row, database.clock.monotonic_now() + 5s));
      return HandlerResult{.outcome = HandlerOutcome::kUnknown, .error_type = "worker_lost"};
    };
    EXPECT_TRUE(std::holds_alternative<HandlerResult>(world.boundary->invoke(call, world.handler)));
    world.handler.behave = enforcement::testing::FakeHandler{}.behave;
    advance(kQueueClaimTime + 1s);
    world.evidence.clear();
    return id;
  }
  Turn recover() {
    WorkerParts these = parts();
    these.may_ask_again = [](std::string_view) { return true; };
    return Worker(these, {}).work_once();
  }

  Backend backend;
  remit::testing::TestFolder folder;
  SystemRandom system_random;
  int ledgers = 0;
  int catalogues = 0;
  std::unique_ptr<ledger::DatabaseLedger> memory;
  std::unique_ptr<ledger::Desk> claims;
};

// REQ-QU-018, REQ-BD-059: what changed between the loss and the recovery makes no second effect.
TEST(Worker, WhatALostWorkerStartedComesAgainOnlyWhereTheLedgerKnowsItsKey) {
  struct Case {
    const char* name;
    std::function<void(LossyDesk&)> before;  // the loss
    std::function<void(LossyDesk&)> after;
    const char* word;
  };
  const auto same = [](LossyDesk&) {};
  const auto another_tenant = [](LossyDesk& desk) {
    desk.alice.tenant = "tenant-b";
    desk.world.invoices.behave =
        [](const attributes::ResourceQuery& query) -> Result<access::Resource> {
      auto found = enforcement::testing::World::find(query);
      if (found) found->tenant = "tenant-b";
      return found;
    };
  };
  const auto another_resource = [](LossyDesk& desk) {
    desk.world.invoices.behave =
        [](const attributes::ResourceQuery& query) -> Result<access::Resource> {
      auto found = enforcement::testing::World::find(query);
      if (found) found->id = "another";
      return found;
    };
  };
  const Case cases[] = {
      {"nothing changed, and it may be repeated", same, same, "succeeded 2"},
      {"nothing changed, and it may not be repeated",
       [](LossyDesk& desk) { desk.catalogue(policy::Idempotency::kKeyOptional, false); }, same,
       "unknown outcome_unknown 2"},
      {"its catalogue began to take keys",
       [](LossyDesk& desk) { desk.catalogue(policy::Idempotency::kNone, false); },
       [](LossyDesk& desk) { desk.catalogue(policy::Idempotency::kKeyOptional, true); },
       "unknown outcome_unknown 2"},
      {"its catalogue takes no keys any more", same,
       [](LossyDesk& desk) { desk.catalogue(policy::Idempotency::kNone, true); },
       "unknown outcome_unknown 2"},
      {"its principal is of another tenant", same, another_tenant, "unknown outcome_unknown 2"},
      {"its principal acts for another", same,
       [](LossyDesk& desk) { desk.alice.on_behalf_of = "bob"; }, "unknown outcome_unknown 2"},
      {"another ledger is there", same, [](LossyDesk& desk) { desk.swap_ledger(); },
       "unknown outcome_unknown 2"},
      {"its reference is another resource", same, another_resource,
       "unknown duplicate_invocation 2"},
      {"its principal lost a scope", same, [](LossyDesk& desk) { desk.alice.scopes.clear(); },
       "unknown missing_scope 2"},
  };
  for (const Backend backend : {Backend::kSqlite, Backend::kPostgres}) {
    for (const Case& each : cases) {
      LossyDesk desk(backend);
      if (!desk.is_there) continue;
      each.before(desk);
      const std::string id = desk.lose_one();
      each.after(desk);
      EXPECT_EQ(desk.recover(), Turn::kWorked) << each.name;
      EXPECT_EQ(desk.word(id), each.word) << each.name;
      const bool is_repeated = std::string_view(each.word) == "succeeded 2";
      EXPECT_EQ(desk.world.handler.runs(), is_repeated ? 2U : 1U) << each.name;
      const auto events = desk.world.evidence.events();
      EXPECT_EQ(text_of(events.back(), "event"), is_repeated ? "executor.finish" : "queue.denied")
          << each.name;
      const auto claims = desk.claims->claims(true);
      ASSERT_TRUE(claims);
      for (const ledger::ClaimEntry& left : *claims) {
        EXPECT_NE(left.state, "running") << each.name << ": nothing is left claimed";
      }
      desk.advance(1h);
      EXPECT_EQ(desk.recover(), Turn::kIdle) << each.name;
    }
  }
}

// REQ-QU-018: that a row was started is not forgotten when it is put back, or lost once more.
TEST(Worker, ThatARowWasStartedOutlivesFurtherAttempts) {
  for (const Backend backend : {Backend::kSqlite, Backend::kPostgres}) {
    for (const bool is_lost_again : {false, true}) {
      LossyDesk desk(backend);
      if (!desk.is_there) continue;
      const std::string id = desk.lose_one();
      if (is_lost_again) {
        const auto may = [](const Row&) { return true; };
        ASSERT_TRUE(desk.queue->claim(kDefaultQueue, "lost", may).value());
      } else {
        desk.world.invoices.behave =
            [](const attributes::ResourceQuery&) -> Result<access::Resource> {
          return Error{ErrorCode::kUnavailable, "the store is down"};
        };
        EXPECT_EQ(desk.recover(), Turn::kWorked);
        EXPECT_EQ(desk.word(id), "waiting resolver_unavailable 2");
        desk.world.invoices.behave = enforcement::testing::World::find;
      }
      desk.advance(kQueueClaimTime + 1s);
      desk.alice.on_behalf_of = "bob";
      EXPECT_EQ(desk.recover(), Turn::kWorked);
      EXPECT_EQ(desk.word(id), "unknown outcome_unknown 3");
      EXPECT_EQ(desk.world.handler.runs(), 1U);
      // A person settles it; then it is work under a new key.
      ASSERT_TRUE(desk.queue->requeue(
          {.id = id, .by = "carol", .reason = "looked", .may_have_run_is_settled = true}));
      EXPECT_EQ(desk.recover(), Turn::kWorked);
      EXPECT_EQ(desk.word(id), "succeeded 1");
    }
  }
}

// REQ-QU-018: a repetition that does nothing keeps its key, under which the first is unknown.
TEST(Worker, ARepetitionThatDidNothingHidesNothing) {
  LossyDesk desk(Backend::kSqlite);
  const std::string id = desk.lose_one();
  const std::string key = desk.queue->find(id)->invocation_key();
  desk.world.handler.behave = [](const GrantedCall&) {
    return HandlerResult{.outcome = HandlerOutcome::kCancelled, .error_type = "cancelled"};
  };
  EXPECT_EQ(desk.recover(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "waiting cancelled 2");
  EXPECT_EQ(desk.queue->find(id)->invocation_key(), key);
  desk.catalogue(policy::Idempotency::kKeyOptional, false);
  desk.world.handler.behave = enforcement::testing::FakeHandler{}.behave;
  desk.advance(1h);
  EXPECT_EQ(desk.recover(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "unknown outcome_unknown 3");
}

// REQ-QU-018: of a tool that may not be asked for again nobody asks.
TEST(Worker, WhatALostWorkerStartedIsUnknownWhereItMayNotBeAskedForAgain) {
  LossyDesk desk(Backend::kSqlite);
  const std::string id = desk.lose_one();
  WorkerParts parts = desk.parts();
  std::string asked;
  parts.may_ask_again = [&](std::string_view tool) {
    asked = tool;
    return false;
  };
  EXPECT_EQ(Worker(parts, {}).work_once(), Turn::kIdle);
  EXPECT_EQ(asked, "note.put");
  EXPECT_EQ(desk.word(id), "unknown worker_lost 1");
}

// REQ-QU-045: whoever watches a worker sees every denial, and how much there was of each.
TEST(Worker, SaysEachDenialAndWhatBecameOfAll) {
  Desk desk;
  const std::string good = desk.add();
  const std::string lost = desk.add(work("alice", "no.such.tool"));
  const std::string bob = desk.add(work("bob", "invoice.read"));
  Worker worker = desk.worker();
  while (worker.work_once() == Turn::kWorked) {
  }
  desk.alice.tenant = "tenant-b";
  const std::string foreign = desk.add();
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  for (const auto& [id, reason] :
       {std::pair(lost, "unknown_tool"), std::pair(bob, "invalid_identity"),
        std::pair(foreign, "tenant_mismatch")}) {
    EXPECT_NE(desk.notices.find("row \"" + id + "\" denied, " + reason), std::string::npos)
        << desk.notices;
  }
  EXPECT_EQ(desk.notices.find(good), std::string::npos);
  EXPECT_EQ(worker.ends(),
            (std::map<State, std::size_t>{{State::kSucceeded, 1}, {State::kDenied, 3}}));
}

TEST(Worker, StopsInOrder) {
  Desk desk;
  const std::string first = desk.add();
  const std::string second = desk.add();
  std::stop_source stop;
  desk.world.handler.behave = [&](const GrantedCall&) {
    stop.request_stop();
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
  };
  Worker worker = desk.worker();
  ASSERT_TRUE(worker.run(stop.get_token(), {}));
  EXPECT_EQ(desk.word(first), "succeeded 1");
  EXPECT_EQ(desk.word(second), "waiting 0");
  // One that was told to hurry gives back what it claimed.
  EXPECT_EQ(worker.work_once(stop.get_token()), Turn::kWorked);
  EXPECT_EQ(desk.word(second), "waiting 0");
}

TEST(Worker, TakesNothingUpWhileItIsNotReady) {
  Desk desk;
  const std::string id = desk.add();
  Status ready = Error{ErrorCode::kUnavailable, "the server ended"};
  WorkerParts parts = desk.parts();
  parts.is_ready = [&] { return ready; };
  Worker worker(parts, {});
  EXPECT_EQ(worker.work_once(), Turn::kUnavailable);
  EXPECT_EQ(worker.work_once(), Turn::kUnavailable);
  EXPECT_EQ(desk.word(id), "waiting 0");
  EXPECT_FALSE(worker.run({}, {}, Until::kIdle));
  ready = {};
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  EXPECT_EQ(desk.notices, "no work is taken up: the server ended\nwork is taken up again\n");
}

// A thread that fails on the way goes on with the next row, and holds nothing for ever.
TEST(Worker, AnExceptionCostsNoThread) {
  Desk desk;
  const std::string id = desk.add();
  std::stop_source stop;
  desk.world.handler.behave = [&](const GrantedCall&) {
    stop.request_stop();
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
  };
  int asked = 0;
  WorkerParts parts = desk.parts();
  parts.is_ready = [&]() -> Status {
    if (++asked == 1) throw std::bad_alloc();
    return {};
  };
  parts.is_offered = [&](std::string_view) {
    if (asked == 2) throw std::bad_alloc();  // its row is claimed, and not renewed any more
    return true;
  };
  const auto plain = parts.is_ready;
  parts.is_ready = [&, plain]() -> Status {
    if (asked == 2) desk.advance(kQueueClaimTime + 1s);
    return plain();
  };
  Worker worker(parts, {.poll = 1ms});
  ASSERT_TRUE(worker.run(stop.get_token(), {}));
  EXPECT_EQ(desk.word(id), "succeeded 2");
  EXPECT_EQ(asked, 3);
}

// What was claimed then is still claimed: the work is not done.
TEST(Worker, AnExceptionIsNoIdleQueue) {
  Desk desk;
  const std::string id = desk.add();
  WorkerParts parts = desk.parts();
  int asked = 0;
  parts.is_offered = [&](std::string_view) {
    if (++asked == 1) throw std::bad_alloc();
    return true;
  };
  Worker worker(parts, {});
  EXPECT_FALSE(worker.run({}, {}, Until::kIdle));
  EXPECT_EQ(desk.word(id), "claimed 1");
  desk.advance(kQueueClaimTime + 1s);
  EXPECT_TRUE(worker.run({}, {}, Until::kIdle));
  EXPECT_EQ(desk.word(id), "succeeded 2");
}

TEST(Worker, SeveralWithThreadsShareOneQueue) {
  for (const Backend backend : {Backend::kSqlite, Backend::kPostgres}) {
    Desk desk(backend);
    if (!desk.is_there) continue;
    constexpr std::size_t kRows = 40;
    for (std::size_t i = 0; i < kRows; ++i) {
      Work what = work("alice", "invoice.read");
      what.lane = i % 2 == 0 ? "tenant-a" : "tenant-b";
      desk.add(what);
    }
    Worker one(desk.parts(), {.name = "one", .threads = 2});
    Worker two(desk.parts(), {.name = "two", .threads = 2});
    std::thread other([&] { EXPECT_TRUE(two.run({}, {}, Until::kIdle)); });
    EXPECT_TRUE(one.run({}, {}, Until::kIdle));
    other.join();
    EXPECT_EQ(desk.world.handler.runs(), kRows);
    EXPECT_EQ(desk.queue->list({.states = {State::kSucceeded}})->size(), kRows);
  }
}

// A claim lives as long as its worker works.
TEST(Worker, RenewsWhatItHolds) {
  Desk desk;
  const std::string id = desk.add();
  Worker worker = desk.worker();
  desk.world.handler.behave = [&](const GrantedCall&) {
    desk.advance(kQueueClaimTime - 1s);
    worker.renew();
    desk.advance(kQueueClaimTime - 1s);
    EXPECT_EQ(desk.worker("other").work_once(), Turn::kIdle);
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
  };
  EXPECT_EQ(worker.work_once(), Turn::kWorked);
  EXPECT_EQ(desk.word(id), "succeeded 1");
}

// REQ-QU-021: the database goes away while a handler works, and comes back.
TEST(Worker, ADatabaseThatGoesAwayCostsTimeAndNotTruth) {
  Desk desk(Backend::kPostgres);
  if (!desk.is_there) GTEST_SKIP() << "PostgreSQL is not installed";
  const std::string id = desk.add();
  std::atomic<bool> is_gone{false};
  desk.world.handler.behave = [&](const GrantedCall&) {
    testing::postgres()->kill();
    is_gone = true;
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded};
  };
  std::thread works([&] { EXPECT_EQ(desk.worker().work_once(), Turn::kWorked); });
  while (!is_gone) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(300ms);
  testing::postgres()->restart();  // by this thread, with which the server would end
  works.join();
  EXPECT_EQ(desk.notices, "");
  EXPECT_EQ(desk.word(id), "succeeded 1");
  testing::postgres()->kill();
  EXPECT_EQ(desk.worker().work_once(), Turn::kUnavailable);
  testing::postgres()->restart();
  EXPECT_EQ(desk.worker().work_once(), Turn::kIdle);
}

// REQ-QU-001, REQ-QU-004, REQ-QU-005, REQ-QU-032
TEST(DeferringHandler, PutsOffForWhoeverCalled) {
  Desk desk;
  DeferringHandler handler(*desk.queue, desk.world.evidence, desk.world.key,
                           {{"anything.goes", {.tool = "invoice.read", .max_attempts = 2}}});
  access::ProposedCall call = enforcement::testing::World::call(
      "anything.goes",
      R"({"arguments":{"invoice":"i-4","principal":"mallory"},"principal":"mallory"})");
  call.credential = access::Credential::reference("alice");
  call.run_id = "run-1";
  const auto outcome = desk.world.boundary->invoke(call, handler);
  const auto& result = std::get<HandlerResult>(outcome);
  ASSERT_EQ(result.outcome, HandlerOutcome::kSucceeded);
  const json::Value payload = json::parse(result.payload).value();
  const Row row = desk.queue->find(text_of(payload, "id")).value();
  EXPECT_EQ(text_of(payload, "status"), "queued");
  EXPECT_EQ(row.principal, "alice");
  EXPECT_EQ(row.lane, "tenant-a");
  EXPECT_EQ(row.tool, "invoice.read");
  EXPECT_EQ(row.arguments_json, R"({"invoice":"i-4","principal":"mallory"})");
  EXPECT_EQ(row.max_attempts, 2);
  EXPECT_EQ(row.enqueued_policy_version, "v1");
  EXPECT_EQ(row.run_id, "run-1");
  const auto events = desk.world.evidence.events();
  EXPECT_EQ(names_of(events),
            "tool.request authorization.decision executor.start queue.enqueued executor.finish");
  const json::Value enqueued = first_of(events, "queue.enqueued");
  EXPECT_EQ(text_of(enqueued, "invocation_id"), row.enqueued_by);
  EXPECT_EQ(text_of(enqueued, "queue"), "default");
  // The run is another invocation; the digest of its key joins the two.
  desk.world.evidence.clear();
  EXPECT_EQ(desk.worker().work_once(), Turn::kWorked);
  const json::Value request = first_of(desk.world.evidence.events(), "tool.request");
  EXPECT_NE(text_of(request, "invocation_id"), row.enqueued_by);
  EXPECT_EQ(text_of(request, "idempotency_key_digest"),
            text_of(enqueued, "idempotency_key_digest"));
}

TEST(DeferringHandler, RefusesWhatCouldNotBecomeWork) {
  struct Case {
    const char* arguments;
    const char* word;
  };
  const Case cases[] = {
      {R"({})", "invalid_work"},
      {R"({"arguments":[]})", "invalid_work"},
      {R"({"arguments":{},"not_before":"tomorrow"})", "invalid_work"},
      {R"({"arguments":{},"not_before":5})", "invalid_work"},
      {R"({"arguments":{},"not_before":"2026-12-01T00:00:00Z"})", "succeeded"},
      {R"({"arguments":{}})", "queue_full"},
  };
  Desk desk(Backend::kSqlite, {.max_open_rows = 1});
  DeferringHandler handler(*desk.queue, desk.world.evidence, desk.world.key,
                           {{"anything.goes", {.tool = "invoice.read"}}});
  for (const Case& each : cases) {
    access::ProposedCall call = enforcement::testing::World::call("anything.goes", each.arguments);
    call.credential = access::Credential::reference("alice");
    const auto outcome = desk.world.boundary->invoke(call, handler);
    const auto& result = std::get<HandlerResult>(outcome);
    const bool is_done = result.outcome == HandlerOutcome::kSucceeded;
    EXPECT_EQ(is_done ? "succeeded" : result.error_type, each.word) << each.arguments;
  }
  EXPECT_EQ(desk.queue->list({})->front().route, "scheduled");
}

TEST(DeferringHandler, SaysThatItDoesNotKnowWhereTheQueueIsGone) {
  Desk desk(Backend::kPostgres, {.operation_deadline = 500ms});
  if (!desk.is_there) GTEST_SKIP() << "PostgreSQL is not installed";
  DeferringHandler handler(*desk.queue, desk.world.evidence, desk.world.key,
                           {{"anything.goes", {.tool = "invoice.read"}}});
  access::ProposedCall call =
      enforcement::testing::World::call("anything.goes", R"({"arguments":{}})");
  call.credential = access::Credential::reference("alice");
  testing::postgres()->kill();
  const auto outcome = desk.world.boundary->invoke(call, handler);
  testing::postgres()->restart();
  EXPECT_EQ(std::get<HandlerResult>(outcome).error_type, "queue_unavailable");
  EXPECT_EQ(std::get<HandlerResult>(outcome).outcome, HandlerOutcome::kUnknown);
}

}  // namespace
}  // namespace remit::queue
