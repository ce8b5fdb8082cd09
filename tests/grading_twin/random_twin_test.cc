// The streaming grader against its naive twin on random runs, split and interleaved at will, and
// properties that hold for every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/limits.h"
#include "comparison.h"
#include "families.h"
#include "random_criteria.h"
#include "random_run.h"
#include "report/formats.h"

namespace remit::twin {
namespace {

using grading::Grade;
using grading::Value;

const TwinCriteria& criteria_of(std::uint64_t seed) {
  return common_criteria()[seed % common_criteria().size()];
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

template <class T>
void shuffle(std::vector<T>& items, SeededRandom& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.number(i)]);
  }
}

// Mostly healthy: a line removed, said again in another place, or moved.
std::vector<Planned> spoiled(std::vector<Planned> plan, SeededRandom& random) {
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random.number(plan.size())); };
  const Planned line = plan[random.number(plan.size())];
  const std::uint64_t what = random.number(3);
  if (what != 1) plan.erase(plan.begin() + place());
  if (what != 0 && !plan.empty()) plan.insert(plan.begin() + place(), line);
  return plan;
}

TEST(RandomTwin, AgreesHoweverTheRunIsSplit) {
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(2400)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const auto numbering = static_cast<Numbering>(random.number(3));
    const std::vector<Planned> plan =
        plan_of_forms(random, 5 + random.number(60), 1 + random.number(12));
    const std::vector<std::string> lines = with_accidents(plan, random, numbering);
    if (!agree(dealt_to_files(lines, random), criteria_of(seed))) ++disagreements;
  }
  std::printf("%zu comparisons\n", take_compared());
}

// Runs with facts, attempts, approvals and shadow decisions, under contracts and manifests of any
// kind.
TEST(RandomTwin, AgreesUnderAnyContractAndManifest) {
  int disagreements = 0;
  std::size_t passed = 0;
  for (const std::uint64_t seed : seeds(3000)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const TwinCriteria under = random_criteria(random);
    const auto numbering = static_cast<Numbering>(random.number(3));
    const std::vector<Planned> plan = told_plan(random, 1 + random.number(8), under.manifest_text);
    const std::vector<std::string> lines = with_accidents(plan, random, numbering);
    const std::vector<NaiveInput> files = dealt_to_files(lines, random);
    if (!agree(files, under)) ++disagreements;
    if (is_refused(files)) continue;
    passed += streamed(files, under.criteria).exit_code == 0 ? 1 : 0;
  }
  EXPECT_GT(passed, 0U);
  std::printf("%zu comparisons, of which %zu runs pass\n", take_compared(), passed);
}

// Enough decisions of one invocation for the grader to index them, by facts present or absent.
TEST(RandomTwin, AgreesOnCrowdedInvocations) {
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(600)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const std::size_t writers = 1 + random.number(3);
    const std::size_t choices = 1 + random.number(3);
    std::vector<std::size_t> next(writers, 1);
    std::vector<std::string> lines;
    const std::size_t count = 30 + random.number(60);
    while (lines.size() < count) {
      const std::size_t writer = random.number(writers);
      std::string fields = fmt::format(R"(,"writer":"w{}","seq":{})", writer, next[writer]++);
      for (const char* field : {"resource_type", "resource_id", "args_digest", "decision_id"}) {
        const std::uint64_t choice = random.number(choices + 1);
        if (choice != 0) fields += fmt::format(R"(,"{}":"{}")", field, choice);
      }
      const std::uint64_t kind = random.number(8);
      const std::string_view event = kind == 0  ? "tool.request"
                                     : kind < 5 ? "authorization.decision"
                                     : kind < 7 ? "executor.start"
                                                : "permit.unspent";
      const std::uint64_t word = random.number(choices + 1);
      if (kind > 0 && kind < 5) {
        fields += fmt::format(R"(,"policy_version":"v1","decision":"{}")", word == 0   ? "allow"
                                                                           : word == 1 ? "deny"
                                                                                       : "maybe");
      }
      lines.push_back(fmt::format(R"({{"schema":"remit.event/1","event":"{}","invocation_id":"i1",)"
                                  R"("tool":"{}"{}}})"
                                  "\n",
                                  event, random.number(4) == 0 ? "pay" : "read", fields));
    }
    if (!agree(dealt_to_files(lines, random), criteria_of(seed))) ++disagreements;
  }
  std::printf("%zu comparisons\n", take_compared());
}

TEST(RandomTwin, AgreesOnRepeatsTooLongAgoToCompare) {
  const auto line = [](std::string_view id, std::int64_t seq) {
    return line_of(kCore[0], id, fmt::format(R"(,"writer":"w","seq":{})", seq));
  };
  for (const std::int64_t last : {kRepeatWindow, kRepeatWindow + 1, 3 * kRepeatWindow}) {
    for (const std::string_view id : {"i1", "i2", "i3"}) {
      const std::string bytes = line("i1", 1) + line("i2", last) + line(id, 1);
      for (const TwinCriteria& under : common_criteria()) EXPECT_TRUE(agree({{"t", bytes}}, under));
    }
  }
  EXPECT_TRUE(codes_met().contains("unverified_repeat"));
}

