// A small file that decides who somebody is: looked at for each credential, parsed when it changed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "base/result.h"

namespace remit::identity {

/// The text of a file that is ours alone. Errors: as of `FileSystem::read`; `invalid_input` for
/// what is no plain file, a link among it, or could have been written by others.
Result<std::string> read_own_file(FileSystem& files, const std::string& file,
                                  std::uint64_t max_bytes);

/// What such a file says, or everything that is wrong with it.
template <class T>
struct OwnFileReading {
  std::shared_ptr<const T> value;  ///< null exactly when there are problems
  std::vector<Error> problems;
};

/// A file that is read anew each time, so that a change counts at once. Thread-safe.
template <class T>
class OwnFile {
 public:
  using Reading = OwnFileReading<T>;
  /// `files` outlives the object. `parse` is a pure function of the text.
  OwnFile(FileSystem& files, std::string file, std::uint64_t max_bytes,
          std::function<Reading(const std::string& text)> parse)
      : files_(files), file_(std::move(file)), max_bytes_(max_bytes), parse_(std::move(parse)) {}

  [[nodiscard]] const std::string& file() const { return file_; }

  [[nodiscard]] Reading read() const {
    Result<std::string> text = read_own_file(files_, file_, max_bytes_);
    if (!text) return {nullptr, {std::move(text).error()}};
    {
      const MutexLock lock(mutex_);
      if (reading_.value != nullptr && text_ == *text) return reading_;
    }
    Reading reading = parse_(*text);
    const MutexLock lock(mutex_);
    text_ = *std::move(text);
    reading_ = reading;
    return reading;
  }

 private:
  FileSystem& files_;
  const std::string file_;
  const std::uint64_t max_bytes_;
  const std::function<Reading(const std::string& text)> parse_;
  mutable Mutex mutex_;
  mutable std::string text_ REMIT_GUARDED_BY(mutex_);  // of the last reading
  mutable Reading reading_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::identity
