// Walking a path beneath a root without trusting anything on the way.
#include "attributes/path_attribute_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file_descriptor.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace remit::attributes {
namespace {

constexpr int kMaxLinks = 40;  // of one path, as the kernel has it

using Names = std::vector<std::string>;

/// The names of a path, without empty ones.
Names split(std::string_view path) {
  Names names;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

bool begins_with(const Names& names, const Names& start) {
  return names.size() >= start.size() && std::equal(start.begin(), start.end(), names.begin());
}

/// A descriptor that names a place and can read nothing.
using Place = FileDescriptor;

Error outside() {
  return Error{ErrorCode::kNotFound, "the path leads out of the root"};
}
Error nothing_there() {
  return Error{ErrorCode::kNotFound, "nothing is at the path"};
}

/// Not `unavailable`: the same path will be no better later.
Error unrecordable() {
  return {ErrorCode::kNotFound, "the canonical path is none that a record can carry"};
}

/// Whether `path` can be a canonical id: short enough, UTF-8, and without control characters.
bool is_recordable(std::string_view path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return path.size() <= kMaxIdBytes && std::none_of(path.begin(), path.end(), is_control) &&
         !first_invalid_utf8(path);
}

/// What a system call's failure on a name means.
Error walk_error() {
  const int error = errno;
  for (const int known : {ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, EACCES}) {
    if (error == known) return nothing_there();
  }
  return Error{ErrorCode::kUnavailable,
               fmt::format("cannot follow the path: {}", ::strerrordesc_np(error))};
}

/// One walk from the root. `..` goes back on our own steps and never asks the file system, so that
/// a directory that is moved meanwhile leads nowhere new.
class Walk {
 public:
  Walk(Place root, const Names& root_names, std::size_t bytes_left, const Clock& clock,
       MonotonicTime deadline)
      : root_names_(root_names), bytes_left_(bytes_left), clock_(clock), deadline_(deadline) {
    steps_.push_back(std::move(root));
  }

  Status follow(const Names& names) {
    pending_.assign(names.begin(), names.end());
    while (!pending_.empty()) {
      if (clock_.monotonic_now() >= deadline_) {
        return Error{ErrorCode::kDeadlineExceeded, "not done by the deadline"};
      }
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      REMIT_TRY(step(name));
    }
    return {};
  }

  /// The names from the root to where the walk ended.
  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] Result<struct stat> look() const {
    struct stat found{};
    if (::fstat(steps_.back().get(), &found) != 0) return walk_error();
    return found;
  }

 private:
  Status step(const std::string& name) {
    if (name == ".") return {};
    if (name == "..") {
      if (names_.empty()) return outside();
      steps_.pop_back();
      bytes_left_ += names_.back().size() + 1;
      names_.pop_back();
      return {};
    }
    Place place(::openat(steps_.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!place.is_open()) {
      // The last name may be of something that is yet to be made.
      if (errno != ENOENT || !pending_.empty()) return walk_error();
      exists_ = false;
      return keep(name);
    }
    struct stat found{};
    if (::fstat(place.get(), &found) != 0) return walk_error();
    if (S_ISLNK(found.st_mode)) return follow_link(place);
    // What comes behind a file, be it `.` or `..`, is nothing.
    if (!S_ISDIR(found.st_mode) && !pending_.empty()) return nothing_there();
    steps_.push_back(std::move(place));
    return keep(name);
  }

  Status keep(const std::string& name) {
    if (name.size() + 1 > bytes_left_) return unrecordable();
    bytes_left_ -= name.size() + 1;
    names_.push_back(name);
    return {};
  }

  Status follow_link(const Place& link) {
    if (++links_ > kMaxLinks) return nothing_there();
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
    if (size < 0) return walk_error();
    const std::string_view text(target.data(), static_cast<std::size_t>(size));
    Names names = split(text);
    if (text.starts_with('/')) {
      if (!begins_with(names, root_names_)) return outside();
      names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(root_names_.size()));
      while (!names_.empty()) REMIT_TRY(step(".."));
    }
    pending_.insert(pending_.begin(), names.begin(), names.end());
    return {};
  }

  const Names& root_names_;
  std::size_t bytes_left_;  // of the canonical path
  const Clock& clock_;
  MonotonicTime deadline_;
  std::vector<Place> steps_;  // the root, and one for each of `names_`
  Names names_;
  std::deque<std::string> pending_;
  int links_ = 0;
  bool exists_ = true;
};

std::string revision_of(const struct stat& found) {
  return fmt::format("{}-{}-{}.{:09}", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

}  // namespace

PathAttributeSource::PathAttributeSource(PathSourceOptions options, std::string root,
                                         const Clock& clock)
    : options_(std::move(options)),
      root_(std::move(root)),
      root_names_(split(root_)),
      spelled_names_(options_.root.starts_with('/') ? split(options_.root) : root_names_),
      clock_(clock) {}

Result<std::unique_ptr<PathAttributeSource>> PathAttributeSource::open(
    const PathSourceOptions& options, const Clock& clock) {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(options.root, error);
  if (!error && !std::filesystem::is_directory(root, error) && !error) {
    return Error{ErrorCode::kUnavailable, "the root is not a directory", options.root};
  }
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                 fmt::format("cannot use the root: {}", ::strerrordesc_np(error.value())),
                 options.root};
  }
  if (!is_recordable(root.string())) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the root has a canonical path of more than {} bytes, or one that is "
                             "not UTF-8 or has control characters: no record can carry it",
                             kMaxIdBytes),
                 options.root};
  }
  return std::unique_ptr<PathAttributeSource>(
      new PathAttributeSource(options, root.string(), clock));
}

Result<access::Resource> PathAttributeSource::resolve(const ResourceQuery& query) const {
  const std::string_view path = query.reference;
  if (query.type != options_.type || path.empty() || path.size() > kMaxReferenceBytes ||
      path.find('\0') != std::string_view::npos) {
    return in_place(options_.source, nothing_there());
  }
  Names names = split(path);
  if (path.starts_with('/')) {
    const bool spelled = begins_with(names, spelled_names_);
    if (!spelled && !begins_with(names, root_names_)) return in_place(options_.source, outside());
    const std::size_t taken = spelled ? spelled_names_.size() : root_names_.size();
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  // A slash at the end means a directory, there or yet to be made.
  const bool wants_directory = path.ends_with('/');

  Place root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root.is_open()) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("cannot open the root: {}", ::strerrordesc_np(errno)),
                 options_.source};
  }
  const std::size_t bytes_left = kMaxIdBytes - std::min(kMaxIdBytes, root_.size());
  Walk walk(std::move(root), root_names_, bytes_left, clock_, query.deadline);
  if (Status walked = walk.follow(names); !walked) {
    return in_place(options_.source, std::move(walked).error());
  }

  access::Resource out;
  out.type = options_.type;
  out.tenant = options_.tenant;
  out.source = options_.source;
  out.revision = "absent";
  if (walk.exists()) {
    const Result<struct stat> found = walk.look();
    if (!found) return in_place(options_.source, found.error());
    if (wants_directory && !S_ISDIR(found->st_mode)) {
      return in_place(options_.source, nothing_there());
    }
    out.revision = revision_of(*found);
  }
  const std::string relative = fmt::format("{}", fmt::join(walk.names(), "/"));
  out.id = relative.empty() ? root_ : fmt::format("{}/{}", root_ == "/" ? "" : root_, relative);
  if (!is_recordable(out.id)) return in_place(options_.source, unrecordable());
  out.attributes = {{"exists", walk.exists()}, {"path", relative.empty() ? "." : relative}};
  return out;
}

}  // namespace remit::attributes
