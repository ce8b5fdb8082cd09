// Sizes and first bytes from look to look.
#include "cli/followed_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/inputs.h"

namespace remit::cli {
namespace {

constexpr std::size_t kHeadBytes = 4096;
constexpr std::size_t kDepth = 2;  // an evidence directory, and its writers' folders

}  // namespace

bool FollowedFiles::look() {
  losses_.clear();
  for (auto& [path, one] : followed_) one.is_there = false;
  const std::string before = std::exchange(listing_, {});
  for (const std::string& input : inputs_) list(input, kDepth, true);
  // Whether it went to another place among the inputs is known once all are seen.
  for (const auto& [path, one] : std::exchange(displaced_, {})) {
    if (is_elsewhere(one)) continue;
    lose(path,
         fmt::format("was cut while it was followed: it had {} bytes and has {}, so that it is not "
                     "the whole record any more",
                     one.info.target_size, followed_.at(path).info.target_size));
  }
  return listing_ != before;
}

void FollowedFiles::list(const std::string& path, std::size_t depth, bool is_named) {
  const Result<FileInfo> info = files_.info(path);
  if (!info) {
    listing_ += path + "\n";
    return;
  }
  listing_ += fmt::format("{} {} {} {}\n", path, info->size, info->target_size,
                          info->target_modified.unix_ns);
  if (info->target_kind == FileInfo::Kind::kFile) {
    if (is_named || has_event_ending(path.substr(path.rfind('/') + 1))) follow(path, *info);
    return;
  }
  if (info->kind == FileInfo::Kind::kFile || depth == 0) return;
  const Result<std::vector<std::string>> names = files_.list(path);
  if (!names) return;
  for (const std::string& name : *names) list(path + "/" + name, depth - 1, false);
}

void FollowedFiles::follow(const std::string& path, const FileInfo& info) {
  const auto [found, is_new] = followed_.try_emplace(path);
  Followed& one = found->second;
  one.is_there = true;
  const FileInfo before = std::exchange(one.info, info);
  if (is_new) {
    one.head = read_head(path).value_or("");
    return;
  }
  const bool is_same = info.identity == before.identity;
  if (is_same && info.target_size == before.target_size &&
      info.target_modified == before.target_modified) {
    return;
  }
  if (is_segment(path)) return;
  const std::string head = one.head;
  if (std::optional<std::string> now = read_head(path)) one.head = std::move(*now);
  if (info.target_size < before.target_size) {
    displaced_.emplace(path, Followed{before, {}, false});
  } else if (is_same && !one.head.starts_with(head)) {
    lose(path,
         "was written anew while it was followed: it begins with something else, so that it is not "
         "the whole record any more");
  }
}

void FollowedFiles::lose(const std::string& path, std::string what) {
  losses_.push_back({ErrorCode::kUnavailable, std::move(what), path});
  if (!first_loss_) first_loss_ = losses_.back();
}

// Verified at each look; a writer that takes over cuts what is torn at its end.
bool FollowedFiles::is_segment(const std::string& path) const {
  constexpr std::string_view kLines = ".jsonl";
  if (!path.ends_with(kLines)) return false;
  return files_.info(path.substr(0, path.size() - kLines.size()) + ".roots").has_value();
}

std::optional<std::string> FollowedFiles::read_head(const std::string& path) const {
  std::string out(kHeadBytes, '\0');
  const Result<std::unique_ptr<ReadFile>> file = files_.open_read(path);
  if (!file) return std::nullopt;
  const Result<std::size_t> count = (*file)->read(std::as_writable_bytes(std::span{out}));
  if (!count) return std::nullopt;
  out.resize(*count);
  return out;
}

bool FollowedFiles::is_elsewhere(const Followed& gone) const {
  return std::ranges::any_of(followed_, [&](const auto& entry) {
    const Followed& other = entry.second;
    return other.is_there && other.info.identity == gone.info.identity &&
           other.info.target_size >= gone.info.target_size;
  });
}

std::optional<Error> FollowedFiles::incomplete() const {
  if (first_loss_) return first_loss_;
  for (const auto& [path, one] : followed_) {
    // An empty one held nothing: a writer that takes over removes a segment that was not used.
    if (one.is_there || one.info.target_size == 0 || is_elsewhere(one)) continue;
    return Error{ErrorCode::kUnavailable,
                 fmt::format("was there while it was followed, with {} bytes, and is gone",
                             one.info.target_size),
                 path};
  }
  return std::nullopt;
}

}  // namespace remit::cli
