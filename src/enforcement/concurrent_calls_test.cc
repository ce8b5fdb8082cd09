// Many threads on one boundary with the real log, policies changing under them: what the log then
// says must be what happened. Run under ThreadSanitizer as well.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "evidence/file_evidence_log.h"
#include "evidence/verify.h"
#include "tests/support/boundary_world.h"
#include "tests/support/test_folder.h"

namespace remit::enforcement::testing {
namespace {

constexpr int kCallers = 8;
constexpr int kCallsEach = 60;
constexpr int kPublications = 6;

/// Counts what really ran.
class CountingHandler final : public ToolHandler {
 public:
  HandlerResult run(const GrantedCall& call) override {
    const MutexLock lock(mutex_);
    ran_.insert(call.invocation_id());
    ++runs_;
    return {.outcome = HandlerOutcome::kSucceeded};
  }
  std::set<std::string> ran() const {
    const MutexLock lock(mutex_);
    return ran_;
  }
  std::size_t runs() const {
    const MutexLock lock(mutex_);
    return runs_;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> ran_ REMIT_GUARDED_BY(mutex_);
  std::size_t runs_ REMIT_GUARDED_BY(mutex_) = 0;
};

void call_by_turns(EnforcementPoint& boundary, ToolHandler& handler, int caller) {
  const std::vector<access::ProposedCall> calls = {
      World::call("invoice.read", R"({"invoice":"march"})"),
      World::call("invoice.read", R"({"invoice":"foreign"})"),
      World::call("invoice.move", R"({"from":"a","to":"b"})"),
      World::call("unknown", "{}"),
      World::call("server.ping", ""),
  };
  for (int i = 0; i < kCallsEach; ++i) {
    const access::ProposedCall& call = calls[static_cast<std::size_t>(i + caller) % calls.size()];
    if (i % 3 != 0) {
      static_cast<void>(boundary.invoke(call, handler));
      continue;
    }
    AuthorizeOutcome outcome = boundary.authorize(call);
    CallPermit* permit = std::get_if<CallPermit>(&outcome);
    if (permit == nullptr || i % 2 == 0) continue;  // a permit that goes unspent
    static_cast<void>(boundary.spend(std::move(*permit), call.tool, call.arguments_json, handler));
  }
}

/// What a reader of the log can tell, with the rules checked on the way.
struct Story {
  std::set<std::string> started;
  std::set<std::string> finished;
  std::set<std::string> unspent;
  std::map<std::string, std::string> decisions;  // by invocation
  std::string version;                           // in force
  json::Value last;

  void read(const json::Value& event) {
    const std::string name = text_of(event, "event");
    const std::string id = text_of(event, "invocation_id");
    if (name == "policy.published") version = text_of(event, "policy_version");
    if (name == "authorization.decision") {
      EXPECT_EQ(text_of(event, "policy_version"), version);
      EXPECT_TRUE(decisions.emplace(id, text_of(event, "decision")).second);
    }
    if (name == "executor.start") {
      EXPECT_EQ(decisions[id], "allow");
      EXPECT_TRUE(started.insert(id).second);
    }
    if (name == "executor.finish") {
      EXPECT_TRUE(started.count(id));
      EXPECT_TRUE(finished.insert(id).second);
    }
    if (name == "permit.unspent") {
      EXPECT_EQ(decisions[id], "allow");
      EXPECT_TRUE(unspent.insert(id).second);
    }
    last = event;
  }
};

TEST(ConcurrentCalls, TheLogSaysWhatHappened) {
  const remit::testing::TestFolder folder;
  PosixFileSystem files;
  World world;
  CountingHandler handler;
  std::vector<std::shared_ptr<const policy::Bundle>> bundles;
  for (int i = 0; i < kPublications; ++i)
    bundles.push_back(load_test_bundle("v" + std::to_string(i)));

  auto opened = evidence::FileEvidenceLog::open(files, world.clock, world.random,
                                                {.directory = folder.path("evidence")});
  ASSERT_TRUE(opened);
  evidence::FileEvidenceLog& log = **opened;
  {
    decision::CurrentPolicy policy;
    ASSERT_TRUE(policy.publish(bundles[0], world.decision_point));
    std::optional<EnforcementPoint> boundary(std::in_place, world.surroundings(policy, log));
    ASSERT_TRUE(boundary->begin_run({.run_id = "run-1"}));
    {
      std::vector<std::jthread> threads;
      for (int caller = 0; caller < kCallers; ++caller) {
        threads.emplace_back([&, caller] { call_by_turns(*boundary, handler, caller); });
      }
      threads.emplace_back([&] {
        for (int i = 1; i < kPublications; ++i) {
          std::this_thread::yield();
          const auto snapshot =
              policy.publish(bundles[static_cast<std::size_t>(i)], world.decision_point);
          // Sometimes the first call has to say it.
          if (i % 2 == 0) {
            EXPECT_TRUE(boundary->record_publication(**snapshot));
          }
        }
      });
    }
    ASSERT_TRUE(boundary->end_run());
    // One permit outlives its boundary.
    AuthorizeOutcome late = boundary->authorize(World::call("server.ping", ""));
    EXPECT_NE(std::get_if<CallPermit>(&late), nullptr);
    boundary.reset();
  }
  ASSERT_TRUE(log.close());

  const auto report = evidence::verify(files, folder.path("evidence"));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->intact());

  Story story;
  const auto writers = evidence::list_segments(files, folder.path("evidence"));
  ASSERT_TRUE(writers);
  ASSERT_EQ(writers->size(), 1U);
  std::size_t invocations_at_end = 0;
  std::int64_t told = -1;
  for (const std::string& segment : writers->front().segments) {
    std::ifstream lines(segment);
    for (std::string line; std::getline(lines, line);) {
      const json::Value event = json::parse(line).value();
      if (text_of(event, "event") == "run.finished") {
        told = *event.find("invocations")->if_integer();
        invocations_at_end = story.decisions.size();
      }
      story.read(event);
    }
  }
  EXPECT_EQ(story.decisions.size(), std::size_t{kCallers} * kCallsEach + 1);
  EXPECT_EQ(told, static_cast<std::int64_t>(invocations_at_end));
  EXPECT_EQ(story.started, handler.ran());
  EXPECT_EQ(story.started.size(), handler.runs());
  EXPECT_EQ(story.finished, story.started);
  for (const auto& [id, decision] : story.decisions) {
    EXPECT_EQ(decision == "allow", story.started.count(id) + story.unspent.count(id) == 1) << id;
  }
  EXPECT_FALSE(story.started.empty());
  EXPECT_FALSE(story.unspent.empty());
}

}  // namespace
}  // namespace remit::enforcement::testing
