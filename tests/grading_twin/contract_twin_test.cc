// What is a contract and what is refused, by the parser and by the naive twin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "comparison.h"
#include "random_criteria.h"

namespace remit::twin {
namespace {

// REQ-CT-030 to REQ-CT-032.
TEST(ContractTwin, AgreesOnWhatIsRefused) {
  std::map<std::string, std::size_t> refusals;
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(8000)) {
    if (disagreements == kEnough) break;
    SeededRandom random(seed);
    const NaiveContract contract = careless_contract(random);
    const std::string text = contract_text(contract);
    const grading::ContractParse parsed = grading::parse_contract(text, "contract.yaml");
    const std::string refused = refusal(contract);
    ++refusals[refused];
    if (parsed.errors.empty() == refused.empty()) continue;
    ++disagreements;
    ADD_FAILURE() << "seed " << seed << ": naive says " << (refused.empty() ? "taken" : refused)
                  << "\n"
                  << (parsed.errors.empty() ? "" : parsed.errors.front().to_string()) << "\n"
                  << text;
  }
  EXPECT_GE(refusals.size(), 11U);  // each reason, and none
  for (const auto& [why, count] : refusals) {
    std::printf("%-40s %zu\n", why.empty() ? "taken" : why.c_str(), count);
  }
}

TEST(ContractTwin, RefusesWhatNoNumberMeets) {  // the comparison above can fail
  NaiveContract contract;
  EXPECT_EQ(refusal(contract), "");
  contract.rules.emplace_back().request = NaiveBounds{3, 2, false};
  EXPECT_NE(refusal(contract), "");
}

}  // namespace
}  // namespace remit::twin
