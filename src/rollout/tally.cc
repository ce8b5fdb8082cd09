// Counting, and adding counts up.
#include "rollout/tally.h"

#include <algorithm>
#include <numeric>

namespace remit::rollout {

std::string_view sort_name(Sort sort) {
  switch (sort) {
    case Sort::kAgreedAllow:
      return "agreed_allow";
    case Sort::kAgreedDeny:
      return "agreed_deny";
    case Sort::kWouldDeny:
      return "would_deny";
    case Sort::kWouldAllow:
      return "would_allow";
    case Sort::kUnsettled:
      return "unsettled";
    case Sort::kEnforcedAllow:
      return "enforced_allow";
    case Sort::kEnforcedDeny:
      return "enforced_deny";
    case Sort::kUndecided:
      return "undecided";
    case Sort::kAgainstDenial:
      return "against_denial";
    case Sort::kOtherPolicy:
      return "other_policy";
  }
  return "unsettled";
}

std::string_view refusal_name(Refusal refusal) {
  switch (refusal) {
    case Refusal::kDecidedElsewhere:
      return "decided_elsewhere";
    case Refusal::kByHandler:
      return "by_handler";
    case Refusal::kPermitUnspent:
      return "permit_unspent";
  }
  return "by_handler";
}

void Distinct::add(std::uint64_t hash) {
  const auto at = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
  if (at != hashes_.end() && *at == hash) return;
  if (hashes_.size() == kMost) {
    is_more_ = true;
    if (at == hashes_.end()) return;
    hashes_.insert(at, hash);
    hashes_.pop_back();
    return;
  }
  hashes_.insert(at, hash);
}

void Distinct::add(const Distinct& other) {
  for (const std::uint64_t hash : other.hashes_) add(hash);
  is_more_ |= other.is_more_;
}

std::uint64_t Tally::calls() const {
  return std::accumulate(sorts.begin(), sorts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Examples& one) { return sum + one.calls(); });
}

std::uint64_t Tally::compared() const {
  return of(Sort::kAgreedAllow).calls() + of(Sort::kAgreedDeny).calls() +
         of(Sort::kWouldDeny).calls() + of(Sort::kWouldAllow).calls();
}

void Tally::count_effects(std::uint64_t observed, std::uint64_t unexplained_ones) {
  const auto add = [](std::uint64_t number, std::uint64_t& sum) {
    sum = number > UINT64_MAX - sum ? UINT64_MAX : sum + number;
  };
  add(observed, effects);
  add(unexplained_ones, unexplained_effects);
}

void Tally::see(WallTime time) {
  first = first ? std::min(*first, time) : time;
  last = last ? std::max(*last, time) : time;
}

// Those that come first by name are kept, whatever the order of reading.
void Tally::count_policy(Policy policy, std::uint64_t calls) {
  policies[std::move(policy)] += calls;
  if (policies.size() <= kMaxPoliciesTold) return;
  const auto last_one = std::prev(policies.end());
  policies_left_out += last_one->second;
  policies.erase(last_one);
}

void Tally::add(const Tally& other, std::size_t kept) {
  for (std::size_t i = 0; i < kSortCount; ++i) sorts[i].add(other.sorts[i], kept);
  for (const auto& [reason, calls] : other.would_deny) would_deny[reason].add(calls, kept);
  for (const auto& [reason, calls] : other.denied) denied[reason].add(calls, kept);
  for (const auto& [refusal, calls] : other.would_allow) would_allow[refusal].add(calls, kept);
  for (const auto& [policy, calls] : other.policies) count_policy(policy, calls);
  policies_left_out += other.policies_left_out;
  count_effects(other.effects, other.unexplained_effects);
  unexplained.add(other.unexplained, kept);
  principals.add(other.principals);
  if (other.first) see(*other.first);
  if (other.last) see(*other.last);
  has_shadow_mode |= other.has_shadow_mode;
}

}  // namespace remit::rollout
