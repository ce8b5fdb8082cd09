// The naive twin of the grader: the whole trace in memory, one plain function per rule of
// spec/grades.md.
//
// It shares the decoder, the names of codes and the manifest's structs with the streaming grader
// and none of its judgement. It is slow on purpose: every rule searches the trace for what it
// needs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "grading/grading.h"

namespace remit::twin {

/// One input: its name and its bytes (JSON Lines).
struct NaiveInput {
  std::string name;
  std::string bytes;
};

/// A grade reduced to what both graders must agree on. Each finding is one text of code,
/// invocation, case, verdict, owner, value and consequence, as often as it was found; each value
/// one text of scope, verdict, value and population.
struct Judgement {
  std::multiset<std::string> findings;
  std::set<std::string> values;
  std::string population;
  friend bool operator==(const Judgement&, const Judgement&) = default;
};

/// The naive grader's judgement.
Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const grading::Criteria& criteria);

/// The streaming grader's grade in the same form. It was made with `list_all`.
Judgement reduced(const grading::Grade& grade);

/// What one has and the other lacks, for people.
std::string difference(const Judgement& naive, const Judgement& streaming);

}  // namespace remit::twin