TEST(RandomTwin, AgreesOnAlmostHealthyRuns) {
  int disagreements = 0;
  std::size_t passed = 0;
  for (const std::uint64_t seed : seeds(1500)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    std::vector<Planned> plan = healthy_plan(random, 1 + random.number(6));
    if (random.number(4) != 0) plan = spoiled(std::move(plan), random);
    const std::vector<NaiveInput> files = dealt_to_files(numbered(plan), random);
    if (!agree(files, criteria_of(seed))) ++disagreements;
    passed += streamed(files, {}).exit_code == 0 ? 1 : 0;
  }
  EXPECT_GT(passed, rounds(1500) / 15);
  std::printf("%zu comparisons, of which %zu runs pass\n", take_compared(), passed);
}

TEST(RandomTwin, AgreesOnLargeRuns) {
  for (const std::uint64_t seed : seeds(2)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const auto numbering = seed % 2 == 0 ? Numbering::kSome : Numbering::kAll;
    std::vector<Planned> plan = plan_of_forms(random, 5'000, 1'250);
    const TwinCriteria under = seed % 2 == 0 ? criteria_of(seed) : random_criteria(random);
    const std::vector<Planned> told = told_plan(random, 1'250, under.manifest_text);
    plan.insert(plan.end(), told.begin(), told.end());
    const std::vector<std::string> lines = with_accidents(plan, random, numbering);
    if (!agree(dealt_to_files(lines, random), under)) return;
  }
  std::printf("%zu comparisons of 10000 events\n", take_compared());
}

// *same inputs, same grade, same bytes*: where every line has a writer and a number, no order of
// lines, dealing to files, order of inputs or size of what is read at once is told in the result.
TEST(RandomTwin, GivesTheSameBytesHoweverTheRunIsSplit) {
  std::size_t compared = 0;
  for (const std::uint64_t seed : seeds(400)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const std::size_t invocations = 1 + random.number(8);
    std::vector<Planned> plan = healthy_plan(random, invocations);
    for (std::uint64_t faults = random.number(4); faults > 0; --faults) {
      plan = spoiled(std::move(plan), random);
    }
    for (std::uint64_t more = random.number(6); more > 0; --more) {
      const std::string_view form = kFurther[random.number(kFurther.size() - 1)];
      const std::string id = fmt::format("i{}", 1 + random.number(invocations));
      plan.insert(plan.begin() + static_cast<std::ptrdiff_t>(random.number(plan.size() + 1)),
                  {random.number(2), std::string(form), id});
    }
    std::vector<std::string> lines = numbered(plan);
    if (random.number(2) == 0 && !lines.empty()) lines.push_back(lines[lines.size() / 2]);
    if (random.number(4) == 0 && !lines.empty()) lines.erase(lines.begin());  // a gap
    const grading::Criteria& criteria = criteria_of(seed).criteria;
    const std::string whole =
        report::report_text("json", streamed({{"whole", joined(lines)}}, criteria));
    for (int way = 0; way < 3; ++way) {
      shuffle(lines, random);
      std::vector<NaiveInput> files = dealt_to_files(lines, random);
      shuffle(files, random);
      Way how;
      how.piece_bytes = way == 0 ? 1 : 1 + random.number(300);
      how.memory_bytes = kRooms[random.number(std::size(kRooms))];
      how.packing = static_cast<Packing>(random.number(3));
      how.threads = 1 + static_cast<unsigned>(random.number(3));
      how.hash_seed = random.number(1000);
      EXPECT_EQ(whole, report::report_text("json", streamed(files, criteria, how)))
          << joined(lines);
      ++compared;
    }
  }
  std::printf("%zu comparisons of bytes\n", compared);
}

// How much room there is for invocations is not told either, whether or not all are listed.
TEST(RandomTwin, GivesTheSameBytesInAnyRoom) {
  std::size_t compared = 0;
  for (const std::uint64_t seed : seeds(24)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    std::vector<Planned> plan = healthy_plan(random, 1 + random.number(60));
    if (random.number(2) == 0) plan = spoiled(std::move(plan), random);
    const std::vector<NaiveInput> inputs = {{"t", joined(numbered(plan))}};
    const grading::Criteria& criteria = criteria_of(seed % 3 == 0 ? seed / 3 : 0).criteria;
    for (const Listed listed : {Listed::kAll, Listed::kThoseWithFindings}) {
      const std::string whole =
          report::report_text("json", streamed(inputs, criteria, {.listed = listed}));
      for (std::size_t room = 1; room < 60'000; room = room * 5 / 2 + 7) {
        const Way way{.memory_bytes = room, .listed = listed};
        ASSERT_EQ(whole, report::report_text("json", streamed(inputs, criteria, way))) << room;
        ++compared;
      }
    }
  }
  std::printf("%zu comparisons of rooms\n", compared);
}

TEST(RandomTwin, WouldSeeOtherBytes) {
  const std::string line = line_of(kCore[0], "i1", R"(,"writer":"w","seq":1)");
  const std::string other = line_of(kCore[0], "i1", R"(,"writer":"w","seq":2)");
  EXPECT_NE(report::report_text("json", streamed({{"t", line}}, {})),
            report::report_text("json", streamed({{"t", other}}, {})));
}

// What the generators of this program reach; nothing is compared that never occurs.
TEST(RandomTwin, MeetsEveryCode) {
  for (const std::uint64_t seed : seeds(1200)) {
    SeededRandom random(seed);
    const bool is_told = seed % 2 == 0;
    const TwinCriteria under = is_told ? random_criteria(random) : criteria_of(seed);
    const std::vector<Planned> plan =
        is_told ? told_plan(random, 6, under.manifest_text) : plan_of_forms(random, 40, 6);
    ASSERT_TRUE(
        agree(dealt_to_files(with_accidents(plan, random, Numbering::kAll), random), under));
  }
  for (const grading::CodeInfo& info : grading::code_table()) {
    using grading::Code;
    // What other tests compare, or what takes an evidence directory or a redaction scan.
    const bool is_of_others = info.code == Code::kEvidenceAltered ||
                              info.code == Code::kUnverifiedRepeat ||
                              info.code == Code::kCanaryLeak || info.code == Code::kFieldNotAllowed;
    if (is_of_others) continue;
    const auto met = codes_met().find(info.name);
    const std::size_t findings = met != codes_met().end() ? met->second : 0;
    EXPECT_GT(findings, 0U) << info.name;
    std::printf("%-24s %zu\n", std::string(info.name).c_str(), findings);
  }
}

// ---- Properties (*unknown never passes*).

TEST(NothingUnknownPasses, WithoutAnInvocation) {
  for (const TwinCriteria& under : common_criteria()) {
    for (const std::string_view line :
         {"", "{\"event\":\"run.started\"}\n", "{\"event\":\"run.finished\"}\n",
          "{\"event\":\"x.a\"}\n", "{\"event\":\"policy.published\",\"policy_version\":\"v1\"}\n",
          "{\"event\":\"evidence.lost\"}\n", "{}\n"}) {
      EXPECT_NE(streamed({{"t", std::string(line)}}, under.criteria).exit_code, 0) << line;
    }
  }
}

TEST(NothingUnknownPasses, WithUnknownDecisionsOnly) {
  const std::vector<std::string_view> decisions = {
      R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"maybe","reason":"allowed","policy_version":"v1"#})",
      R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"ALLOW","policy_version":"v1"#})",
      R"({"event":"authorization.decision","invocation_id":"@","tool":"a","reason":"forbidden","policy_version":"v1"#})",
      R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"","policy_version":"v1"#})",
  };
  for (const std::uint64_t seed : seeds(300)) {
    SeededRandom random(seed);
    std::vector<Planned> plan = healthy_plan(random, 1 + random.number(4));
    for (Planned& line : plan) {
      const bool is_decision = line.form.find("authorization.decision") != std::string::npos;
      if (is_decision) line.form = decisions[random.number(decisions.size())];
    }
    const std::string bytes = joined(numbered(plan));
    for (const TwinCriteria& under : common_criteria()) {
      EXPECT_NE(streamed({{"t", bytes}}, under.criteria).exit_code, 0) << bytes;
    }
  }
}

// A run that stops anywhere passes only if what there is of it was earned (`agree` asks that).
TEST(NothingUnknownPasses, WhereARunStops) {
  std::size_t passed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    std::string bytes;
    for (const std::string& line : numbered(healthy_plan(random, 1 + random.number(4)))) {
      bytes += line;
      const Grade grade = streamed({{"t", bytes}}, {});
      if (grade.exit_code != 0) continue;
      ++passed;
      EXPECT_EQ(unearned({{"t", bytes}}), "") << bytes;
      EXPECT_EQ(grade.population.started, grade.population.finished) << bytes;
    }
  }
  EXPECT_GT(passed, 60U);
}

