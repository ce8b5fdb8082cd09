// What a ledger promises, on both databases: keys, approvals, leases, a person's word, and refusal
// when the database is gone.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "ledger/database_ledger.h"
#include "ledger/desk.h"
#include "tests/support/postgres_server.h"
#include "tests/support/test_folder.h"

namespace remit::ledger {
namespace {

using namespace std::chrono_literals;
using remit::testing::PostgresServer;
using remit::testing::TestFolder;

constexpr auto kLease = std::chrono::milliseconds{30'000};

/// Wall time that the test moves, deadlines that run.
class TestClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const override { return WallTime{wall_ns_.load()}; }
  [[nodiscard]] MonotonicTime monotonic_now() const override { return real_.monotonic_now(); }
  void advance(Duration span) { wall_ns_ += span.count(); }

 private:
  SystemClock real_;
  std::atomic<std::int64_t> wall_ns_{1'796'040'000'000'000'000};
};

PostgresServer* server() {
  static const std::unique_ptr<PostgresServer> one = PostgresServer::start();
  return one.get();
}

std::string_view verdict_name(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::kUnknown:
      return "unknown";
    case ClaimVerdict::kRunning:
      return "running";
    case ClaimVerdict::kSucceeded:
      return "succeeded";
    case ClaimVerdict::kFailed:
      return "failed";
    case ClaimVerdict::kCancelled:
      return "cancelled";
    case ClaimVerdict::kConflict:
      return "conflict";
    case ClaimVerdict::kApprovalGone:
      return "approval gone";
    case ClaimVerdict::kClaimed:
      return "claimed";
  }
  return "?";
}

class LedgerTest : public ::testing::TestWithParam<Location::Kind> {
 protected:
  void SetUp() override {
    location_.kind = GetParam();
    location_.text = folder_.path("state.db");
    if (GetParam() == Location::Kind::kPostgres) {
      if (server() == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
      location_.text = server()->new_schema();
    }
    one_ = open();
    desk_ = Desk::open(location_, clock_, random_).value();
  }
  [[nodiscard]] Result<std::unique_ptr<DatabaseLedger>> try_open(const std::string& key = "key",
                                                                 bool renews_by_itself = false) {
    return DatabaseLedger::open({.location = location_,
                                 .key_check = key,
                                 .lease = kLease,
                                 .renews_by_itself = renews_by_itself},
                                clock_, random_);
  }
  std::unique_ptr<DatabaseLedger> open() { return try_open().value(); }

  /// A claim by `ledger`, in words; the claim itself goes to `claim_`.
  std::string claim(Ledger& ledger, ClaimQuery query) {
    if (query.call.empty()) query.call = "call";
    if (query.tool.empty()) query.tool = "refund.create";
    const std::string invocation = "i" + std::to_string(++invocations_);
    if (query.invocation.empty()) query.invocation = invocation;
    const auto outcome = ledger.claim(query);
    if (!outcome) return std::string(error_code_name(outcome.error().code));
    if (outcome->verdict == ClaimVerdict::kClaimed) claim_ = outcome->claim;
    return std::string(verdict_name(outcome->verdict));
  }
  std::string approval_state(std::string_view request, std::string_view key = "k",
                             std::string_view scope = "scope") {
    const auto found = one_->find_approval({.request = request, .scope = scope, .claim = key});
    if (!found) return std::string(error_code_name(found.error().code));
    return std::string(approval_state_name(found->state)) +
           (found->is_of_this_claim ? " by this" : "");
  }
  static ApprovalRequest request(const std::string& id, const std::string& principal = "p") {
    return {.request = id,
            .scope = "scope",
            .principal = principal,
            .subject = "alice",
            .tenant = "tenant-a",
            .on_behalf_of = "bob",
            .tool = "refund.create",
            .resources = "Invoice::\"7\"",
            .arguments = R"({"amount":12})",
            .policy_version = "v1"};
  }
  std::string grant(const std::string& id, std::chrono::seconds lifetime = 600s) {
    EXPECT_TRUE(one_->note_request(request(id)));
    const auto granted = desk_->grant({id, "carol", "it is due", lifetime});
    return granted ? *granted : std::string(error_code_name(granted.error().code));
  }

  TestFolder folder_;
  TestClock clock_;
  SystemRandom random_;
  Location location_;
  std::unique_ptr<DatabaseLedger> one_;
  std::unique_ptr<Desk> desk_;
  Claim claim_;
  int invocations_ = 0;
};

// REQ-LG-001, REQ-LG-002, REQ-LG-003
TEST_P(LedgerTest, AKeyIsClaimedOnceAndRemembersItsEnd) {
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "claimed");
  const Claim first = claim_;
  EXPECT_EQ(first.attempt, 1);
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "running");
  const auto two = open();
  EXPECT_EQ(claim(*two, {.claim = "k"}), "running");
  EXPECT_EQ(claim(*two, {.claim = "k", .call = "another"}), "conflict");
  EXPECT_TRUE(one_->start(first));
  EXPECT_FALSE(one_->start(first)) << "one start for one claim";
  EXPECT_EQ(claim(*two, {.claim = "k"}), "running");
  one_->finish(first, Outcome::kSucceeded);
  EXPECT_EQ(claim(*two, {.claim = "k"}), "succeeded");
  EXPECT_EQ(claim(*two, {.claim = "k", .is_repeatable = true}), "succeeded");
  EXPECT_EQ(claim(*two, {.claim = "k", .call = "another"}), "conflict");
  EXPECT_EQ(claim(*two, {.claim = "k2"}), "claimed");

