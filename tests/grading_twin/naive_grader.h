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
#include "naive_redaction.h"

namespace remit::twin {

/// One input: its name and its bytes (JSON Lines).
struct NaiveInput {
  std::string name;
  std::string bytes;
  std::string log = {};            ///< the input of which this is one file; empty for itself
  bool may_be_torn = false;        ///< a last line without its end is a loss (REQ-IN-010)
  bool is_unclosed = false;        ///< it ends a log that goes on, or would (REQ-IN-010)
  bool has_requests_only = false;  ///< it stands for a form that has no room for more (REQ-IN-033)
  std::string translated_from = {};  ///< the file of another form that it stands for, as it is read
};

/// What both graders judge by. The streaming grader's contract is `contract` as a file that it
/// parsed, its manifest is parsed from `manifest_text`.
struct TwinCriteria {
  std::string name;
  NaiveContract contract;
  std::string manifest_text;
  grading::Criteria criteria;
  NaiveRedaction redaction = {};
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
Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const TwinCriteria& criteria,
                          const std::vector<grading::Alteration>& alterations = {});

/// The same, where what redaction sees may be told in several ways that are equally good: then in
/// one of `told`, which holds the place and the words of each that somebody told.
Judgement naive_judgement(const std::vector<NaiveInput>& inputs, const TwinCriteria& criteria,
                          const std::vector<grading::Alteration>& alterations,
                          const std::set<std::string>& told);

/// What a grade tells of redaction.
std::set<std::string> sightings_told(const grading::Grade& grade);

/// The streaming grader's grade in the same form. It was made with `list_all`.
Judgement reduced(const grading::Grade& grade);

/// What one has and the other lacks, for people.
std::string difference(const Judgement& naive, const Judgement& streaming);

}  // namespace remit::twin
