// Reasons, decisions and principals: values that cannot be wrong.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <type_traits>

#include "access/decision.h"
#include "access/principal.h"
#include "access/proposed_call.h"
#include "access/reason.h"

namespace remit::access {
namespace {

TEST(Reason, EveryNameGoesThereAndBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<ReasonCode>(i);
    EXPECT_EQ(parse_reason(reason_name(reason)), reason);
    EXPECT_TRUE(names.insert(reason_name(reason)).second) << reason_name(reason);
  }
  for (const char* name : {"", "Allowed", "allowed ", "allow", "not_a_reason", "policy_errors"}) {
    EXPECT_EQ(parse_reason(name), std::nullopt) << name;
  }
}

// The reasons that the specification's first table lists, in its order.
std::vector<std::string> reasons_of_the_spec() {
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  std::ifstream spec(std::string(source == nullptr ? "." : source) + "/spec/reasons.md");
  std::vector<std::string> names;
  for (std::string line; std::getline(spec, line);) {
    if (line.rfind("| `", 0) == 0) {
      names.push_back(line.substr(3, line.find('`', 3) - 3));
    } else if (!names.empty()) {
      break;
    }
  }
  return names;
}

// The list is closed: neither side has a reason that the other lacks, and the order in which
// determining forbids are ranked is the table's.
TEST(Reason, TheListIsThatOfTheSpecification) {
  const std::vector<std::string> spec = reasons_of_the_spec();
  ASSERT_EQ(spec.size(), static_cast<std::size_t>(kReasonCount));
  int last_policy_reason = -1;
  for (const std::string& name : spec) {
    const std::optional<ReasonCode> reason = parse_reason(name);
    ASSERT_TRUE(reason) << name;
    if (!is_policy_reason(*reason)) continue;
    EXPECT_GT(static_cast<int>(*reason), last_policy_reason) << name;
    last_policy_reason = static_cast<int>(*reason);
  }
}

TEST(Reason, PoliciesMayGiveFourOfThem) {
  std::set<std::string_view> given;
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<ReasonCode>(i);
    if (is_policy_reason(reason)) given.insert(reason_name(reason));
  }
  EXPECT_EQ(given, (std::set<std::string_view>{"tenant_mismatch", "approval_required",
                                               "stale_approval", "forbidden"}));
}

TEST(Decision, StartsAsADeny) {
  const Decision decision;
  EXPECT_FALSE(decision.allowed());
  EXPECT_EQ(decision.reason(), ReasonCode::kPolicyError);
  EXPECT_EQ(ReasonCode{}, ReasonCode::kPolicyError);
}

TEST(Decision, AnAllowNeedsAPermit) {
  EXPECT_FALSE(Decision::allow({}).allowed());
  EXPECT_EQ(Decision::allow({}).reason(), ReasonCode::kPolicyError);
  const Decision decision = Decision::allow({"read-own-tenant"});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.reason(), ReasonCode::kAllowed);
  EXPECT_EQ(decision.determining_policies(), std::vector<std::string>{"read-own-tenant"});
}

TEST(Decision, ADenyIsNeverAnAllow) {
  for (int i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<ReasonCode>(i);
    const Decision decision = Decision::deny(reason, {"p"}, "detail");
    EXPECT_FALSE(decision.allowed()) << reason_name(reason);
    EXPECT_EQ(decision.reason(),
              reason == ReasonCode::kAllowed ? ReasonCode::kPolicyError : reason);
    EXPECT_EQ(decision.detail(), "detail");
  }
}

// No other way leads to an allow: there is no constructor from a reason and no setter.
static_assert(!std::is_constructible_v<Decision, ReasonCode>);
static_assert(!std::is_constructible_v<Decision, bool>);
static_assert(!std::is_aggregate_v<Decision>);

TEST(Principal, StatesGoThereAndBack) {
  for (const char* name : {"missing", "invalid", "expired", "authenticated"}) {
    const std::optional<PrincipalState> state = parse_principal_state(name);
    ASSERT_TRUE(state) << name;
    EXPECT_EQ(principal_state_name(*state), name);
  }
  EXPECT_EQ(parse_principal_state("Authenticated"), std::nullopt);
  EXPECT_EQ(parse_principal_state(""), std::nullopt);
  EXPECT_EQ(PrincipalState{}, PrincipalState::kMissing);
}

TEST(Principal, HoldsItsScopesExactly) {
  Principal principal;
  EXPECT_FALSE(principal.holds(""));
  principal.scopes = {"invoice:read", "refund:create"};
  EXPECT_TRUE(principal.holds("invoice:read"));
  EXPECT_TRUE(principal.holds("refund:create"));
  for (const char* scope : {"", "invoice", "invoice:read ", "Invoice:read", "invoice:*", "*"}) {
    EXPECT_FALSE(principal.holds(scope)) << scope;
  }
}

TEST(Credential, KindsStayApart) {
  EXPECT_EQ(Credential().kind(), Credential::Kind::kNone);
  EXPECT_EQ(Credential::local().kind(), Credential::Kind::kLocal);
  EXPECT_EQ(Credential::bearer("").kind(), Credential::Kind::kBearer);
  EXPECT_EQ(Credential::bearer("s").secret(), "s");
}

}  // namespace
}  // namespace remit::access
