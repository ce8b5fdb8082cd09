// The snapshot in force, and proof that the contract can fail.
#include "decision/decision_point.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "decision/decision_point_contract.h"

namespace remit::decision {
namespace {

/// A decision point that breaks the contract: it decides without looking.
class Careless final : public DecisionPoint {
 public:
  explicit Careless(access::Decision always) : always_(std::move(always)) {}
  Result<access::Decision> decide(const DecisionRequest& /*request*/) const override {
    return always_;
  }
  std::string_view name() const override { return "careless"; }

 private:
  access::Decision always_;
};

class CarelessFactory final : public DecisionPointFactory {
 public:
  explicit CarelessFactory(access::Decision always) : always_(std::move(always)) {}
  DecisionPointOutcome create(const policy::Bundle& /*bundle*/) const override {
    return {std::make_shared<Careless>(always_), {}};
  }

 private:
  access::Decision always_;
};

bool names(const std::vector<std::string>& breaches, std::string_view needle) {
  for (const std::string& breach : breaches) {
    if (breach.find(needle) != std::string::npos) return true;
  }
  return false;
}

TEST(DecisionPointContract, CatchesADecisionPointThatAlwaysAllows) {
  const auto breaches =
      contract_breaches(CarelessFactory(access::Decision::allow({"read-by-scope"})));
  EXPECT_TRUE(names(breaches, "another tenant: gives allowed for tenant_mismatch"));
  EXPECT_FALSE(names(breaches, "a permit allows"));
}

TEST(DecisionPointContract, CatchesADecisionPointThatAlwaysDenies) {
  const auto breaches =
      contract_breaches(CarelessFactory(access::Decision::deny(access::ReasonCode::kPolicyError)));
  EXPECT_TRUE(names(breaches, "a permit allows: gives policy_error for allowed"));
  EXPECT_TRUE(names(breaches, "an evaluation error: names"));
}

std::shared_ptr<const policy::Bundle> bundle(std::string version, std::string digest) {
  auto out = std::make_shared<policy::Bundle>();
  out->version = std::move(version);
  out->digest = std::move(digest);
  return out;
}

std::shared_ptr<const DecisionPoint> point() {
  return std::make_shared<Careless>(access::Decision::deny(access::ReasonCode::kNotPermitted));
}

TEST(CurrentPolicy, IsEmptyUntilPublished) {
  const CurrentPolicy current;
  EXPECT_EQ(current.get(), nullptr);
}

TEST(CurrentPolicy, SwapsWholeAndKeepsTheOldOneAlive) {
  CurrentPolicy current;
  auto first = current.publish(bundle("1", "sha256:a"), point());
  ASSERT_TRUE(first.has_value());
  const std::shared_ptr<const PolicySnapshot> held = current.get();
  auto second = current.publish(bundle("2", "sha256:b"), point());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(held->bundle->version, "1");
  EXPECT_EQ(held->generation, 1U);
  EXPECT_EQ(current.get()->bundle->version, "2");
  EXPECT_EQ(current.get()->generation, 2U);
}

TEST(CurrentPolicy, RefusesTheSameVersionWithAnotherDigest) {
  CurrentPolicy current;
  ASSERT_TRUE(current.publish(bundle("1", "sha256:a"), point()).has_value());
  auto other = current.publish(bundle("1", "sha256:b"), point());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(current.get()->bundle->digest, "sha256:a");
  EXPECT_TRUE(current.publish(bundle("1", "sha256:a"), point()).has_value());
}

TEST(CurrentPolicy, ServesReadersWhileItIsReplaced) {
  CurrentPolicy current;
  ASSERT_TRUE(current.publish(bundle("0", "sha256:0"), point()).has_value());
  std::vector<std::thread> readers;
  std::vector<int> backwards(3, 0);
  for (int& count : backwards) {
    readers.emplace_back([&current, &count] {
      std::uint64_t last = 0;
      for (int i = 0; i < 2000; ++i) {
        const auto snapshot = current.get();
        if (snapshot->generation < last) ++count;
        last = snapshot->generation;
      }
    });
  }
  for (int i = 1; i < 200; ++i) {
    const std::string version = std::to_string(i);
    ASSERT_TRUE(current.publish(bundle(version, "sha256:" + version), point()).has_value());
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(backwards, std::vector<int>(3, 0));
}

}  // namespace
}  // namespace remit::decision
