// The machine's file system over POSIX calls.
#include "base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/file_constancy.h"
#include "base/file_descriptor.h"

namespace remit {
namespace {

Error system_error(std::string_view what, const std::string& path) {
  const int error = errno;
  ErrorCode code = ErrorCode::kUnavailable;
  if (error == ENOENT || error == ENOTDIR) code = ErrorCode::kNotFound;
  if (error == EEXIST || error == ENOTEMPTY) code = ErrorCode::kAlreadyExists;
  return Error{code, fmt::format("{}: {}", what, ::strerrordesc_np(error)), path};
}

FileDescriptor open_file(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor{fd};
}

/// Opens for writing what can be written without anyone at its other end: opening a pipe would wait
/// for its reader.
Result<FileDescriptor> open_to_write(const std::string& path, int flags) {
  FileDescriptor fd = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | flags);
  if (!fd.is_open() && errno != ENXIO) return system_error("cannot open", path);
  struct stat found{};
  if (fd.is_open() && ::fstat(fd.get(), &found) != 0) return system_error("cannot look at", path);
  // Without a reader a pipe, and any socket, does not even open.
  if (!fd.is_open() || S_ISFIFO(found.st_mode)) {
    return Error{ErrorCode::kInvalidInput, "is a pipe or a socket, not a file", path};
  }
  return fd;
}

Status write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_error("cannot write", path);
    if (wrote == 0) return Error{ErrorCode::kUnavailable, "cannot write: no progress", path};
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

class PosixAppendFile final : public AppendFile {
 public:
  PosixAppendFile(FileDescriptor fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}

  Status append(std::span<const std::byte> bytes) override {
    return write_all(fd_.get(), bytes, path_);
  }
  Status sync() override {
    if (::fdatasync(fd_.get()) != 0) return system_error("cannot sync", path_);
    return {};
  }
  Status truncate(std::uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
      return system_error("cannot truncate", path_);
    }
    return {};
  }
  [[nodiscard]] Result<std::uint64_t> size() const override {
    struct stat found{};
    if (::fstat(fd_.get(), &found) != 0) return system_error("cannot read the size", path_);
    return static_cast<std::uint64_t>(found.st_size);
  }
  [[nodiscard]] Result<bool> stands_at(const std::string& path) const override {
    struct stat own{};
    if (::fstat(fd_.get(), &own) != 0) return system_error("cannot look at", path_);
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return false;
      return system_error("cannot look at", path);
    }
    return found.st_dev == own.st_dev && found.st_ino == own.st_ino;
  }

 private:
  FileDescriptor fd_;
  std::string path_;
};

class PosixReadFile final : public ReadFile {
 public:
  PosixReadFile(FileDescriptor fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)), constancy_(fd_.get()) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    std::size_t filled = 0;
    bool is_end = false;
    while (filled < out.size()) {
      const ssize_t got = ::read(fd_.get(), out.data() + filled, out.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("cannot read", path_);
      is_end = got == 0;
      if (is_end) break;
      filled += static_cast<std::size_t>(got);
    }
    constancy_.note(out.first(filled));
    if (is_end) REMIT_TRY(constancy_.at_end(path_));
    return filled;
  }

 private:
  FileDescriptor fd_;
  std::string path_;
  FileConstancy constancy_;
};

/// Waits for bytes, or the end, of a pipe or device. A named pipe that nobody opened yet for
/// writing has no end either, though a read of it would say so.
Status wait_for_bytes(int fd, std::chrono::milliseconds patience, const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched{fd, POLLIN, 0};
    const int timeout_ms = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    const int ready = ::poll(&watched, 1, timeout_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error("cannot wait for bytes", path);
    if (ready == 0) {
      return Error{ErrorCode::kDeadlineExceeded,
                   fmt::format("is not a plain file and gave nothing for {} ms", patience.count()),
                   path};
    }
  }
}

/// A new file, on disk when it returns.
Status write_file(const std::string& path, std::string_view bytes) {
  const FileDescriptor fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!fd.is_open()) return system_error("cannot open", path);
  REMIT_TRY(write_all(fd.get(), std::as_bytes(std::span{bytes.data(), bytes.size()}), path));
  if (::fdatasync(fd.get()) != 0) return system_error("cannot sync", path);
  return {};
}

