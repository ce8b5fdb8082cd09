// Keys from a file.
#pragma once

#include <string>

#include "base/file_system.h"
#include "identity/key_source.h"
#include "identity/own_file.h"

namespace remit::identity {

/// A JWK Set in a file that is ours alone, looked at for each token, so that a key that is put in
/// or taken out counts on the next one. Thread-safe.
class FileKeys final : public KeySource {
 public:
  /// `files` outlives the object.
  FileKeys(FileSystem& files, const std::string& file);
  [[nodiscard]] KnownKeys known() const override;

 private:
  const OwnFile<KeySet> file_;
};

}  // namespace remit::identity
