// Permits: given out, taken once, or retired.
#include "enforcement/permit_register.h"

#include <utility>

#include "enforcement/claims.h"
#include "enforcement/guarded.h"

namespace remit::enforcement {

void PermitRegister::add(const std::shared_ptr<PermitState>& permit) {
  const MutexLock lock(mutex_);
  out_.emplace(permit.get(), permit);
}

bool PermitRegister::take(const PermitState& permit) {
  const MutexLock lock(mutex_);
  return out_.erase(&permit) == 1;
}

void PermitRegister::retire(const PermitState& permit) noexcept {
  std::shared_ptr<PermitState> held;
  {
    const MutexLock lock(mutex_);
    const auto found = out_.find(&permit);
    if (found == out_.end()) return;
    held = std::move(found->second);
    out_.erase(found);
    ++writing_;
  }
  record_unspent(*held);
  const MutexLock lock(mutex_);
  --writing_;
  idle_.notify_all();
}

void PermitRegister::close() noexcept {
  std::unordered_map<const PermitState*, std::shared_ptr<PermitState>> left;
  {
    const MutexLock lock(mutex_);
    left.swap(out_);
    while (writing_ > 0) idle_.wait(mutex_);
  }
  for (const auto& [key, permit] : left) record_unspent(*permit);
}

std::size_t PermitRegister::size() const {
  const MutexLock lock(mutex_);
  return out_.size();
}

void PermitRegister::record_unspent(PermitState& permit) noexcept {
  // A sink that cannot take it refuses everything from then on; there is nobody left to tell.
  static_cast<void>(guarded("evidence", [&] {
    std::vector<event::Event> events;
    permit.record.append_unspent(events);
    return evidence_.append({.events = events});
  }));
  release_claim(ledger_, permit.record.assessment());
}

}  // namespace remit::enforcement
