// Who works here: badges and names, turned into principals.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "identity/authenticator.h"
#include "identity/pinned_authenticator.h"
#include "identity/principal_directory.h"

namespace remit::examples {

/// The desk's own authenticator. People carry a badge, `NAME.SEAL`, that nobody without the
/// office's key can make; deferred work keeps the name alone. Either way it is the staff list that
/// says what that person may do now: it is read anew for each call. Thread-safe.
class Staff final : public identity::Authenticator {
 public:
  /// `files` outlives it. `list` is a file `remit.directory/1`.
  Staff(FileSystem& files, std::string list, DigestKey key);

  /// The badge of `name`, for whoever hands badges out.
  [[nodiscard]] std::string badge_of(std::string_view name) const;
  /// What the record calls `name`.
  [[nodiscard]] std::string reference_of(std::string_view name) const { return key_.digest(name); }
  /// Who started this process, for doors whose callers bring no badge of their own (stdio).
  void take_seat(std::string badge);

  [[nodiscard]] identity::Identity authenticate(const access::Credential& credential,
                                                WallTime now) const override;

 private:
  [[nodiscard]] identity::Identity by_badge(const std::string& badge, WallTime now) const;

  const DigestKey key_;
  const identity::PinnedAuthenticator nobody_;
  const identity::PrincipalDirectory list_;
  mutable Mutex mutex_;
  std::string seated_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::examples