/// Values of the run, of cases and of invocations by what they are of.
std::map<std::string, Value> values_of(const Grade& grade) {
  std::map<std::string, Value> out;
  for (const grading::Verdict verdict : grading::kVerdicts) {
    const std::string name(grading::verdict_name(verdict));
    out["run " + name] = grade.verdicts[verdict].value;
    for (const auto& one : grade.cases) {
      out["case " + one.case_id + " " + name] = one.verdicts[verdict].value;
    }
    for (const auto& one : grade.invocations) {
      out["invocation " + one.invocation_id + " " + name] = one.verdicts[verdict];
    }
  }
  return out;
}

bool is_of_absence(grading::Code code) {
  return grading::code_info(code).absence;
}

// Findings of presence, each as a text.
std::multiset<std::string> presences_of(const Grade& grade) {
  std::multiset<std::string> out;
  for (const grading::Finding& one : grade.findings) {
    if (is_of_absence(one.code) || one.code == grading::Code::kEvidenceLost) continue;
    out.insert(fmt::format("{} {} {}", grading::code_info(one.code).name,
                           one.invocation_id.value_or("-"), grading::value_name(one.value)));
  }
  return out;
}

std::multiset<std::string> absences_of(const Grade& grade) {
  std::multiset<std::string> out;
  for (const grading::Finding& one : grade.findings) {
    if (!is_of_absence(one.code)) continue;
    out.insert(
        fmt::format("{} {}", grading::code_info(one.code).name, one.invocation_id.value_or("-")));
  }
  return out;
}

