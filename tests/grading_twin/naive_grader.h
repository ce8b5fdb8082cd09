// The naive twin of the grader: the whole trace in memory, one plain function per rule of
// spec/grades.md.
//
// It shares the decoder, the names of codes and the manifest's structs with the streaming grader
// and none of its judgement; contracts it merges by itself. It is slow on purpose: every rule
// searches the trace for what it needs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "grading/grading.h"
#include "naive_contract.h"

namespace remit::twin {

/// One input: its name and its bytes (JSON Lines).
struct NaiveInput {
  std::string name;
  std::string bytes;
};

/// What both graders judge by. The streaming grader's contract is `contract` as a file that it
/// parsed, its manifest is parsed from `manifest_text`.
struct TwinCriteria {
  std::string name;
  NaiveContract contract;
  std::string manifest_text;
  grading::Criteria criteria;
};

/// A grade reduced to what both graders must agree on, which is all of it. Each finding is one
/// text, as often as it was found; each value one text of scope, verdict, value and population.
struct Judgement {
  std::multiset<std::string> findings;
  std::set<std::string> values;
  std::string population;
  std::vector<std::string> scope;
  friend bool operator==(const Judgement&, const Judgement&) = default;
};

/// The naive grader's judgement.
Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const TwinCriteria& criteria);

/// The streaming grader's grade in the same form. It was made with `list_all`.
Judgement reduced(const grading::Grade& grade);

/// What one has and the other lacks, for people.
std::string difference(const Judgement& naive, const Judgement& streaming);

}  // namespace remit::twin
