// The named invariants hold in every life of the boundary, and the judge would see if they did not.
#include "tests/simulation/simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/nightly.h"
#include "tests/support/test_folder.h"

namespace remit::simulation {
namespace {

/// A life with a ledger of its own, which is gone afterwards.
Life life(const testing::TestFolder& folder, std::uint64_t seed, Twist twist = Twist::kNone) {
  const std::string state = folder.path("state.db");
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(state + suffix);
  }
  return live(seed, twist, state);
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// A sanitizer makes each life ten times as long.
std::uint64_t usual_lives() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 100;
#else
  return testing::is_nightly() ? 100'000 : 1'000;
#endif
}

class SimulationTest : public ::testing::Test {
 protected:
  const testing::TestFolder folder_;
};

// REQ-BD-001, REQ-BD-060 to 062; ARCHITECTURE, "Invariants".
TEST_F(SimulationTest, InvariantsHoldInEveryLife) {
  const std::uint64_t lives = number_from("REMIT_SIMULATION_LIVES", usual_lives());
  const std::uint64_t first = number_from("REMIT_SIMULATION_SEED", 1);
  std::map<std::string, std::uint64_t> counts;
  int told = 0;
  for (std::uint64_t seed = first; seed < first + lives && told < 10; ++seed) {
    const Life one = life(folder_, seed);
    for (const auto& [what, count] : one.counts) counts[what] += count;
    if (one.violations.empty()) continue;
    ++told;
    ADD_FAILURE() << one.violations.front() << "\n  to see it again: REMIT_SIMULATION_SEED=" << seed
                  << " REMIT_SIMULATION_LIVES=1";
  }
  std::printf("%llu lives from seed %llu\n", static_cast<unsigned long long>(lives),
              static_cast<unsigned long long>(first));
  for (const auto& [what, count] : counts) {
    std::printf("  %s: %llu\n", what.c_str(), static_cast<unsigned long long>(count));
  }
  if (lives < 1'000) return;
  // It means little unless all of this does happen.
  for (const char* what : {"effects", "deaths", "restarts", "meanwhile", "publications", "faults",
                           "approvals", "clock steps", "permits", "spent", "not entered",
                           "repetitions", "execution passed", "execution undetermined"}) {
    EXPECT_GT(counts[what], 0U) << what;
  }
  for (const char* reason : {"invalid_request",      "unknown_route",       "missing_identity",
                             "invalid_identity",     "expired_identity",    "unknown_tool",
                             "missing_scope",        "invalid_arguments",   "resource_not_found",
                             "resolver_unavailable", "tenant_mismatch",     "approval_required",
                             "stale_approval",       "forbidden",           "not_permitted",
                             "policy_error",         "policy_unavailable",  "duplicate_invocation",
                             "outcome_unknown",      "evidence_unavailable"}) {
    EXPECT_GT(counts[std::string("denied ") + reason], 0U) << reason;
  }
}

TEST_F(SimulationTest, EqualSeedsLiveAlike) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(life(folder_, seed).counts, life(folder_, seed).counts) << seed;
  }
}

TEST_F(SimulationTest, TheJudgeSeesWhatIsPlanted) {
  const std::map<std::string, Twist> planted = {
      {"a forgetful log", Twist::kForgetfulLog},   {"a forgetful ledger", Twist::kForgetfulLedger},
      {"a trusting store", Twist::kTrustingStore}, {"an old policy", Twist::kOldPolicy},
      {"a side door", Twist::kSideDoor},           {"a mute ledger", Twist::kMuteLedger}};
  for (const auto& [what, twist] : planted) {
    std::uint64_t seed = 1;
    while (seed < 400 && life(folder_, seed, twist).violations.empty()) ++seed;
    EXPECT_LT(seed, 400U) << what << " was not noticed";
  }
}

}  // namespace
}  // namespace remit::simulation