constexpr mode_t kPermissions = S_IRWXU | S_IRWXG | S_IRWXO;

/// What the umask takes from the mode of a new file. Asked for by `umask` it would be changed for a
/// moment, for all threads; where it cannot be read, all that is not the owner's is taken.
mode_t masked_mode() {
  constexpr mode_t kAllButOwner = S_IRWXG | S_IRWXO;
  constexpr std::string_view kName = "\nUmask:\t";
  const FileDescriptor fd = open_file("/proc/self/status", O_RDONLY);
  std::array<char, 1024> room{};
  if (!fd.is_open()) return kAllButOwner;
  const ssize_t got = ::read(fd.get(), room.data(), room.size());
  const std::string_view text(room.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return kAllButOwner;
  const char* const digits = text.data() + at + kName.size();
  unsigned mask = 0;
  const auto [end, error] = std::from_chars(digits, text.data() + text.size(), mask, 8);
  return error == std::errc{} && end != text.data() + text.size() ? mask & kPermissions
                                                                  : kAllButOwner;
}

FileInfo::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileInfo::Kind::kFile;
  if (S_ISDIR(mode)) return FileInfo::Kind::kDirectory;
  if (S_ISLNK(mode)) return FileInfo::Kind::kLink;
  return FileInfo::Kind::kOther;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string name_beside(const std::string& path, Random& random) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return fmt::format("{}.remit-{}.new", directory, random_id(random));
}

Result<std::string> PosixFileSystem::read(const std::string& path, std::uint64_t max_bytes) {
  // Opening a named pipe would wait for its writer. A plain file does not mind the flag.
  const FileDescriptor fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd.is_open()) return system_error("cannot open", path);
  struct stat found{};
  if (::fstat(fd.get(), &found) != 0) return system_error("cannot read", path);
  if (S_ISDIR(found.st_mode)) {
    return Error{ErrorCode::kInvalidInput, "is a directory, not a file", path};
  }
  FileConstancy constancy(fd.get());
  std::string out;
  // The size is a hint: the file may grow, or be a pipe.
  out.reserve(static_cast<std::size_t>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(found.st_size), max_bytes)));
  std::string chunk(std::size_t{64} * 1024, '\0');
  while (true) {
    if (!S_ISREG(found.st_mode)) REMIT_TRY(wait_for_bytes(fd.get(), pipe_patience_, path));
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    // Another reader may have taken what there was to wait for.
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return system_error("cannot read", path);
    if (got == 0) {
      REMIT_TRY(constancy.at_end(path));
      return out;
    }
    out.append(chunk.data(), static_cast<std::size_t>(got));
    constancy.note(std::as_bytes(std::span{chunk}.first(static_cast<std::size_t>(got))));
    if (out.size() > max_bytes) {
      return Error{ErrorCode::kLimitExceeded, fmt::format("larger than {} bytes", max_bytes), path};
    }
  }
}

Result<std::unique_ptr<ReadFile>> PosixFileSystem::open_read(const std::string& path) {
  FileDescriptor fd = open_file(path, O_RDONLY);
  if (!fd.is_open()) return system_error("cannot open", path);
  return std::unique_ptr<ReadFile>(std::make_unique<PosixReadFile>(std::move(fd), path));
}

Result<std::unique_ptr<AppendFile>> PosixFileSystem::open_append(const std::string& path,
                                                                 OpenMode mode) {
  int flags = O_APPEND;
  if (mode != OpenMode::kMustExist) flags |= O_CREAT;
  if (mode == OpenMode::kMustCreate) flags |= O_EXCL;
  REMIT_TRY_ASSIGN(FileDescriptor fd, open_to_write(path, flags));
  return std::unique_ptr<AppendFile>(std::make_unique<PosixAppendFile>(std::move(fd), path));
}

Status PosixFileSystem::replace(const std::string& path, std::string_view bytes) {
  struct stat found{};
  const bool is_there = ::lstat(path.c_str(), &found) == 0;
  // A rename would put a file in the place of a device or of a link, `/dev/stdout` among them.
  if (is_there && !S_ISREG(found.st_mode)) {
    return Error{ErrorCode::kAlreadyExists, "is there and is not a plain file", path};
  }
  SystemRandom random;
  const std::string beside = name_beside(path, random);
  Status placed = write_file(beside, bytes);
  if (placed && is_there) placed = adopt_access(beside, path);
  if (placed) placed = rename(beside, path);
  if (!placed) {
    ::unlink(beside.c_str());
    return Error{placed.error().code, placed.error().message, path};
  }
  return sync_directory(directory_of(path));
}