  const std::pair<Outcome, const char*> ends[] = {{Outcome::kFailed, "failed"},
                                                  {Outcome::kCancelled, "cancelled"},
                                                  {Outcome::kUnknown, "unknown"}};
  for (const auto& [outcome, said] : ends) {
    EXPECT_EQ(claim(*one_, {.claim = said}), "claimed");
    EXPECT_TRUE(one_->start(claim_));
    one_->finish(claim_, outcome);
    EXPECT_EQ(claim(*one_, {.claim = said}), said);
  }
}

// REQ-LG-010, REQ-LG-011
TEST_P(LedgerTest, AnApprovalIsUsedUpWithTheKeyOrNotAtAll) {
  EXPECT_EQ(approval_state("r"), "absent");
  const std::string approval = grant("r");
  EXPECT_EQ(approval_state("r"), "active");
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = approval, .request = "other"}),
            "approval gone");
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = approval, .request = "r"}), "claimed")
      << "what was refused left no claim";
  EXPECT_TRUE(one_->start(claim_));
  EXPECT_EQ(approval_state("r"), "consumed by this");
  EXPECT_EQ(approval_state("r", "k2"), "consumed");
  EXPECT_EQ(claim(*one_, {.claim = "k2", .approval = approval, .request = "r"}), "approval gone");
  EXPECT_EQ(claim(*one_, {.claim = "k2"}), "claimed");
  // A process that starts later remembers.
  one_ = open();
  EXPECT_EQ(approval_state("r", "k2"), "consumed");
  EXPECT_EQ(desk_->revoke(approval, "carol", "late").error().code, ErrorCode::kFailedPrecondition);
}

// REQ-LG-012, REQ-LG-013
TEST_P(LedgerTest, AnApprovalEndsByTimeByWordAndByAnotherRequest) {
  const std::string approval = grant("r", 60s);
  EXPECT_EQ(approval_state("other"), "mismatched");
  EXPECT_EQ(approval_state("other", "k", "another scope"), "absent");
  clock_.advance(59s);
  EXPECT_EQ(approval_state("r"), "active");
  clock_.advance(1s);
  EXPECT_EQ(approval_state("r"), "expired");
  EXPECT_EQ(approval_state("other"), "absent") << "an expired one is nobody's";
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = approval, .request = "r"}), "approval gone");
  EXPECT_EQ(desk_->revoke(approval, "carol", "late").error().code, ErrorCode::kFailedPrecondition);

  const std::string second = grant("r");
  EXPECT_EQ(approval_state("r"), "active");
  EXPECT_TRUE(desk_->revoke(second, "dave", "a mistake"));
  EXPECT_EQ(approval_state("r"), "revoked");
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = second, .request = "r"}), "approval gone");
  const Approval shown = desk_->find(second).value();
  EXPECT_EQ(shown.changed_by, "dave");
  EXPECT_EQ(shown.changed_why, "a mistake");
  EXPECT_EQ(desk_->approvals(false)->size(), 0U);
  EXPECT_EQ(desk_->approvals(true)->size(), 2U);
}

