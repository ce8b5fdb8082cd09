// The snapshot in force.
#include "decision/decision_point.h"

#include <utility>

#include <fmt/format.h>

namespace remit::decision {

std::shared_ptr<const PolicySnapshot> CurrentPolicy::get() const {
  const MutexLock lock(mutex_);
  return current_;
}

Result<std::shared_ptr<const PolicySnapshot>> CurrentPolicy::publish(
    std::shared_ptr<const policy::Bundle> bundle,
    std::shared_ptr<const DecisionPoint> decision_point) {
  REMIT_CHECK(bundle != nullptr && decision_point != nullptr);
  const MutexLock lock(mutex_);
  if (current_ != nullptr && current_->bundle->version == bundle->version &&
      current_->bundle->digest != bundle->digest) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("policy version {} is in force with another digest; "
                             "give changed policies a new version",
                             quoted(bundle->version))};
  }
  const std::uint64_t generation = current_ == nullptr ? 1 : current_->generation + 1;
  current_ = std::make_shared<const PolicySnapshot>(
      PolicySnapshot{std::move(bundle), std::move(decision_point), generation});
  return current_;
}

}  // namespace remit::decision
