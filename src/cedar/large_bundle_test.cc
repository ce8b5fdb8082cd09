// The largest bundle that is promised, 10,000 policies over 1,000 actions: it loads from its files
// and decides each action by its own policies.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cedar/cedar_decision_point.h"
#include "decision/decision_point_contract.h"
#include "tests/support/large_bundle.h"

namespace remit::cedar {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::path(::testing::TempDir()) / "large_bundle.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string decided(const decision::DecisionPoint& point,
                    const decision::ContractQuestion& question) {
  const Result<access::Decision> decision = point.decide(question.request());
  if (!decision) return decision.error().to_string();
  return fmt::format("{} {} {}", access::reason_name(decision->reason()),
                     fmt::join(decision->determining_policies(), " "), decision->detail());
}

TEST(LargeBundle, LoadsFromItsFilesAndDecidesEachActionByItsOwnPolicies) {
  const Scratch scratch;
  testing::write_large_bundle(scratch.path(), {.actions = 1'000, .policies_per_action = 10});
  PosixFileSystem files;
  const policy::BundleOutcome loaded = policy::load_bundle(files, scratch.path().string());
  ASSERT_NE(loaded.bundle, nullptr) << loaded.problems.front().to_string();
  ASSERT_EQ(loaded.bundle->tools.size(), 1'000U);
  const decision::DecisionPointOutcome made = CedarDecisionPointFactory().create(*loaded.bundle);
  ASSERT_NE(made.decision_point, nullptr) << made.problems.front().to_string();
  EXPECT_TRUE(made.warnings.empty()) << made.warnings.front().to_string();

  decision::ContractQuestion question;
  question.resource.attributes = {{"amount", std::int64_t{120}}};
  for (int action = 0; action < 1'000; ++action) {
    question.action = fmt::format("tool{}", action);
    question.principal.scopes = {fmt::format("tool{}:use3", action)};
    ASSERT_EQ(decided(*made.decision_point, question), fmt::format("allowed p{}-3 ", action));
    // The scope of the action beside it is none here.
    question.principal.scopes = {fmt::format("tool{}:use3", (action + 1) % 1'000)};
    ASSERT_EQ(decided(*made.decision_point, question), "not_permitted  ");
    question.resource.tenant = "bolt";
    ASSERT_EQ(decided(*made.decision_point, question),
              fmt::format("tenant_mismatch p{}-0 ", action));
    question.resource.tenant = "acme";
  }
}

}  // namespace
}  // namespace remit::cedar