// REQ-LG-012: a call that claimed it and was not started does not start any more.
TEST_P(LedgerTest, ARevocationThatMeetsACallBeforeItsStartStopsIt) {
  for (const bool gives_back : {true, false}) {
    const std::string name = gives_back ? "released" : "not run";
    const std::string approval = grant(name);
    const ClaimQuery query{.claim = name, .approval = approval, .request = name};
    EXPECT_EQ(claim(*one_, query), "claimed");
    EXPECT_TRUE(desk_->revoke(approval, "carol", "a mistake"));
    EXPECT_EQ(one_->start(claim_).error().code, ErrorCode::kFailedPrecondition);
    if (gives_back) {
      one_->release(claim_);
    } else {
      one_->finish(claim_, Outcome::kNotRun);
    }
    EXPECT_EQ(approval_state(name), "revoked");
    EXPECT_EQ(desk_->find(approval)->changed_by, "carol");
    EXPECT_EQ(claim(*one_, query), "approval gone");
    EXPECT_EQ(claim(*one_, {.claim = name}), "claimed") << "the key is free";
  }
  // What was started is used up.
  const std::string approval = grant("r");
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = approval, .request = "r"}), "claimed");
  EXPECT_TRUE(one_->start(claim_));
  EXPECT_EQ(desk_->revoke(approval, "carol", "late").error().code, ErrorCode::kFailedPrecondition);
  one_->finish(claim_, Outcome::kNotRun);
  EXPECT_EQ(desk_->revoke(approval, "carol", "late").error().code, ErrorCode::kFailedPrecondition);
}

// REQ-LG-031: there is room for every end before there is a claim.
TEST_P(LedgerTest, NoMoreIsClaimedThanCanBeEnded) {
  const auto small = DatabaseLedger::open({.location = location_,
                                           .key_check = "key",
                                           .max_open_ends = 2,
                                           .renews_by_itself = false},
                                          clock_, random_)
                         .value();
  EXPECT_EQ(claim(*small, {.claim = "a"}), "claimed");
  const Claim first = claim_;
  EXPECT_EQ(claim(*small, {.claim = "a"}), "running") << "what is not claimed owes nothing";
  EXPECT_EQ(claim(*small, {.claim = "b"}), "claimed");
  EXPECT_EQ(claim(*small, {.claim = "c"}), "unavailable");
  small->release(first);
  EXPECT_EQ(claim(*small, {.claim = "c"}), "claimed");
  small->finish(claim_, Outcome::kSucceeded);
  EXPECT_EQ(claim(*small, {.claim = "d"}), "claimed");
}

// REQ-LG-016: several that note requests of one principal do not wait for one another.
TEST_P(LedgerTest, RequestsAreNotedByManyAtOnce) {
  const auto two = open();
  constexpr int kEach = 3 * static_cast<int>(kMaxRequestsPerPrincipal) / 2;
  EXPECT_TRUE(one_->note_request(request("old", "p")));
  clock_.advance(kRequestLifetime + 1s);
  const auto note = [&](DatabaseLedger& ledger, bool is_backwards) {
    for (int i = 0; i < kEach; ++i) {
      const int number = is_backwards ? kEach - i : i;
      const Status noted = ledger.note_request(request("r" + std::to_string(number), "p"));
      EXPECT_TRUE(noted) << noted.error().to_string();
      if (i % 16 == 0) {
        EXPECT_TRUE(ledger.renew());
      }
    }
  };
  std::thread other([&] { note(*two, true); });
  note(*one_, false);
  other.join();
  EXPECT_EQ(static_cast<std::int64_t>(desk_->pending()->size()), kMaxRequestsPerPrincipal);
}

