// The streaming grader against its naive twin (REQ-GR-090), exhaustively over all small traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "comparison.h"
#include "families.h"

namespace remit::twin {
namespace {

// All sequences of `forms` up to `length`, each as one input, under `criteria_each` of all criteria
// in turn.
void exhaust(const Forms& forms, const std::vector<TwinCriteria>& all, std::size_t length,
             std::size_t criteria_each) {
  std::vector<std::size_t> chosen;
  std::size_t traces = 0;
  int disagreements = 0;
  while (true) {
    std::string bytes;
    for (const std::size_t form : chosen) bytes += line_of(forms[form], "i1");
    for (std::size_t k = 0; k < std::min(criteria_each, all.size()); ++k) {
      const TwinCriteria& under = all[(traces + k) % all.size()];
      if (!agree({{"trace", bytes}}, under) && ++disagreements == kEnough) return;
    }
    ++traces;
    // Counting in base |forms|, with lengths growing.
    std::size_t at = 0;
    while (at < chosen.size() && ++chosen[at] == forms.size()) chosen[at++] = 0;
    if (at == chosen.size()) {
      if (chosen.size() == length) break;
      chosen.assign(chosen.size() + 1, 0);
    }
  }
  std::printf("%zu traces, %zu comparisons\n", traces, take_compared());
}

class AllSmallTraces : public testing::TestWithParam<std::size_t> {};

TEST_P(AllSmallTraces, AreGradedAlike) {
  const Family& family = families()[GetParam()];
  exhaust(family.forms, family.criteria, family.length(), family.criteria_each());
}

INSTANTIATE_TEST_SUITE_P(GradingTwin, AllSmallTraces,
                         testing::Range(std::size_t{0}, std::size_t{8}), [](const auto& family) {
                           return std::string(families()[family.param].name);
                         });

TEST(GradingTwin, HasATestForEachFamily) {
  EXPECT_EQ(families().size(), 8U);
}

// REQ-GR-107: every order of the events of two whole sequences, of one attempt and of two. Events
// of one kind stand in the order of their sequences, since only their requests are told apart.
TEST(GradingTwin, AgreesOnAllOrdersOfTwoSequences) {
  const Forms sequence = {
      R"({"event":"tool.request","invocation_id":"@","tool":"a"#})",
      R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v1"#})",
      R"({"event":"executor.start","invocation_id":"@"#})",
      R"({"event":"executor.finish","invocation_id":"@","outcome":"succeeded"#})",
  };
  NaiveContract contract;
  contract.extends = "fan_out";
  contract.rules.emplace_back().request = NaiveBounds{1, std::nullopt, false};
  const TwinCriteria under = criteria("several requests", contract);
  for (const std::string_view attempt : {R"(,"attempt":1)", R"(,"attempt":2)"}) {
    std::vector<std::size_t> order = {0, 0, 1, 1, 2, 2, 3, 3};
    int disagreements = 0;
    std::size_t orders = 0;
    do {
      if (size() == Size::kSanitized && ++orders % 8 != 0) continue;
      std::string bytes;
      bool is_second = false;
      for (const std::size_t event : order) {
        bytes += line_of(sequence[event], "i1", event == 0 && is_second ? attempt : "");
        is_second = is_second || event == 0;
      }
      if (!agree({{"trace", bytes}}, under) && ++disagreements == kEnough) return;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  std::printf("%zu comparisons\n", take_compared());
}

// A comparison that could not fail would prove nothing: a grade of another trace must be seen as
// different, and so must a finding that is made once instead of twice.
TEST(GradingTwin, SeesADifference) {
  const TwinCriteria under = criteria("nothing", {});
  const std::string denied = line_of(kCore[0], "i1") + line_of(kCore[2], "i1");
  const std::string started = denied + line_of(kCore[3], "i1");
  const std::string started_twice = started + line_of(kCore[3], "i1");
  const Judgement naive = naive_judgement({{"t", started}}, under);
  EXPECT_NE(naive, reduced(streamed({{"t", denied}}, under.criteria)));
  EXPECT_NE(naive, reduced(streamed({{"t", started_twice}}, under.criteria)));
  EXPECT_EQ(naive, reduced(streamed({{"t", started}}, under.criteria)));
}

// Each part of a grade that is compared, changed by itself.
TEST(GradingTwin, SeesEveryChangeOfAGrade) {
  const TwinCriteria under = criteria("task", {},
                                      "manifest: remit.manifest/1\ncases: [{id: c1, kind: task,"
                                      " expect: [{tool: a, decision: allow}]}]\n");
  const std::string bytes =
      line_of(kCore[0], "i1") + line_of(kCore[2], "i1") + line_of(kCore[3], "i1");
  const std::vector<NaiveInput> inputs = {{"t", bytes}};
  const Judgement naive = naive_judgement(inputs, under);
  const grading::Grade grade = streamed(inputs, under.criteria);
  ASSERT_EQ(naive, reduced(grade));
  ASSERT_GE(grade.findings.size(), 2U);
  using grading::Grade;
  const std::vector<void (*)(Grade&)> changes = {
      [](Grade& g) { g.findings.pop_back(); },
      [](Grade& g) { g.findings.push_back(g.findings.front()); },
      [](Grade& g) { g.findings.front().code = grading::Code::kVacuousCase; },
      [](Grade& g) { g.findings.front().invocation_id = "i2"; },
      [](Grade& g) { g.findings.front().case_id = std::nullopt; },
      [](Grade& g) { g.findings.front().verdict = grading::Verdict::kPlanning; },
      [](Grade& g) { g.findings.front().owner = grading::Owner::kAgent; },
      [](Grade& g) { g.findings.front().value = grading::Value::kPassed; },
      [](Grade& g) { g.findings.front().consequence = !g.findings.front().consequence; },
      [](Grade& g) { g.findings.front().expected = "another"; },
      [](Grade& g) { g.findings.front().recorded = std::nullopt; },
      [](Grade& g) { g.findings.front().events.pop_back(); },
      [](Grade& g) { ++g.findings.front().events.front().at; },
      [](Grade& g) { ++g.findings.front().events.front().line; },
      [](Grade& g) { ++g.findings.front().events.front().offset; },
      [](Grade& g) { ++g.findings.front().events.front().bytes; },
      [](Grade& g) { g.findings.front().message += " and more"; },
      [](Grade& g) { g.scope.pop_back(); },
      [](Grade& g) { g.verdicts[grading::Verdict::kPlanning].value = grading::Value::kFailed; },
      [](Grade& g) { ++g.verdicts[grading::Verdict::kExecution].population; },
      [](Grade& g) { g.blocking[grading::Verdict::kPlanning] = true; },
      [](Grade& g) { g.exit_code = 2; },
      [](Grade& g) { g.gate = grading::Gate::kUndetermined; },
      [](Grade& g) { g.cases.front().invocation_ids.clear(); },
      [](Grade& g) {
        g.cases.front().verdicts[grading::Verdict::kPlanning].value = grading::Value::kFailed;
      },
      [](Grade& g) { g.invocations.front().owner = std::nullopt; },
      [](Grade& g) { g.invocations.front().case_id = "c2"; },
      [](Grade& g) { g.invocations.clear(); },
      [](Grade& g) { ++g.population.would_deny; },
      [](Grade& g) { ++g.population.events; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    grading::Grade changed = grade;
    changes[i](changed);
    EXPECT_NE(naive, reduced(changed)) << "change " << i;
  }
}

TEST(GradingTwin, SeesAPassThatWasNotEarned) {
  const std::string allowed =
      line_of(kCore[0], "i1") + line_of(kCore[1], "i1") + line_of(kCore[3], "i1");
  EXPECT_NE(unearned({{"t", allowed}}), "");
  EXPECT_EQ(unearned({{"t", allowed + line_of(kCore[4], "i1")}}), "");
  EXPECT_NE(unearned({{"t", ""}}), "");
}

}  // namespace
}  // namespace remit::twin
