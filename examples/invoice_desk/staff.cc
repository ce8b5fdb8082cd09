// From a badge to a name, and from a name to a principal.
#include "staff.h"

#include <utility>

namespace remit::examples {

using access::Credential;
using identity::Identity;

Staff::Staff(FileSystem& files, std::string list, DigestKey key)
    : key_(std::move(key)),
      nobody_(std::nullopt, key_),
      list_(files, std::move(list), key_, nobody_) {}

std::string Staff::badge_of(std::string_view name) const {
  return std::string(name) + "." + key_.digest("badge of " + std::string(name));
}

void Staff::take_seat(std::string badge) {
  const MutexLock lock(mutex_);
  seated_ = std::move(badge);
}

// A badge that is no badge is invalid, never absent.
Identity Staff::by_badge(const std::string& badge, WallTime now) const {
  const std::string name = badge.substr(0, badge.find('.'));
  // Seals are compared by their digests, so that the time it takes tells nothing of them.
  if (key_.hmac(badge) != key_.hmac(badge_of(name))) {
    return {.state = access::PrincipalState::kInvalid, .detail = "a badge that is not ours"};
  }
  return list_.authenticate(Credential::reference(name), now);
}

Identity Staff::authenticate(const Credential& credential, WallTime now) const {
  if (credential.kind() == Credential::Kind::kBearer) return by_badge(credential.secret(), now);
  if (credential.kind() != Credential::Kind::kLocal) return list_.authenticate(credential, now);
  std::string seated;
  {
    const MutexLock lock(mutex_);
    seated = seated_;
  }
  if (seated.empty()) return {.state = access::PrincipalState::kMissing};
  return by_badge(seated, now);
}

}  // namespace remit::examples
