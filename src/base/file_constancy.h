// Whether a plain file stayed the same while it was read.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"

namespace remit {

/// Watches one open file through the eyes of who reads it, from its present place to its end.
/// Growing is no change: what stands in front of the end is as it was. A file that is moved,
/// removed or replaced at its path is read as it was opened. What is no plain file, such as a pipe,
/// is not watched. Not thread-safe.
class FileConstancy {
 public:
  /// `fd` outlives this and has not been read by its user. A file that cannot be looked at is not
  /// watched either.
  explicit FileConstancy(int fd);

  /// These bytes came next.
  void note(std::span<const std::byte> bytes);
  /// No more bytes came: whether what came was all, and of one and the same text. May be asked
  /// again once more was read of a file that grew. Errors: `unavailable`, which names `path`, for a
  /// file that is shorter than it was, that was written without growing, or that grew and begins
  /// with something else than it did.
  [[nodiscard]] Status at_end(const std::string& path);

 private:
  [[nodiscard]] bool begins_as_it_did() const;

  int fd_;
  bool is_watched_ = false;
  std::uint64_t begin_ = 0;     ///< place in the file from which it is read
  std::uint64_t at_ = 0;        ///< place in the file up to which it was read
  std::uint64_t size_ = 0;      ///< when it was opened
  std::uint64_t greatest_ = 0;  ///< size ever seen
  WallTime modified_;
  std::string head_;  ///< the first bytes that were read
};

/// Whether `path` leads to the plain file it led to when `then` was asked, and that has only grown
/// since; `now` is what is known of it. What was no plain file is not compared. Errors:
/// `unavailable`, which names `path`.
Status only_grown(const FileInfo& then, const FileInfo& now, const std::string& path);

/// When a file was last written.
WallTime modified_at(const struct stat& found);

}  // namespace remit
