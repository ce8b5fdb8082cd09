// The file system behind one interface, so that tests can make any operation fail, stop short or
// lose power.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/result.h"

namespace remit {

/// A file open for appending. Not thread-safe. Closing (destruction) loses nothing that `sync`
/// confirmed.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  /// Writes all of `bytes` at the end. After an error any prefix of them may be in the file: the
  /// caller truncates to what it knows before it goes on. Errors: `unavailable` (no space, I/O).
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Makes data and size durable (fdatasync). After an error nothing since the last success is
  /// known to be durable, and a second try proves nothing (the kernel may have dropped the pages).
  virtual Status sync() = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  /// Whether `path` leads, itself no link, to this very file: false once the file was removed or
  /// moved, or another was put in its place.
  [[nodiscard]] virtual Result<bool> stands_at(const std::string& path) const = 0;
};

/// A file open for reading from its start. Not thread-safe.
class ReadFile {
 public:
  virtual ~ReadFile() = default;
  /// Fills `out` with the bytes that follow, as far as there are any; the count, 0 at the end.
  /// A file that grew since can be read on. Errors: `unavailable` (I/O, and at the end a plain file
  /// that was cut or written anew since it was opened, see `FileConstancy`).
  virtual Result<std::size_t> read(std::span<std::byte> out) = 0;
};

/// A file that has no name: what was written can be read back, and nothing of it is left once it is
/// closed or the process is gone, however it went. Not thread-safe.
class ScratchFile {
 public:
  virtual ~ScratchFile() = default;
  /// Writes all of `bytes` at the end. Errors: `unavailable` (no space, I/O); then any prefix of
  /// them may be there, and the file is of no further use.
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// Fills `out` with what was written from `offset` on. Errors: `unavailable` (I/O), `data_loss`
  /// where the file ends before.
  virtual Status read_at(std::uint64_t offset, std::span<std::byte> out) = 0;
};

/// What is known of a path without opening it.
struct FileInfo {
  enum class Kind : std::uint8_t { kOther, kFile, kDirectory, kLink };
  Kind kind = Kind::kOther;
  std::uint64_t size = 0;
  bool writable_by_others = false;  ///< group or world may write
  bool readable_by_others = false;  ///< group or world may read
  bool owned_by_us = false;         ///< owner is the effective user, or root
  /// Device and number of what the path leads to, links followed: equal for all names of one file.
  /// Nothing for a link that leads nowhere.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> identity = {};
  /// Of the same: `kLink` for a link that leads nowhere.
  Kind target_kind = Kind::kLink;
  std::uint64_t target_size = 0;
  WallTime target_modified = {};
};

/// Whether `open_append` may make the file, must make it, or must find it.
enum class OpenMode : std::uint8_t { kMustExist, kMayCreate, kMustCreate };

/// The operations that Remit needs. Paths are UTF-8. Implementations are thread-safe. Every error
/// names the path in `where`. Codes: `not_found`, `already_exists`, `limit_exceeded` (file larger
/// than asked for), `invalid_input` (a directory, or a pipe, where a file is meant),
/// `deadline_exceeded` (a pipe that gives nothing), `unavailable` (anything else the system says).
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// The whole file, at most `max_bytes`. A pipe is read to its end, as `<(command)` of a shell
  /// needs, but not waited for without end: one that nobody writes is `deadline_exceeded`. A plain
  /// file that is cut or written anew meanwhile is `unavailable`.
  virtual Result<std::string> read(const std::string& path, std::uint64_t max_bytes) = 0;
  /// Opens for reading piece by piece, whatever the size. A pipe waits for its writer.
  virtual Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) = 0;
  /// Opens for appending; created files have mode 0600. A pipe is `invalid_input`: nothing waits
  /// for its reader.
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path,
                                                          OpenMode mode) = 0;
  /// Writes `bytes` beside `path`, syncs, and renames over it: readers see the old or the new,
  /// never half. A file that was there keeps its mode and, where that is allowed, its owner; a new
  /// one has mode 0600. `already_exists` where a link, a device or a directory is at `path`.
  virtual Status replace(const std::string& path, std::string_view bytes) = 0;
  /// Gives the file `path`, made by us with mode 0600, the access of the plain file `model`: its
  /// owner and group where that is allowed, and its mode, of which a group that is another's gets
  /// no more than everyone. The owner and group of a file of somebody who is neither us nor the
  /// owner of the directory are not taken, and of its mode no more than a new file has. Where
  /// nothing is at `model`, the mode that a new file has of which nothing is secret: 0666 less the
  /// umask. What has no modes does nothing.
  virtual Status adopt_access(const std::string& path, const std::string& model) {
    static_cast<void>(path);
    static_cast<void>(model);
    return {};
  }
  /// Makes one directory with mode 0700; success if it is there already.
  virtual Status make_directory(const std::string& path) = 0;
  /// Names in a directory, sorted by bytes, without `.` and `..`.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// Makes created, renamed and removed names in `path` durable.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Makes durable all that was written so far, by anyone, to the file system of the directory
  /// `path`: for many files at once.
  virtual Status sync_file_system(const std::string& path) = 0;
  /// Replaces a file of the name `to`; a directory only where it is empty, else `already_exists`.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file, a link itself, or a directory in which nothing is, else `already_exists`.
  virtual Status remove(const std::string& path) = 0;
  /// Does not follow a link at the end of `path`.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// Takes an exclusive advisory lock on `path` (made if absent), held until the returned file is
  /// destroyed; it falls with the process. `failed_precondition` if another process holds it,
  /// `invalid_input` for a pipe.
  virtual Result<std::unique_ptr<AppendFile>> lock(const std::string& path) = 0;
  /// Makes a file without a name on the file system of `directory`.
  virtual Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) = 0;
};

/// The directory in which the last name of `path` stands.
std::string directory_of(const std::string& path);

/// A name in the directory of `path` that nobody has and nobody guesses, for what is to take its
/// place: whatever else is there is someone else's.
std::string name_beside(const std::string& path, Random& random);

/// The machine's file system. Thread-safe.
class PosixFileSystem final : public FileSystem {
 public:
  /// `pipe_patience` is how long `read` waits for the next bytes of what is no plain file.
  explicit PosixFileSystem(std::chrono::milliseconds pipe_patience = kPipePatience)
      : pipe_patience_(pipe_patience) {}
  Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override;
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path, OpenMode mode) override;
  Status replace(const std::string& path, std::string_view bytes) override;
  Status adopt_access(const std::string& path, const std::string& model) override;
  Status make_directory(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Status sync_file_system(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> lock(const std::string& path) override;
  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override;

 private:
  std::chrono::milliseconds pipe_patience_;
};

}  // namespace remit
