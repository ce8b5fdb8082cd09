// The built-in contracts, and how the rules of a contract come together.
#include "grading/contract.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace remit::grading {
namespace {

bool is_prefix(std::string_view pattern) {
  return !pattern.empty() && pattern.back() == '*';
}

std::string_view prefix_of(std::string_view pattern) {
  return pattern.substr(0, pattern.size() - 1);
}

template <class T>
void set_if_any(T& out, const std::optional<T>& value) {
  if (value) out = *value;
}

}  // namespace

void Changes::apply(Requirements& out) const {
  set_if_any(out.request, request);
  set_if_any(out.decision, decision);
  set_if_any(out.start_on_allow, start_on_allow);
  set_if_any(out.start_on_deny, start_on_deny);
  set_if_any(out.finish_on_allow, finish_on_allow);
  set_if_any(out.finish_on_deny, finish_on_deny);
  set_if_any(out.order, order);
  out.is_governed |= adds_governed;
  set_if_any(out.needs_decision_per_attempt, needs_decision_per_attempt);
  for (const auto& [kind, fields] : required_fields) {
    out.required_fields[static_cast<std::size_t>(kind)] = fields;
  }
  if (reasons) out.reasons = reasons;
  set_if_any(out.expects_shadow, expects_shadow);
  for (const Verdict verdict : kVerdicts) set_if_any(out.blocking[verdict], blocking[verdict]);
}

bool Changes::are_covered_by(const Changes& later) const {
  const auto covered = [](const auto& mine, const auto& theirs) { return !mine || theirs; };
  for (const auto& [kind, fields] : required_fields) {
    if (!later.required_fields.contains(kind)) return false;
  }
  for (const Verdict verdict : kVerdicts) {
    if (!covered(blocking[verdict], later.blocking[verdict])) return false;
  }
  return covered(request, later.request) && covered(decision, later.decision) &&
         covered(start_on_allow, later.start_on_allow) &&
         covered(start_on_deny, later.start_on_deny) &&
         covered(finish_on_allow, later.finish_on_allow) &&
         covered(finish_on_deny, later.finish_on_deny) && covered(order, later.order) &&
         (!adds_governed || later.adds_governed) &&
         covered(needs_decision_per_attempt, later.needs_decision_per_attempt) &&
         covered(reasons, later.reasons) && covered(expects_shadow, later.expects_shadow);
}

Names::Names(std::vector<std::string> patterns) {
  std::vector<std::string> prefixes;
  for (const std::string& pattern : patterns) {
    if (is_prefix(pattern)) {
      prefixes.emplace_back(prefix_of(pattern));
    } else {
      whole_.push_back(pattern);
    }
  }
  std::sort(whole_.begin(), whole_.end());
  std::sort(prefixes.begin(), prefixes.end());
  for (std::string& prefix : prefixes) {  // a shorter one stands before those that it begins
    if (!has_prefix_of(prefix)) prefixes_.push_back(std::move(prefix));
  }
  patterns_ = std::move(patterns);
}

// Whatever stands between a prefix and a text in their order begins with that prefix too: so it can
// only be the last that does not stand behind the text.
bool Names::has_prefix_of(std::string_view text) const {
  const auto behind = std::upper_bound(prefixes_.begin(), prefixes_.end(), text);
  return behind != prefixes_.begin() && text.starts_with(*std::prev(behind));
}

bool Names::contain(std::string_view name) const {
  if (!patterns_) return true;
  if (name.empty()) return false;
  return std::binary_search(whole_.begin(), whole_.end(), name) || has_prefix_of(name);
}

bool Names::cover(const Names& other) const {
  if (!patterns_) return true;
  if (!other.patterns_) return false;
  return std::ranges::all_of(other.prefixes_,
                             [&](const auto& prefix) { return has_prefix_of(prefix); }) &&
         std::ranges::all_of(other.whole_, [&](const auto& name) {
           return std::binary_search(whole_.begin(), whole_.end(), name) || has_prefix_of(name);
         });
}

Requirements Contract::requirements(std::string_view tool, std::string_view route) const {
  Requirements out = base;
  for (const Rule& rule : rules) {
    if (rule.is_for(tool, route)) rule.changes.apply(out);
  }
  return out;
}

ByVerdict<bool> Contract::ever_blocking() const {
  ByVerdict<bool> out = base.blocking;
  for (const Rule& rule : rules) {
    for (const Verdict verdict : kVerdicts) {
      out[verdict] = out[verdict] || rule.changes.blocking[verdict].value_or(false);
    }
  }
  return out;
}

Contract sequential_contract() {
  constexpr Bounds kOne = {1, 1};
  constexpr Bounds kNone = {0, 0};
  Contract contract;
  contract.name = "sequential";
  contract.extends = "sequential";
  Requirements& base = contract.base;
  base.request = base.decision = base.start_on_allow = base.finish_on_allow.number = kOne;
  base.start_on_deny = base.finish_on_deny.number = kNone;
  base.order = {true, true, true};
  base.is_governed = true;
  base.blocking[Verdict::kEnforcement] = true;
  base.blocking[Verdict::kExecution] = true;
  base.blocking[Verdict::kCompleteness] = true;
  return contract;
}

std::optional<Contract> built_in_contract(std::string_view name) {
  const bool is_queued = name == "queued";
  Contract contract = sequential_contract();
  if (name == contract.name) return contract;
  if (!is_queued && name != "fan_out") return std::nullopt;
  contract.name = contract.extends = name;
  contract.base.decision = {1, std::nullopt};
  contract.base.start_on_allow = {};
  contract.base.finish_on_allow = {{}, true};
  contract.base.needs_decision_per_attempt = is_queued;
  return contract;
}

}  // namespace remit::grading
