// The streaming grader against its naive twin (REQ-GR-090), exhaustively over all small traces.
#include <gtest/gtest.h>

#include <cstdio>

#include "comparison.h"

namespace remit::twin {
namespace {

using Forms = std::vector<std::string_view>;

Forms core_forms() {
  return {kCore.begin(), kCore.end()};
}

Forms most_forms() {
  Forms out = core_forms();
  out.insert(out.end(), kFurther.begin(), kFurther.end());
  return out;
}

Forms all_forms() {
  Forms out = most_forms();
  out.insert(out.end(), kRare.begin(), kRare.end());
  return out;
}

// All sequences of `forms` up to `length`, each as one input, under `criteria_each` of all criteria
// in turn.
void exhaust(const Forms& forms, std::size_t length, std::size_t criteria_each) {
  const std::vector<NamedCriteria>& all = all_criteria();
  std::vector<std::size_t> chosen;
  std::size_t traces = 0;
  int disagreements = 0;
  while (true) {
    std::string bytes;
    for (const std::size_t form : chosen) bytes += line_of(forms[form], "i1");
    for (std::size_t k = 0; k < criteria_each; ++k) {
      const NamedCriteria& under = all[(traces + k) % all.size()];
      if (!agree({{"trace", bytes}}, under) && ++disagreements == 5) return;
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

std::size_t every() {
  return all_criteria().size();
}

TEST(GradingTwin, AgreesOnAllShortTracesOfTheCoreEvents) {
  exhaust(core_forms(), is_nightly() ? 5 : 4, every());
}

TEST(GradingTwin, AgreesOnAllTracesOfMostFormsUpToThreeLines) {
  exhaust(most_forms(), 3, is_nightly() ? every() : 1);
}

TEST(GradingTwin, AgreesOnAllTracesOfAllFormsUpToTwoLines) {
  exhaust(all_forms(), is_nightly() ? 3 : 2, is_nightly() ? 2 : every());
}

// A comparison that could not fail would prove nothing: a grade of another trace must be seen as
// different, and so must a finding that is made once instead of twice.
TEST(GradingTwin, SeesADifference) {
  const std::string denied = line_of(kCore[0], "i1") + line_of(kCore[2], "i1");
  const std::string started = denied + line_of(kCore[3], "i1");
  const std::string started_twice = started + line_of(kCore[3], "i1");
  const Judgement naive = naive_judgement({{"t", started}}, {});
  EXPECT_NE(naive, reduced(streamed({{"t", denied}}, {})));
  EXPECT_NE(naive, reduced(streamed({{"t", started_twice}}, {})));
  EXPECT_EQ(naive, reduced(streamed({{"t", started}}, {})));
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