// REQ-LG-014, REQ-LG-015
TEST_P(LedgerTest, APersonSeesWhatWasAskedForAndGrantsIt) {
  EXPECT_EQ(desk_->grant({"r", "carol", "why", 60s}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(one_->note_request(request("r")));
  clock_.advance(1s);
  EXPECT_TRUE(one_->note_request(request("r")));
  const auto pending = desk_->pending().value();
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_EQ(pending[0].times, 2);
  EXPECT_EQ(pending[0].asked.arguments, R"({"amount":12})");
  EXPECT_EQ(pending[0].last.unix_ns - pending[0].first.unix_ns, Duration(1s).count());
  EXPECT_EQ(desk_->grant({"r", "", "why", 60s}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(desk_->grant({"r", "carol", "", 60s}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(desk_->grant({"r", "carol", "why", 0s}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(desk_->grant({"r", "carol", "why", 24h * 31}).error().code, ErrorCode::kInvalidInput);
  const std::string approval = desk_->grant({"r", "carol", "why", 60s}).value();
  EXPECT_EQ(desk_->pending()->size(), 0U);
  const Approval shown = desk_->find(approval).value();
  EXPECT_EQ(shown.asked.subject, "alice");
  EXPECT_EQ(shown.asked.on_behalf_of, "bob");
  EXPECT_EQ(shown.asked.resources, "Invoice::\"7\"");
  EXPECT_EQ(shown.granted_by, "carol");
  EXPECT_EQ(shown.state, ApprovalState::kActive);
  EXPECT_EQ(grant("r"), "already_exists") << "there are no two for one request";
  EXPECT_EQ(desk_->find("nowhere").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(desk_->revoke("nowhere", "carol", "why").error().code, ErrorCode::kNotFound);
}

// REQ-LG-016
TEST_P(LedgerTest, OnePrincipalsRequestsAreBoundedAndOld) {
  EXPECT_TRUE(one_->note_request(request("quiet", "q")));
  for (std::int64_t i = 0; i < kMaxRequestsPerPrincipal + 3; ++i) {
    clock_.advance(1ms);
    EXPECT_TRUE(one_->note_request(request("r" + std::to_string(i))));
  }
  EXPECT_EQ(static_cast<std::int64_t>(desk_->pending()->size()), kMaxRequestsPerPrincipal + 1);
  EXPECT_TRUE(desk_->find_request("quiet"));
  EXPECT_FALSE(desk_->find_request("r2")) << "the oldest went";
  EXPECT_TRUE(desk_->find_request("r3"));
  clock_.advance(kRequestLifetime + 1s);
  EXPECT_EQ(desk_->pending()->size(), 0U);
  EXPECT_EQ(desk_->grant({"r3", "carol", "why", 60s}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(one_->note_request(request("new")));
  EXPECT_FALSE(desk_->find_request("quiet"));
}

// REQ-LG-004
TEST_P(LedgerTest, WhatIsReleasedIsAsItWas) {
  const std::string approval = grant("r");
  const ClaimQuery query{.claim = "k", .approval = approval, .request = "r"};
  EXPECT_EQ(claim(*one_, query), "claimed");
  one_->release(claim_);
  EXPECT_EQ(approval_state("r"), "active");
  EXPECT_EQ(claim(*one_, query), "claimed");
  EXPECT_TRUE(one_->start(claim_));
  one_->release(claim_);
  EXPECT_EQ(approval_state("r"), "consumed by this") << "what was started is not released";
  EXPECT_EQ(claim(*one_, query), "running");
  // Nor is it once its owner was not heard of: it may have had its effect.
  clock_.advance(kLease + 1s);
  const auto two = open();
  EXPECT_EQ(claim(*two, query), "unknown");
  one_->release(claim_);
  EXPECT_EQ(approval_state("r"), "consumed by this");
  EXPECT_EQ(claim(*two, query), "unknown");
  EXPECT_TRUE(one_->renew());
  // A repetition that is released leaves what nobody knew.
  one_->finish(claim_, Outcome::kUnknown);
  EXPECT_EQ(claim(*one_, {.claim = "k", .is_repeatable = true}), "claimed");
  EXPECT_EQ(claim_.attempt, 2);
  one_->release(claim_);
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "unknown");
}

// REQ-LG-042: nothing is known better of the first attempt because the second did nothing.
TEST_P(LedgerTest, ARepetitionThatDidNothingLeavesTheFirstUnknown) {
  for (const Outcome outcome : {Outcome::kNotRun, Outcome::kCancelled}) {
    const std::string key = "k" + std::to_string(static_cast<int>(outcome));
    EXPECT_EQ(claim(*one_, {.claim = key}), "claimed");
    EXPECT_TRUE(one_->start(claim_));
    one_->finish(claim_, Outcome::kUnknown);
    EXPECT_EQ(claim(*one_, {.claim = key, .is_repeatable = true}), "claimed");
    EXPECT_TRUE(one_->start(claim_));
    one_->finish(claim_, outcome);
    EXPECT_EQ(claim(*one_, {.claim = key}), "unknown");
    EXPECT_EQ(claim(*one_, {.claim = key, .is_repeatable = true}), "claimed");
    EXPECT_EQ(claim_.attempt, 3);
  }
}

// REQ-LG-005, REQ-LG-006
TEST_P(LedgerTest, AnOwnerThatIsNotHeardOfLosesItsClaimsToNobody) {
  const auto two = open();
  const std::string approval = grant("r");
  EXPECT_EQ(claim(*one_, {.claim = "k", .approval = approval, .request = "r"}), "claimed");
  const Claim lost = claim_;
  clock_.advance(kLease - 1s);
  EXPECT_EQ(claim(*two, {.claim = "k"}), "running");
  clock_.advance(2s);
  EXPECT_EQ(desk_->claims(false)->front().state, "unknown");
  EXPECT_EQ(claim(*two, {.claim = "k"}), "unknown");
  EXPECT_EQ(approval_state("r"), "consumed by this");
  // It wakes up: what it had claimed it may not start.
  EXPECT_TRUE(one_->renew());
  EXPECT_EQ(one_->start(lost).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(claim(*two, {.claim = "k"}), "unknown");
}

// REQ-LG-006
TEST_P(LedgerTest, ALateEndIsStillTheTruth) {
  const auto two = open();
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "claimed");
  const Claim slow = claim_;
  EXPECT_TRUE(one_->start(slow));
  clock_.advance(kLease + 1s);
  EXPECT_EQ(claim(*two, {.claim = "k"}), "unknown");
  one_->finish(slow, Outcome::kSucceeded);
  EXPECT_EQ(claim(*two, {.claim = "k"}), "succeeded");
}

// REQ-LG-007
TEST_P(LedgerTest, OnlyWhatMayBeRepeatedIsRepeated) {
  const auto two = open();
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "claimed");
  const Claim slow = claim_;
  EXPECT_TRUE(one_->start(slow));
  clock_.advance(kLease + 1s);
  EXPECT_EQ(claim(*two, {.claim = "k", .is_repeatable = true}), "claimed");
  EXPECT_EQ(claim_.attempt, 2);
  EXPECT_TRUE(claim_.was_unknown);
  // The first attempt's end says nothing of the second.
  one_->finish(slow, Outcome::kFailed);
  EXPECT_EQ(claim(*one_, {.claim = "k", .is_repeatable = true}), "running");
  EXPECT_TRUE(two->start(claim_));
  two->finish(claim_, Outcome::kSucceeded);
  EXPECT_EQ(claim(*one_, {.claim = "k", .is_repeatable = true}), "succeeded");
}

// REQ-LG-008
TEST_P(LedgerTest, APersonSettlesWhatNobodyKnows) {
  EXPECT_EQ(desk_->resolve({"k", Settlement::kNotRun, "carol", "why"}).error().code,
            ErrorCode::kNotFound);
  for (const char* key : {"k1", "k2", "k3"}) {
    EXPECT_EQ(claim(*one_, {.claim = key}), "claimed");
    EXPECT_TRUE(one_->start(claim_));
    EXPECT_EQ(desk_->resolve({key, Settlement::kNotRun, "carol", "why"}).error().code,
              ErrorCode::kFailedPrecondition)
        << "it is under way";
    one_->finish(claim_, Outcome::kUnknown);
  }
  const Claim third = claim_;
  EXPECT_EQ(desk_->resolve({"k1", Settlement::kSucceeded, "", "why"}).error().code,
            ErrorCode::kInvalidInput);
  EXPECT_TRUE(desk_->resolve({"k1", Settlement::kSucceeded, "carol", "saw it"}));
  EXPECT_TRUE(desk_->resolve({"k2", Settlement::kFailed, "carol", "saw it"}));
  EXPECT_TRUE(desk_->resolve({"k3", Settlement::kNotRun, "carol", "asked the server"}));
  EXPECT_EQ(desk_->resolve({"k1", Settlement::kFailed, "carol", "no"}).error().code,
            ErrorCode::kFailedPrecondition);
  EXPECT_EQ(claim(*one_, {.claim = "k1"}), "succeeded");
  EXPECT_EQ(claim(*one_, {.claim = "k2"}), "failed");
  const auto entries = desk_->claims(true).value();
  ASSERT_EQ(entries.size(), 3U);
  for (const ClaimEntry& entry : entries) EXPECT_EQ(entry.settled_by, "carol") << entry.claim;
  EXPECT_EQ(desk_->claims(false)->size(), 0U);
  // A person's word stands against a late end, and a key that did not run may be used again.
  one_->finish(third, Outcome::kSucceeded);
  EXPECT_EQ(claim(*one_, {.claim = "k3"}), "claimed");
  EXPECT_EQ(claim_.attempt, 2);
  one_->release(claim_);
  EXPECT_EQ(claim(*one_, {.claim = "k3"}), "claimed") << "it is as the person left it";
  EXPECT_EQ(claim_.attempt, 3);
}

// REQ-LG-001, REQ-LG-010
TEST_P(LedgerTest, OfManyThreadsOneWins) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 6;
  std::vector<std::unique_ptr<DatabaseLedger>> nodes;
  for (int i = 0; i < 3; ++i) nodes.push_back(open());
  for (int round = 0; round < kRounds; ++round) {
    // With one key, with one approval, and, so that the count can be seen to count, with neither.
    const int kind = round % 3;
    const std::string request = "r" + std::to_string(round);
    const std::string approval = grant(request);
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const std::string own = request + "-" + std::to_string(i);
        const std::string key = kind == 0 ? request : own;
        ClaimQuery query{.claim = key, .call = "call", .tool = "t", .invocation = own};
        if (kind == 1) {
          query.approval = approval;
          query.request = request;
        }
        const auto outcome = nodes[static_cast<std::size_t>(i) % nodes.size()]->claim(query);
        EXPECT_TRUE(outcome) << outcome.error().to_string();
        if (outcome && outcome->verdict == ClaimVerdict::kClaimed) ++won;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(won, kind == 2 ? kThreads : 1) << "round " << round;
  }
}

// REQ-LG-020
TEST_P(LedgerTest, OneLedgerHasOneDigestKeyAndOneVersion) {
  EXPECT_EQ(try_open("another key").error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(try_open());
  const std::string newer = "update ledger_meta set version = 2";
  if (location_.kind == Location::Kind::kSqlite) {
    folder_.run("state.db", {newer});
  } else {
    const auto database = database::PostgresDatabase::open(location_.text, clock_).value();
    ASSERT_TRUE(database->run(newer, {}, {.deadline = clock_.monotonic_now() + 10s}));
  }
  const auto refused = try_open();
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos);
}

// REQ-LG-021
TEST_P(LedgerTest, IsMadeByABoundaryAndByNobodyElse) {
  Location nowhere = location_;
  nowhere.text =
      location_.kind == Location::Kind::kSqlite ? folder_.path("other.db") : server()->new_schema();
  EXPECT_EQ(Desk::open(nowhere, clock_, random_).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("other.db")));
  // Several that begin at once agree on one ledger.
  std::vector<std::thread> threads;
  std::atomic<int> claimed{0};
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      auto opened = DatabaseLedger::open({.location = nowhere,
                                          .key_check = "key",
                                          .lease = kLease,
                                          .renews_by_itself = i % 2 == 0},
                                         clock_, random_);
      ASSERT_TRUE(opened) << opened.error().to_string();
      const std::string invocation = std::to_string(i);
      const auto outcome =
          (*opened)->claim({.claim = "k", .call = "c", .tool = "t", .invocation = invocation});
      ASSERT_TRUE(outcome) << outcome.error().to_string();
      if (outcome->verdict == ClaimVerdict::kClaimed) ++claimed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(claimed, 1);
}

// REQ-LG-022
TEST_P(LedgerTest, AnOwnerThatEndsInOrderLeavesNothingBehind) {
  auto two = open();
  EXPECT_EQ(claim(*two, {.claim = "k"}), "claimed");
  two.reset();
  EXPECT_EQ(claim(*one_, {.claim = "k"}), "running") << "its lease runs out like any other";
  auto three = try_open("key", true).value();
  EXPECT_EQ(claim(*three, {.claim = "k3"}), "claimed");
  EXPECT_TRUE(three->start(claim_));
  three->finish(claim_, Outcome::kSucceeded);
  three.reset();
  EXPECT_EQ(claim(*one_, {.claim = "k3"}), "succeeded");
}

INSTANTIATE_TEST_SUITE_P(Databases, LedgerTest,
                         ::testing::Values(Location::Kind::kSqlite, Location::Kind::kPostgres),
                         [](const auto& kind) {
                           return kind.param == Location::Kind::kSqlite ? "Sqlite" : "Postgres";
                         });

class LostLedgerTest : public ::testing::Test {
 protected:
  std::unique_ptr<DatabaseLedger> open(const Location& location, bool renews_by_itself = false) {
    return DatabaseLedger::open({.location = location,
                                 .key_check = "key",
                                 .lease = kLease,
                                 .renews_by_itself = renews_by_itself},
                                clock_, random_)
        .value();
  }
  static ClaimQuery query(std::string_view key) {
    return {.claim = key, .call = "call", .tool = "t", .invocation = key};
  }
  /// Everything that a call asks for is refused, and each in its own words.
  static std::string answers(Ledger& ledger) {
    const auto found = ledger.find_approval({.request = "r", .scope = "s", .claim = "k"});
    const auto claimed = ledger.claim(query("fresh"));
    const Status started = ledger.start({.claim = "k", .invocation = "k"});
    const auto word = [](const auto& result) {
      return result ? std::string("ok") : std::string(error_code_name(result.error().code));
    };
    return word(found) + " " + word(claimed) + " " + word(started);
  }

  TestFolder folder_;
  TestClock clock_;
  SystemRandom random_;
};

// REQ-LG-030
TEST_F(LostLedgerTest, AFileThatIsDeletedIsNotMadeAnew) {
  const Location location{Location::Kind::kSqlite, folder_.path("state.db")};
  const auto ledger = open(location);
  ASSERT_TRUE(ledger->claim(query("k")));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(location.text + suffix);
  }
  EXPECT_EQ(answers(*ledger), "unavailable unavailable unavailable");
  EXPECT_FALSE(std::filesystem::exists(location.text));
  // Another memory in its place is not taken for it.
  const auto other = open(location);
  EXPECT_EQ(answers(*ledger), "unavailable unavailable failed_precondition");
  EXPECT_EQ(other->claim(query("k"))->verdict, ClaimVerdict::kClaimed);
}

// REQ-LG-030
TEST_F(LostLedgerTest, AFileThatIsLockedIsWaitedForUntilTheDeadline) {
  const Location location{Location::Kind::kSqlite, folder_.path("state.db")};
  const auto ledger = open(location);
  database::SqliteDatabase other(location.text, database::Access::kReadWriteExisting, clock_);
  const Status held =
      other.transact(clock_.monotonic_now() + 30s, [&](database::Transaction&) -> Status {
        EXPECT_EQ(answers(*ledger), "ok deadline_exceeded deadline_exceeded");
        return {};
      });
  EXPECT_TRUE(held);
  EXPECT_EQ(ledger->unwritten(), 0U) << "what was never begun is not in doubt";
  EXPECT_EQ(ledger->claim(query("fresh"))->verdict, ClaimVerdict::kClaimed);
}

// REQ-LG-031: until it is given back the key is not said to be running by another.
TEST_F(LostLedgerTest, WhatCouldNotBeGivenBackIsNotAnotherAttempt) {
  const Location location{Location::Kind::kSqlite, folder_.path("state.db")};
  const auto ledger = open(location);
  const Claim claimed = ledger->claim(query("k"))->claim;
  database::SqliteDatabase other(location.text, database::Access::kReadWriteExisting, clock_);
  EXPECT_TRUE(other.transact(clock_.monotonic_now() + 30s, [&](database::Transaction&) -> Status {
    ledger->release(claimed);
    return {};
  }));
  EXPECT_EQ(ledger->unwritten(), 1U);
  const auto again = ledger->claim(query("k"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(ledger->renew());
  EXPECT_EQ(ledger->unwritten(), 0U);
  EXPECT_EQ(ledger->claim(query("k"))->verdict, ClaimVerdict::kClaimed);
}

// REQ-LG-030
TEST_F(LostLedgerTest, AFileThatIsDamagedIsRefused) {
  const Location location{Location::Kind::kSqlite, folder_.path("state.db")};
  {
    const auto ledger = open(location);
  }
  std::ofstream(location.text, std::ios::binary | std::ios::in | std::ios::out)
      << std::string(4096, 'x');
  const auto damaged = DatabaseLedger::open({.location = location}, clock_, random_);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kDataLoss) << damaged.error().to_string();
}

// REQ-LG-031
TEST_F(LostLedgerTest, WhatCouldNotBeWrittenIsWrittenWhenTheServerIsBack) {
  const auto own = PostgresServer::start();
  if (own == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  const Location location{Location::Kind::kPostgres, own->new_schema()};
  const auto ledger = open(location, true);
  const Claim finished = ledger->claim(query("finished"))->claim;
  ASSERT_TRUE(ledger->start(finished));
  const Claim released = ledger->claim(query("released"))->claim;
  own->kill();
  EXPECT_EQ(answers(*ledger), "unavailable unavailable unavailable");
  ledger->finish(finished, Outcome::kSucceeded);
  ledger->release(released);
  EXPECT_EQ(ledger->unwritten(), 2U);
  own->restart();
  for (int i = 0; i < 2000 && ledger->unwritten() > 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(ledger->unwritten(), 0U);
  EXPECT_EQ(ledger->claim(query("finished"))->verdict, ClaimVerdict::kSucceeded);
  EXPECT_EQ(ledger->claim(query("released"))->verdict, ClaimVerdict::kClaimed);
  EXPECT_EQ(ledger->claim(query("fresh"))->verdict, ClaimVerdict::kClaimed);
}

// REQ-LG-031: the server takes longer for a commit than the claim may take, and commits after all.
TEST_F(LostLedgerTest, ACommitThatIsSeenLateIsUndoneAllTheSame) {
  if (server() == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  const Location location{Location::Kind::kPostgres, server()->new_schema()};
  const auto ledger = open(location);
  auto other = database::PostgresDatabase::open(location.text, clock_).value();
  const auto run = [&](const char* statement) {
    const auto done =
        other->run(statement, {}, {.deadline = clock_.monotonic_now() + 60s, .max_rows = 1});
    EXPECT_TRUE(done) << done.error().to_string();
    return done ? done->rows.size() : 0;
  };
  // The gate is the test's to open: until it does, the commit waits, whoever cancels it.
  run("create table gate(n bigint)");
  run("create function wait() returns trigger language plpgsql as $$ begin "
      "for i in 1..60000 loop begin if exists (select 1 from gate) then return null; end if; "
      "perform pg_sleep(0.01); exception when query_canceled then null; end; end loop; "
      "return null; end $$");
  run("create constraint trigger waits after insert on ledger_claims deferrable initially deferred "
      "for each row execute function wait()");
  const auto late = ledger->claim(query("k"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(ledger->renew());
  EXPECT_EQ(ledger->unwritten(), 1U) << "nothing is to be seen, and it may come";
  run("insert into gate values(1)");
  while (run("select 1 from ledger_claims where claim_key = 'k'") == 0) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(ledger->renew());
  EXPECT_EQ(ledger->unwritten(), 0U);
  EXPECT_EQ(run("select 1 from ledger_claims where claim_key = 'k'"), 0U);
  EXPECT_EQ(ledger->claim(query("k"))->verdict, ClaimVerdict::kClaimed);
}

}  // namespace
}  // namespace remit::ledger
