// The ledger between processes: of many, one has its effect, whenever any of them is killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ledger/database_ledger.h"
#include "ledger/desk.h"
#include "process/child.h"
#include "process/lines.h"
#include "tests/support/postgres_server.h"
#include "tests/support/test_folder.h"

namespace remit::ledger {
namespace {

using namespace std::chrono_literals;
using remit::testing::PostgresServer;
using remit::testing::TestFolder;

constexpr auto kPatience = std::chrono::milliseconds{60'000};
constexpr auto kLease = std::chrono::milliseconds{3000};

PostgresServer* server() {
  static const std::unique_ptr<PostgresServer> one = PostgresServer::start();
  return one.get();
}

/// A process of its own that acts on the ledger.
class Actor {
 public:
  Actor(const Location& location, const std::vector<std::string>& words) {
    const char* program = std::getenv("REMIT_LEDGER_ACTOR");
    std::vector<std::string> arguments{
        program == nullptr ? "ledger_actor" : program,
        location.kind == Location::Kind::kSqlite ? "sqlite" : "postgres", location.text,
        std::to_string(kLease.count())};
    arguments.insert(arguments.end(), words.begin(), words.end());
    child_.emplace(process::Child::start(
                       {.arguments = arguments,
                        .environment = process::pick_environment(process::harmless_variables())})
                       .value());
    reader_ = std::make_unique<process::LineReader>(child_->output().get(), 4096);
  }
  void go() { (void)process::write_all(child_->input().get(), "go\n", kPatience); }
  std::string line() {
    const process::LineRead read = reader_->next(kPatience);
    return read.event == process::LineEvent::kLine ? std::string(read.line) : "nothing";
  }
  void kill() {
    ::kill(child_->pid(), SIGKILL);
    EXPECT_TRUE(child_->wait_for(kPatience));
  }
  void wait() { EXPECT_TRUE(child_->wait_for(kPatience)); }

 private:
  std::optional<process::Child> child_;
  std::unique_ptr<process::LineReader> reader_;
};

class LedgerProcessesTest : public ::testing::TestWithParam<Location::Kind> {
 protected:
  void SetUp() override {
    process::ignore_broken_pipes();
    location_.kind = GetParam();
    location_.text = folder_.path("state.db");
    if (GetParam() == Location::Kind::kPostgres) {
      if (server() == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
      location_.text = server()->new_schema();
    }
    ledger_ = DatabaseLedger::open({.location = location_, .key_check = "key", .lease = kLease},
                                   clock_, random_)
                  .value();
    desk_ = Desk::open(location_, clock_, random_).value();
  }
  std::string grant(const std::string& request) {
    EXPECT_TRUE(ledger_->note_request({.request = request,
                                       .scope = "scope",
                                       .principal = "p",
                                       .subject = "alice",
                                       .tenant = "t",
                                       .on_behalf_of = "",
                                       .tool = "tool",
                                       .resources = "",
                                       .arguments = "{}",
                                       .policy_version = "v1"}));
    return desk_->grant({request, "carol", "due", 600s}).value();
  }
  Actor actor(const std::string& key, const std::string& approval, const std::string& request,
              const std::string& stop = "none") const {
    return {location_, {key, approval, request, folder_.path("effects"), stop}};
  }
  [[nodiscard]] int effects() const {
    std::ifstream file(folder_.path("effects"));
    return static_cast<int>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
  }
  std::string claim(const std::string& key) {
    const auto outcome =
        ledger_->claim({.claim = key, .call = "call", .tool = "tool", .invocation = "test"});
    if (!outcome) return outcome.error().to_string();
    switch (outcome->verdict) {
      case ClaimVerdict::kRunning:
        return "running";
      case ClaimVerdict::kUnknown:
        return "unknown";
      case ClaimVerdict::kSucceeded:
        return "succeeded";
      case ClaimVerdict::kClaimed:
        ledger_->release(outcome->claim);
        return "claimed";
      default:
        return "other";
    }
  }
  /// How many of `actors` won, all of them set off at once.
  static int winners(std::vector<Actor>& actors) {
    for (Actor& each : actors) EXPECT_EQ(each.line(), "ready");
    for (Actor& each : actors) each.go();
    int won = 0;
    for (Actor& each : actors) {
      if (each.line() == "claimed") ++won;
    }
    for (Actor& each : actors) each.wait();
    return won;
  }

  TestFolder folder_;
  SystemClock clock_;
  SystemRandom random_;
  Location location_;
  std::unique_ptr<DatabaseLedger> ledger_;
  std::unique_ptr<Desk> desk_;
};

// REQ-LG-001, REQ-LG-010
TEST_P(LedgerProcessesTest, OfManyProcessesOneHasItsEffect) {
  constexpr int kActors = 6;
  const std::string approval = grant("r");
  std::vector<Actor> one_key;
  std::vector<Actor> one_approval;
  std::vector<Actor> nothing_shared;
  for (int i = 0; i < kActors; ++i) {
    one_key.push_back(actor("k", "", ""));
    one_approval.push_back(actor("a" + std::to_string(i), approval, "r"));
    nothing_shared.push_back(actor("n" + std::to_string(i), "", ""));
  }
  EXPECT_EQ(winners(one_key), 1);
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(winners(one_approval), 1);
  EXPECT_EQ(effects(), 2);
  // That the count can count: where nothing is shared each has its effect.
  EXPECT_EQ(winners(nothing_shared), kActors);
  EXPECT_EQ(effects(), 2 + kActors);
}

// REQ-LG-005
TEST_P(LedgerProcessesTest, AKilledOwnerLeavesWhatNobodyKnows) {
  struct Case {
    const char* stop;
    int effects;
    const char* at_once;
    const char* later;
  };
  const Case cases[] = {{"claimed", 0, "running", "unknown"},
                        {"started", 0, "running", "unknown"},
                        {"effect", 1, "running", "unknown"},
                        {"finished", 1, "succeeded", "succeeded"}};
  int before = 0;
  for (const Case& each : cases) {
    const std::string request = std::string("r-") + each.stop;
    const std::string approval = grant(request);
    Actor owner = actor(each.stop, approval, request, each.stop);
    EXPECT_EQ(owner.line(), "ready");
    owner.go();
    EXPECT_EQ(owner.line(), "claimed") << each.stop;
    if (std::string(each.stop) == "finished") {
      EXPECT_EQ(owner.line(), "finished");
    }
    for (int i = 0; i < 3000 && effects() != before + each.effects; ++i) {
      std::this_thread::sleep_for(10ms);
    }
    // An owner that is alive keeps its claim beyond the lease that it had when it claimed.
    if (std::string(each.stop) == "started") std::this_thread::sleep_for(kLease + 300ms);
    EXPECT_EQ(claim(each.stop), each.at_once) << each.stop;
    owner.kill();
    for (int i = 0; i < 3000 && claim(each.stop) == "running"; ++i) {
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(claim(each.stop), each.later) << each.stop;
    before += each.effects;
    EXPECT_EQ(effects(), before);
    EXPECT_EQ(desk_->find(approval)->state, ApprovalState::kConsumed) << each.stop;
    // Nobody else has the effect, by whatever key.
    Actor other = actor(each.stop, "", "");
    EXPECT_EQ(other.line(), "ready");
    other.go();
    EXPECT_EQ(other.line(), each.later);
    other.wait();
    Actor again = actor(std::string(each.stop) + "2", approval, request);
    EXPECT_EQ(again.line(), "ready");
    again.go();
    EXPECT_EQ(again.line(), "approval gone");
    again.wait();
    EXPECT_EQ(effects(), before);
  }
}

INSTANTIATE_TEST_SUITE_P(Databases, LedgerProcessesTest,
                         ::testing::Values(Location::Kind::kSqlite, Location::Kind::kPostgres),
                         [](const auto& kind) {
                           return kind.param == Location::Kind::kSqlite ? "Sqlite" : "Postgres";
                         });

// REQ-LG-030
TEST(LedgerDiskTest, ADiskThatTakesNothingMoreIsADenial) {
  process::ignore_broken_pipes();
  for (const char* disk : {"full", "readonly"}) {
    const TestFolder folder;
    const SystemClock clock;
    SystemRandom random;
    const Location location{Location::Kind::kSqlite, folder.path("state.db")};
    Actor victim(location, {"k", "", "", folder.path("effects"), disk});
    ASSERT_EQ(victim.line(), "ready");
    if (::geteuid() != 0 && std::string(disk) == "readonly") {
      // Without root one's own file can only be taken away from oneself.
      ::chmod(location.text.c_str(), 0400);
    }
    victim.go();
    const std::string said = victim.line();
    EXPECT_NE(said, "claimed") << disk;
    EXPECT_NE(said, "nothing") << disk;
    victim.kill();
    EXPECT_FALSE(std::ifstream(folder.path("effects")).good()) << disk;
    ::chmod(location.text.c_str(), 0600);
    const auto ledger =
        DatabaseLedger::open({.location = location, .key_check = "key"}, clock, random);
    ASSERT_TRUE(ledger) << ledger.error().to_string();
    const auto claimed =
        (*ledger)->claim({.claim = "k", .call = "call", .tool = "tool", .invocation = "i"});
    ASSERT_TRUE(claimed) << claimed.error().to_string();
    EXPECT_EQ(claimed->verdict, ClaimVerdict::kClaimed) << "nothing was half written";
  }
}

}  // namespace
}  // namespace remit::ledger
