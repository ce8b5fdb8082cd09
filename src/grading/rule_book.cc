// Working out requirements, and whether the path that violates nothing violates them.
#include "grading/rule_book.h"

#include <string_view>

namespace remit::grading {
namespace {

// `runs` is 1 for a call that ran and 0 for one that was denied.
bool admits_plain(const Requirements& it, std::uint64_t runs) {
  const bool has_words = it.reasons || it.expects_shadow;
  if (has_words || it.required_fields != RequiredFields{}) return false;
  const Bounds& starts = runs == 1 ? it.start_on_allow : it.start_on_deny;
  const FinishBounds& finishes = runs == 1 ? it.finish_on_allow : it.finish_on_deny;
  return it.request.admits(1) && it.decision.admits(1) && starts.admits(runs) &&
         (finishes.equals_start || finishes.number.admits(runs));
}

}  // namespace

const Resolved& RuleBook::find(Ref tool, Ref route, std::uint64_t pair) {
  const Resolved*& known = by_pair_[pair];
  if (known != nullptr) return *known;
  const std::string_view tool_name = store_.text(tool);
  const std::string_view route_name = store_.text(route);
  std::vector<bool> rules;
  rules.reserve(contract_.rules.size());
  for (const Rule& rule : contract_.rules) rules.push_back(rule.is_for(tool_name, route_name));
  for (std::size_t i = 0; i < rules.size(); ++i) was_used_[i] = was_used_[i] || rules[i];
  const auto [found, is_new] = resolved_.try_emplace(std::move(rules));
  Resolved& out = found->second;
  if (is_new) {
    out.requirements = contract_.requirements(tool_name, route_name);
    out.admits_finished = admits_plain(out.requirements, 1);
    out.admits_denied = admits_plain(out.requirements, 0);
  }
  known = &out;
  return out;
}

std::vector<std::size_t> RuleBook::unused() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < was_used_.size(); ++i) {
    if (!was_used_[i]) out.push_back(i + 1);
  }
  return out;
}

}  // namespace remit::grading
