// Principals by reference, from a file that is read anew: whom deferred work is run for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "access/principal.h"
#include "base/digest.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "base/result.h"
#include "identity/authenticator.h"

namespace remit::identity {

/// A file `remit.directory/1` (spec/queue.md): the principals that a reference may name. It is read
/// for every credential, so that whoever is taken out of it or revoked in it is denied from the
/// next attempt on. A reference that it does not name is invalid, one that it revokes is expired;
/// where the file cannot be read, is wrong, or could have been written by others, every reference
/// is invalid. Any other credential goes to `others`. For access, every state but kAuthenticated
/// means deny. Thread-safe.
class PrincipalDirectory final : public Authenticator {
 public:
  /// `files` and `others` outlive the object.
  PrincipalDirectory(FileSystem& files, std::string file, DigestKey key,
                     const Authenticator& others);

  [[nodiscard]] Identity authenticate(const access::Credential& credential,
                                      WallTime now) const override;

  /// Everything that is wrong with the file now, by place; empty if nothing is.
  [[nodiscard]] std::vector<Error> check() const;

 private:
  struct Entry {
    access::Principal principal;
    bool is_revoked = false;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  struct Reading {
    std::shared_ptr<const Entries> entries;  // null exactly when there are problems
    std::vector<Error> problems;
  };
  [[nodiscard]] Reading read() const;
  [[nodiscard]] Reading parse(const std::string& text) const;

  FileSystem& files_;
  const std::string file_;
  const DigestKey key_;
  const Authenticator& others_;
  mutable Mutex mutex_;
  mutable std::string text_ REMIT_GUARDED_BY(mutex_);  // of the last reading
  mutable Reading reading_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::identity
