// A file that takes the place of another once it is whole, written piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"

namespace remit {

/// As `FileSystem::replace`, for what is too long for one text: readers see the old or the new,
/// never half, and a file that was there keeps its mode. A new one is no secret: its mode is what
/// the umask leaves. What was not committed is removed with the object. Not thread-safe; movable.
class FileReplacement {
 public:
  /// Begins a file beside `path`, with a name of its own: others may replace `path` at the same
  /// time, and the last one stays. `files` outlives the replacement. Errors: `already_exists` where
  /// a link, a device or a directory is at `path`, and those of making a file.
  static Result<FileReplacement> open(FileSystem& files, Random& random, const std::string& path);

  FileReplacement(FileReplacement&&) noexcept = default;
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement();

  /// Errors: those of `AppendFile::append`.
  Status append(std::string_view piece);
  /// Makes what was written durable and puts it in place; once, last. Errors: those of syncing and
  /// renaming, after which `path` is as it was.
  Status commit();

 private:
  FileReplacement(FileSystem& files, Random& random, std::string path)
      : files_(&files), path_(std::move(path)), beside_(name_beside(path_, random)) {}

  FileSystem* files_;
  std::string path_;
  std::string beside_;
  std::unique_ptr<AppendFile> file_;  // null once committed or moved from
};

}  // namespace remit
