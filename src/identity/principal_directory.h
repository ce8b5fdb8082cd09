// Principals by reference, from a file that is read anew: whom deferred work is run for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "access/principal.h"
#include "base/digest.h"
#include "base/file_system.h"
#include "base/result.h"
#include "identity/authenticator.h"
#include "identity/own_file.h"

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
  [[nodiscard]] OwnFileReading<Entries> parse(const std::string& text) const;

  const DigestKey key_;
  const Authenticator& others_;
  const OwnFile<Entries> file_;
};

}  // namespace remit::identity
