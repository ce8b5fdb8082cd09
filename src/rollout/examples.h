// A number of calls and a few of their ids to look at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace remit::rollout {

inline constexpr std::size_t kMaxExamples = 100;

/// Counts all, and keeps the smallest ids: those do not depend on the order of reading.
class Examples {
 public:
  void add(std::string_view id, std::size_t kept) {
    ++calls_;
    if (kept == 0) return;
    if (ids_.size() == kept && *ids_.rbegin() <= id) return;
    ids_.emplace(id);
    if (ids_.size() > kept) ids_.erase(std::prev(ids_.end()));
  }
  void add(const Examples& other, std::size_t kept) {
    calls_ += other.calls_;
    ids_.insert(other.ids_.begin(), other.ids_.end());
    while (ids_.size() > kept) ids_.erase(std::prev(ids_.end()));
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& ids() const { return ids_; }

 private:
  std::uint64_t calls_ = 0;
  std::set<std::string, std::less<>> ids_;
};

}  // namespace remit::rollout
