// Sizes, times and first bytes compared.
#include "base/file_constancy.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace remit {
namespace {

/// Of a file that was emptied and filled again while it was read, the first lines tell.
constexpr std::size_t kHeadBytes = 4096;

/// How often a file is looked at again that may be growing just now, a millisecond apart.
constexpr int kLooks = 100;

std::uint64_t size_of(const struct stat& found) {
  return static_cast<std::uint64_t>(found.st_size);
}

Error changed(const std::string& path, std::string what) {
  return {ErrorCode::kUnavailable, std::move(what), path};
}

}  // namespace

WallTime modified_at(const struct stat& found) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return WallTime{found.st_mtim.tv_sec * kNsPerSecond + found.st_mtim.tv_nsec};
}

FileConstancy::FileConstancy(int fd) : fd_(fd) {
  struct stat found{};
  if (::fstat(fd_, &found) != 0 || !S_ISREG(found.st_mode)) return;
  const off_t at = ::lseek(fd_, 0, SEEK_CUR);
  if (at < 0) return;
  is_watched_ = true;
  begin_ = at_ = static_cast<std::uint64_t>(at);
  size_ = greatest_ = size_of(found);
  modified_ = modified_at(found);
}

void FileConstancy::note(std::span<const std::byte> bytes) {
  if (!is_watched_) return;
  at_ += bytes.size();
  if (head_.size() >= kHeadBytes) return;
  const std::size_t wanted = std::min(kHeadBytes - head_.size(), bytes.size());
  head_.append(reinterpret_cast<const char*>(bytes.data()), wanted);
}

Status FileConstancy::at_end(const std::string& path) {
  if (!is_watched_) return {};
  struct stat found{};
  for (int looks = 0;; ++looks) {
    if (::fstat(fd_, &found) != 0) {
      return changed(path, fmt::format("cannot look at it again: {}", ::strerrordesc_np(errno)));
    }
    // A writer's time is set before its bytes count: between the two a file that grows looks as one
    // that was written in place.
    const bool may_grow = size_of(found) == size_ && modified_at(found) != modified_;
    if (!may_grow || looks == kLooks) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  const std::uint64_t size = size_of(found);
  // Nobody touched it, whatever was read: the size of a file that the kernel makes as it is read
  // says nothing.
  if (size == size_ && modified_at(found) == modified_) return {};
  // What was written behind the end since it was reached is not missed yet: the size of now counts
  // only where it is less.
  const std::uint64_t greatest = std::max(greatest_, at_);
  if (size < greatest || at_ < greatest_) {
    return changed(path, fmt::format("was cut while it was read: it had {} bytes and has {}; {} "
                                     "were read",
                                     greatest, size, at_ - begin_));
  }
  greatest_ = greatest;
  if (modified_at(found) == modified_) return {};
  if (size == size_) {
    return changed(path, fmt::format("was written while it was read, and not behind its end: it "
                                     "has {} bytes as before",
                                     size));
  }
  if (begins_as_it_did()) return {};
  return changed(path, fmt::format("was written anew while it was read: it had {} bytes, has {} "
                                   "and begins with something else",
                                   size_, size));
}

bool FileConstancy::begins_as_it_did() const {
  std::string now(head_.size(), '\0');
  std::size_t filled = 0;
  while (filled < now.size()) {
    const ssize_t got =
        ::pread(fd_, now.data() + filled, now.size() - filled, static_cast<off_t>(begin_ + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    filled += static_cast<std::size_t>(got);
  }
  return now == head_;
}

Status only_grown(const FileInfo& then, const FileInfo& now, const std::string& path) {
  if (then.target_kind != FileInfo::Kind::kFile) return {};
  if (now.identity != then.identity) {
    return changed(path, "was replaced by another file since it was looked at");
  }
  if (now.target_size < then.target_size) {
    return changed(path, fmt::format("was cut since it was looked at: it had {} bytes and has {}",
                                     then.target_size, now.target_size));
  }
  if (now.target_size == then.target_size && now.target_modified != then.target_modified) {
    return changed(path, fmt::format("was written since it was looked at, and not behind its end: "
                                     "it has {} bytes as before",
                                     now.target_size));
  }
  return {};
}

}  // namespace remit
