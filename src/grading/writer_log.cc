// Sets of numbers and the window of recent lines.
#include "grading/writer_log.h"

#include <algorithm>
#include <iterator>

namespace remit::grading {

bool NumberSet::add(std::int64_t number) {
  if (highest_ != nullptr && number == *highest_ + 1) {
    ++*highest_;
    return true;
  }
  auto above = ranges_.upper_bound(number);  // the first range that begins above the number
  const bool has_below = above != ranges_.begin();
  if (has_below && number <= std::prev(above)->second) return false;
  const bool joins_above = above != ranges_.end() && above->first == number + 1;
  const std::int64_t last = joins_above ? above->second : number;
  if (joins_above) above = ranges_.erase(above);
  if (has_below && std::prev(above)->second + 1 == number) {
    std::prev(above)->second = last;
  } else {
    ranges_.emplace_hint(above, number, last);
  }
  highest_ = &ranges_.rbegin()->second;
  return true;
}

bool NumberSet::contains(std::int64_t number) const {
  const auto above = ranges_.upper_bound(number);
  return above != ranges_.begin() && number <= std::prev(above)->second;
}

void RecentLines::put(std::int64_t number, std::uint64_t hash, std::uint64_t id_hash) {
  if (number <= highest_ - kRepeatWindow) return;
  highest_ = std::max(highest_, number);
  if (slots_.size() < kLastSlots && (used_ + 1) * 2 > slots_.size()) grow();
  insert({hash, number, id_hash});
}

// With kLastSlots no two recent numbers share a slot, and an old one gives way. With fewer, the
// next free slot is taken; none is ever freed, so a search may stop at the first empty one.
void RecentLines::insert(const Entry& entry) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(entry.number) & mask;
  if (slots_.size() < kLastSlots) {
    while (slots_[at].number != 0) at = (at + 1) & mask;
  }
  slots_[at] = entry;
  ++used_;
}

const RecentLines::Entry* RecentLines::find(std::int64_t number) const {
  if (slots_.empty() || number > highest_ || number <= highest_ - kRepeatWindow) return nullptr;
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(number) & mask;
  while (slots_[at].number != 0) {
    if (slots_[at].number == number) return &slots_[at];
    if (slots_.size() == kLastSlots) break;
    at = (at + 1) & mask;
  }
  return nullptr;
}

void RecentLines::grow() {
  std::vector<Entry> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Entry& entry : old) {
    const bool is_recent = entry.number > highest_ - kRepeatWindow;
    if (entry.number != 0 && is_recent) insert(entry);
  }
}

}  // namespace remit::grading
