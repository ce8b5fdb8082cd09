// Merging and writing contracts: spec/contract.md.
#include "naive_contract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace remit::twin {
namespace {

using grading::Verdict;

constexpr NaiveBounds kOne = {1, 1, false};
constexpr NaiveBounds kNone = {0, 0, false};
constexpr NaiveBounds kAny = {};
constexpr NaiveBounds kAsStarts = {0, std::nullopt, true};

bool fits(const std::string& pattern, const std::string& name) {
  if (name.empty()) return false;
  if (pattern.back() != '*') return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool contains(const std::optional<std::vector<std::string>>& patterns, const std::string& name) {
  return !patterns || std::any_of(patterns->begin(), patterns->end(),
                                  [&](const auto& pattern) { return fits(pattern, name); });
}

template <class T, class U>
void replace(T& out, const std::optional<U>& value) {
  if (value) out = *value;
}

void apply(const NaiveRule& rule, NaiveRequirements& out) {
  replace(out.request, rule.request);
  replace(out.decision, rule.decision);
  replace(out.start_on_allow, rule.start_on_allow);
  replace(out.start_on_deny, rule.start_on_deny);
  replace(out.finish_on_allow, rule.finish_on_allow);
  replace(out.finish_on_deny, rule.finish_on_deny);
  replace(out.order, rule.order);
  if (rule.is_governed) out.is_governed = true;
  replace(out.decision_per_attempt, rule.decision_per_attempt);
  replace(out.shadow, rule.shadow);
  replace(out.reasons, rule.reasons);
  for (const auto& [event, fields] : rule.required_fields) out.required_fields[event] = fields;
  for (const auto& [verdict, blocks] : rule.blocking) out.blocking[verdict] = blocks;
}

// ---- Writing.

std::string bounds_text(const NaiveBounds& bounds) {
  if (bounds.equals_start) return "{equals: start}";
  if (bounds.at_most == bounds.at_least) return fmt::format("{{exactly: {}}}", bounds.at_least);
  if (!bounds.at_most) return fmt::format("{{at_least: {}}}", bounds.at_least);
  if (bounds.at_least == 0) return fmt::format("{{at_most: {}}}", *bounds.at_most);
  return fmt::format("{{at_least: {}, at_most: {}}}", bounds.at_least, *bounds.at_most);
}

template <class Names>
std::string list_text(const Names& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back('"' + name + '"');
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string blocking_text(const std::map<Verdict, bool>& blocking) {
  std::vector<std::string> out;
  for (const auto& [verdict, blocks] : blocking) {
    out.push_back(fmt::format("{}: {}", grading::verdict_name(verdict), blocks));
  }
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string both_text(const std::optional<NaiveBounds>& on_allow,
                      const std::optional<NaiveBounds>& on_deny) {
  std::vector<std::string> out;
  if (on_allow) out.push_back("on_allow: " + bounds_text(*on_allow));
  if (on_deny) out.push_back("on_deny: " + bounds_text(*on_deny));
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::string match_text(const NaiveRule& rule) {
  std::vector<std::string> out;
  if (rule.tools) out.push_back("tool: " + list_text(*rule.tools));
  if (rule.routes) out.push_back("route: " + list_text(*rule.routes));
  return fmt::format("{{{}}}", fmt::join(out, ", "));
}

std::vector<std::string> keys_of(const NaiveRule& rule) {
  std::vector<std::string> out;
  if (rule.tools || rule.routes) out.push_back("match: " + match_text(rule));
  if (rule.request) out.push_back("request: " + bounds_text(*rule.request));
  if (rule.decision) out.push_back("decision: " + bounds_text(*rule.decision));
  if (rule.start_on_allow || rule.start_on_deny) {
    out.push_back("start: " + both_text(rule.start_on_allow, rule.start_on_deny));
  }
  if (rule.finish_on_allow || rule.finish_on_deny) {
    out.push_back("finish: " + both_text(rule.finish_on_allow, rule.finish_on_deny));
  }
  if (rule.order) out.push_back("order: " + list_text(*rule.order));
  if (rule.is_governed) out.emplace_back("governed: each_start");
  if (rule.decision_per_attempt) {
    out.push_back(fmt::format("decision_per_attempt: {}", *rule.decision_per_attempt));
  }
  std::vector<std::string> fields;
  for (const auto& [event, names] : rule.required_fields) {
    fields.push_back(event + ": " + list_text(names));
  }
  if (!fields.empty()) {
    out.push_back(fmt::format("required_fields: {{{}}}", fmt::join(fields, ", ")));
  }
  if (rule.reasons) out.push_back("reasons: " + list_text(*rule.reasons));
  if (rule.shadow) out.push_back(fmt::format("shadow: {}", *rule.shadow));
  if (!rule.blocking.empty()) out.push_back("blocking: " + blocking_text(rule.blocking));
  return out;
}

// ---- Refusing.

std::vector<std::optional<NaiveBounds>> bounds_of(const NaiveRule& rule) {
  return {rule.request,       rule.decision,        rule.start_on_allow,
          rule.start_on_deny, rule.finish_on_allow, rule.finish_on_deny};
}

/// Of one rule that stands on nothing.
bool is_a_requirement(const NaiveRule& rule) {
  for (const auto& bounds : bounds_of(rule)) {
    if (bounds && (bounds->equals_start || bounds->at_least > 0 || bounds->at_most)) return true;
  }
  for (const auto& [event, fields] : rule.required_fields) {
    if (!fields.empty()) return true;
  }
  return (rule.order && !rule.order->empty()) || rule.is_governed || rule.reasons;
}

std::string fault_of_names(const std::optional<std::vector<std::string>>& names) {
  if (!names) return "";
  if (names->empty()) return "a match names nothing";
  for (const std::string& name : *names) {
    if (name.substr(0, name.size() - 1).find('*') != std::string::npos) return "a * in a name";
  }
  return "";
}

std::string fault_of(const NaiveRule& rule, const NaiveContract& contract) {
  for (const auto& names : {rule.tools, rule.routes}) {
    if (std::string fault = fault_of_names(names); !fault.empty()) return fault;
  }
  NaiveRule bare = rule;
  bare.tools = bare.routes = std::nullopt;
  if (keys_of(bare).empty()) return "a rule requires and changes nothing";
  for (const auto& bounds : bounds_of(rule)) {
    if (bounds && bounds->at_most && bounds->at_least > *bounds->at_most) return "no such number";
  }
  for (const auto& bounds : {rule.start_on_deny, rule.finish_on_deny}) {
    if (bounds && bounds->at_least > 0) return "a denied call is required to run";
  }
  if (rule.reasons && rule.reasons->empty()) return "no reason is listed";
  const bool is_governed = rule.is_governed || contract.extends != "none";
  if (rule.decision_per_attempt.value_or(false) && !is_governed) return "attempts need governing";
  return "";
}

bool takes_all_of(const std::optional<std::vector<std::string>>& later,
                  const std::optional<std::vector<std::string>>& earlier) {
  if (!later || !earlier) return !later;
  return std::all_of(earlier->begin(), earlier->end(), [&](const std::string& name) {
    return std::any_of(later->begin(), later->end(), [&](const std::string& pattern) {
      const bool is_prefix = pattern.back() == '*';
      return pattern == name ||
             (is_prefix && name.starts_with(pattern.substr(0, pattern.size() - 1)));
    });
  });
}

// REQ-CT-031: the later is for all invocations of the earlier and sets all that it sets.
bool leaves_nothing(const NaiveRule& later, const NaiveRule& earlier) {
  if (!takes_all_of(later.tools, earlier.tools) || !takes_all_of(later.routes, earlier.routes)) {
    return false;
  }
  const auto set_bounds = bounds_of(earlier);
  const auto later_bounds = bounds_of(later);
  for (std::size_t i = 0; i < set_bounds.size(); ++i) {
    if (set_bounds[i] && !later_bounds[i]) return false;
  }
  for (const auto& [event, fields] : earlier.required_fields) {
    if (!later.required_fields.contains(event)) return false;
  }
  for (const auto& [verdict, blocks] : earlier.blocking) {
    if (!later.blocking.contains(verdict)) return false;
  }
  return (!earlier.order || later.order) && (!earlier.is_governed || later.is_governed) &&
         (!earlier.decision_per_attempt || later.decision_per_attempt) &&
         (!earlier.reasons || later.reasons) && (!earlier.shadow || later.shadow);
}

}  // namespace

NaiveRequirements base_requirements(const NaiveContract& contract) {
  NaiveRequirements out;
  out.blocking = {{Verdict::kPlanning, false},
                  {Verdict::kEnforcement, true},
                  {Verdict::kExecution, true},
                  {Verdict::kCompleteness, true}};
  for (const auto& [verdict, blocks] : contract.blocking) out.blocking[verdict] = blocks;
  if (contract.extends == "none") return out;
  const bool is_sequential = contract.extends == "sequential";
  out.request = kOne;
  out.decision = is_sequential ? kOne : NaiveBounds{1, std::nullopt, false};
  out.start_on_allow = is_sequential ? kOne : kAny;
  out.start_on_deny = kNone;
  out.finish_on_allow = is_sequential ? kOne : kAsStarts;
  out.finish_on_deny = kNone;
  out.order = {"request < decision", "decision < start", "start < finish"};
  out.is_governed = true;
  out.decision_per_attempt = contract.extends == "queued";
  return out;
}

bool is_for(const NaiveRule& rule, const std::string& tool, const std::string& route) {
  return contains(rule.tools, tool) && contains(rule.routes, route);
}

NaiveRequirements requirements(const NaiveContract& contract, const std::string& tool,
                               const std::string& route) {
  NaiveRequirements out = base_requirements(contract);
  for (const NaiveRule& rule : contract.rules) {
    if (is_for(rule, tool, route)) apply(rule, out);
  }
  return out;
}

std::string refusal(const NaiveContract& contract) {
  for (std::size_t i = 0; i < contract.rules.size(); ++i) {
    const NaiveRule& rule = contract.rules[i];
    if (std::string fault = fault_of(rule, contract); !fault.empty()) return fault;
    for (std::size_t k = i + 1; k < contract.rules.size(); ++k) {
      if (leaves_nothing(contract.rules[k], rule)) return "a rule never has effect";
    }
  }
  const bool requires_something =
      contract.extends != "none" ||
      std::any_of(contract.rules.begin(), contract.rules.end(), is_a_requirement);
  if (!requires_something) return "it cannot be violated";
  bool may_block = false;
  for (const auto& [verdict, blocks] : base_requirements(contract).blocking) may_block |= blocks;
  for (const NaiveRule& rule : contract.rules) {
    for (const auto& [verdict, blocks] : rule.blocking) may_block |= blocks;
  }
  return may_block ? "" : "no verdict blocks";
}

std::string contract_text(const NaiveContract& contract) {
  std::string out = "contract: remit.contract/1\nname: twin\nextends: " + contract.extends + "\n";
  if (!contract.blocking.empty()) out += "blocking: " + blocking_text(contract.blocking) + "\n";
  if (!contract.rules.empty()) out += "rules:\n";
  for (const NaiveRule& rule : contract.rules) {
    out += fmt::format("  - {}\n", fmt::join(keys_of(rule), "\n    "));
  }
  return out;
}

}  // namespace remit::twin
