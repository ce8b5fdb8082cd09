// Contracts as the naive twin has them: rules as they are written, merged anew for each invocation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grading/codes.h"

namespace remit::twin {

/// How many events of a kind there may be.
struct NaiveBounds {
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most;
  bool equals_start = false;  // the number of starts is meant instead
};

/// What may be said for some tools and routes; what is absent is left as it was.
struct NaiveRule {
  std::optional<std::vector<std::string>> tools, routes;
  std::optional<NaiveBounds> request, decision;
  std::optional<NaiveBounds> start_on_allow, start_on_deny, finish_on_allow, finish_on_deny;
  std::optional<std::set<std::string>> order;  // `request < decision` and so on
  bool is_governed = false;
  std::optional<bool> decision_per_attempt, shadow;
  std::map<std::string, std::set<std::string>> required_fields;  // by name of the event
  std::optional<std::set<std::string>> reasons;
  std::map<grading::Verdict, bool> blocking;
};

struct NaiveContract {
  std::string extends = "sequential";
  std::map<grading::Verdict, bool> blocking;
  std::vector<NaiveRule> rules;
};

/// What holds for one invocation.
struct NaiveRequirements {
  NaiveBounds request, decision, start_on_allow, start_on_deny, finish_on_allow, finish_on_deny;
  std::set<std::string> order;
  bool is_governed = false;
  bool decision_per_attempt = false;
  bool shadow = false;
  std::map<std::string, std::set<std::string>> required_fields;
  std::optional<std::set<std::string>> reasons;
  std::map<grading::Verdict, bool> blocking;
};

/// Those of the contract, before any rule (spec/contract.md, Built in).
NaiveRequirements base_requirements(const NaiveContract& contract);

/// Whether a rule is for an invocation of that tool and route; empty where it records none.
bool is_for(const NaiveRule& rule, const std::string& tool, const std::string& route);

/// Those of an invocation by its tool and route; empty where it records none (REQ-CT-013,
/// REQ-CT-014).
NaiveRequirements requirements(const NaiveContract& contract, const std::string& tool,
                               const std::string& route);

/// Why the contract is refused (REQ-CT-030 to REQ-CT-032, REQ-CT-013, REQ-CT-021, REQ-CT-025);
/// empty if it is not.
std::string refusal(const NaiveContract& contract);

/// The contract as a file. Bounds say `exactly` where they can.
std::string contract_text(const NaiveContract& contract);

}  // namespace remit::twin
