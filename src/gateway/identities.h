// Who may be behind a call: what a configuration says of principals.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "access/principal.h"
#include "base/digest.h"
#include "base/file_system.h"
#include "gateway/config.h"
#include "identity/authenticator.h"
#include "identity/pinned_authenticator.h"
#include "identity/principal_directory.h"

namespace remit::gateway {

/// The authenticators of a configuration: the pinned principal, and the directory of those whom
/// deferred work may name. Neither copied nor moved, since its parts refer to one another.
class Identities {
 public:
  /// `files` outlives the object.
  Identities(const Config& config, const DigestKey& key, FileSystem& files)
      : pinned_(config.pinned, key) {
    if (config.directory_file.empty()) return;
    directory_ =
        std::make_unique<identity::PrincipalDirectory>(files, config.directory_file, key, pinned_);
  }
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  [[nodiscard]] const identity::Authenticator& authenticator() const {
    if (directory_ != nullptr) return *directory_;
    return pinned_;
  }
  /// What is wrong with the directory now; empty where there is none.
  [[nodiscard]] std::vector<Error> check() const {
    return directory_ == nullptr ? std::vector<Error>{} : directory_->check();
  }

 private:
  const identity::PinnedAuthenticator pinned_;
  std::unique_ptr<const identity::PrincipalDirectory> directory_;
};

}  // namespace remit::gateway
