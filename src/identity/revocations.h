// What an issuer signed and somebody took back.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "identity/own_file.h"

namespace remit::identity {

/// A list `remit.revocations/1` (spec/identity.md) as it was read.
struct RevocationList {
  std::set<std::string, std::less<>> tokens;    ///< `jti`
  std::set<std::string, std::less<>> subjects;  ///< agents and persons
  std::set<std::string, std::less<>> keys;      ///< `kid`
};

/// The file, looked at for each token, so that what is taken back is denied from the next call on.
/// Thread-safe.
class Revocations {
 public:
  /// `files` outlives the object.
  Revocations(FileSystem& files, const std::string& file);

  /// The list as it is now. While the file cannot be read, is wrong, or could have been written by
  /// others, there is none, and no token is to be believed.
  [[nodiscard]] OwnFileReading<RevocationList> read() const { return file_.read(); }

 private:
  const OwnFile<RevocationList> file_;
};

}  // namespace remit::identity
