// Files without a name on the machine's file system.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file_system.h"

namespace remit {
namespace {

Error scratch_error(std::string_view what, const std::string& directory) {
  const int error = errno;
  const bool is_absent = error == ENOENT || error == ENOTDIR;
  return Error{is_absent ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
               fmt::format("{}: {}", what, ::strerrordesc_np(error)), directory};
}

class PosixScratchFile final : public ScratchFile {
 public:
  PosixScratchFile(int fd, std::string directory) : fd_(fd), directory_(std::move(directory)) {}
  ~PosixScratchFile() override { ::close(fd_); }
  PosixScratchFile(const PosixScratchFile&) = delete;
  PosixScratchFile& operator=(const PosixScratchFile&) = delete;

  Status append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return scratch_error("cannot write a scratch file", directory_);
      if (wrote == 0) {
        return Error{ErrorCode::kUnavailable, "cannot write a scratch file: no progress",
                     directory_};
      }
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return {};
  }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) override {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return scratch_error("cannot read a scratch file", directory_);
      if (got == 0) return Error{ErrorCode::kDataLoss, "a scratch file was cut", directory_};
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return {};
  }

 private:
  int fd_;
  std::string directory_;
};

}  // namespace

Result<std::unique_ptr<ScratchFile>> PosixFileSystem::open_scratch(const std::string& directory) {
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  // Not every file system makes files without names: there one is made and loses its name at once.
  const bool is_unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
  if (fd < 0 && is_unsupported) {
    std::string name = directory + "/remit-scratch-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return scratch_error("cannot make a scratch file", directory);
  return std::unique_ptr<ScratchFile>(std::make_unique<PosixScratchFile>(fd, directory));
}

}  // namespace remit