Status PosixFileSystem::adopt_access(const std::string& path, const std::string& model) {
  const FileDescriptor fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat own{};
  if (!fd.is_open() || ::fstat(fd.get(), &own) != 0) return system_error("cannot open", path);
  struct stat found{};
  mode_t mode = 0;
  if (::lstat(model.c_str(), &found) == 0) {
    mode = found.st_mode & kPermissions;
    // Whoever put a file where somebody else writes a report does not get to own the report.
    struct stat folder{};
    const bool is_strangers =
        found.st_uid != own.st_uid &&
        (::stat(directory_of(model).c_str(), &folder) != 0 || found.st_uid != folder.st_uid);
    if (is_strangers) mode &= 0666 & ~masked_mode();
    const bool is_owner_kept = !is_strangers && ::fchown(fd.get(), found.st_uid, found.st_gid) == 0;
    const bool is_group_kept =
        is_owner_kept || found.st_gid == own.st_gid ||
        (!is_strangers && ::fchown(fd.get(), static_cast<uid_t>(-1), found.st_gid) == 0);
    const mode_t everyone = mode & S_IRWXO;
    if (!is_group_kept) mode &= ~static_cast<mode_t>(S_IRWXG) | everyone << 3U;
  } else if (errno == ENOENT || errno == ENOTDIR) {
    mode = 0666 & ~masked_mode();
  } else {
    return system_error("cannot look at", model);
  }
  if (::fchmod(fd.get(), mode) != 0) return system_error("cannot set the mode", path);
  return {};
}

Status PosixFileSystem::make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno == EEXIST) {
    struct stat found{};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
    return Error{ErrorCode::kAlreadyExists, "exists and is not a directory", path};
  }
  return system_error("cannot make the directory", path);
}

Result<std::vector<std::string>> PosixFileSystem::list(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return system_error("cannot list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(directory);
  if (error != 0) {
    errno = error;
    return system_error("cannot list", path);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status PosixFileSystem::sync_directory(const std::string& path) {
  const FileDescriptor fd = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!fd.is_open()) return system_error("cannot open", path);
  if (::fsync(fd.get()) != 0) return system_error("cannot sync", path);
  return {};
}

Status PosixFileSystem::sync_file_system(const std::string& path) {
  const FileDescriptor fd = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!fd.is_open()) return system_error("cannot open", path);
  if (::syncfs(fd.get()) != 0) return system_error("cannot sync", path);
  return {};
}

Status PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error("cannot rename", from);
  return {};
}

Status PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  if (errno != EISDIR || ::rmdir(path.c_str()) != 0) return system_error("cannot remove", path);
  return {};
}

Result<FileInfo> PosixFileSystem::info(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return system_error("cannot open", path);
  FileInfo out;
  out.kind = kind_of(found.st_mode);
  out.size = static_cast<std::uint64_t>(found.st_size);
  out.writable_by_others = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  out.readable_by_others = (found.st_mode & (S_IRGRP | S_IROTH)) != 0;
  out.owned_by_us = found.st_uid == ::geteuid() || found.st_uid == 0;
  if (::stat(path.c_str(), &found) != 0) return out;
  out.identity = std::pair{found.st_dev, found.st_ino};
  out.target_kind = kind_of(found.st_mode);
  out.target_size = static_cast<std::uint64_t>(found.st_size);
  out.target_modified = modified_at(found);
  return out;
}

Result<std::unique_ptr<AppendFile>> PosixFileSystem::lock(const std::string& path) {
  REMIT_TRY_ASSIGN(FileDescriptor fd, open_to_write(path, O_CREAT));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{ErrorCode::kFailedPrecondition, "in use by another process", path};
    }
    return system_error("cannot lock", path);
  }
  return std::unique_ptr<AppendFile>(std::make_unique<PosixAppendFile>(std::move(fd), path));
}

}  // namespace remit