// REQ-GR-092: an admitted loss leaves every finding of presence as it was, every finding of absence
// in the list (REQ-GR-071 may make it undetermined), and turns no verdict into passed.
TEST(LossNeverHelps, WhereverItIsAppended) {
  for (const std::uint64_t seed : seeds(400)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const grading::Criteria& criteria = criteria_of(seed).criteria;
    std::string bytes;
    if (random.number(2) == 0) {
      const std::vector<Planned> plan = plan_of_forms(random, 5 + random.number(30), 4);
      bytes = joined(with_accidents(plan, random, Numbering::kAll));
    } else {
      bytes = joined(numbered(spoiled(healthy_plan(random, 1 + random.number(4)), random)));
    }
    const std::string lost = fmt::format(
        R"({{"event":"evidence.lost","events":1,"writer":"w{}","seq":{}}})", random.number(2), 500);
    const Grade before = streamed({{"t", bytes}}, criteria);
    const Grade after = streamed({{"t", bytes + lost + "\n"}}, criteria);
    const std::map<std::string, Value> values = values_of(after);
    for (const auto& [what, value] : values_of(before)) {
      EXPECT_TRUE(values.at(what) != Value::kPassed || value == Value::kPassed) << what << bytes;
    }
    std::multiset<std::string> presences = presences_of(after);
    if (const auto gap = presences.find("sequence_gap - undetermined");
        gap != presences.end() && presences.size() == presences_of(before).size() + 1) {
      presences.erase(gap);  // before the number of the new line
    }
    EXPECT_EQ(presences, presences_of(before)) << bytes;
    EXPECT_EQ(absences_of(after), absences_of(before)) << bytes;
    EXPECT_NE(after.exit_code, 0) << bytes;
  }
}

bool is_cited(const Grade& grade, const std::string& writer, std::uint64_t seq) {
  return std::any_of(grade.findings.begin(), grade.findings.end(), [&](const auto& finding) {
    return std::any_of(finding.events.begin(), finding.events.end(), [&](const auto& position) {
      return position.by_sequence && position.source == writer && position.at == seq;
    });
  });
}

// Taking a line out of a numbered log leaves a gap, unless it is the log's last: then the gate
// passes only if a finding cited that very line. (A publication and a spy's end are judged through
// other lines, and these runs have none.)
TEST(TakingALineAway, PassesNothingButWhatThatLineBroke) {
  std::size_t mended = 0;
  for (const std::uint64_t seed : seeds(300)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const std::vector<Planned> plan = spoiled(healthy_plan(random, 1 + random.number(3)), random);
    const std::vector<std::string> lines = numbered(plan);
    const Grade before = streamed({{"t", joined(lines)}}, {});
    if (before.exit_code == 0) continue;
    std::map<std::size_t, std::uint64_t> count;
    for (const Planned& line : plan) ++count[line.writer];
    std::map<std::size_t, std::uint64_t> seq;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t writer = plan[i].writer;
      const bool is_last = ++seq[writer] == count[writer];
      std::vector<std::string> fewer = lines;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const Grade after = streamed({{"t", joined(fewer)}}, {});
      if (after.exit_code != 0) continue;
      ++mended;
      EXPECT_TRUE(is_last) << joined(lines) << lines[i];
      EXPECT_TRUE(is_cited(before, fmt::format("w{}", writer), seq[writer]))
          << joined(lines) << lines[i];
    }
  }
  // Few runs are mended by so little: the fewer of a sanitizer may have none.
  EXPECT_TRUE(mended > 0 || size() == Size::kSanitized);
}

}  // namespace
}  // namespace remit::twin
