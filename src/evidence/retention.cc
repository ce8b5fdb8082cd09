// Removing the oldest segments of logs.
#include "evidence/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/rfc3339.h"
#include "event/event.h"
#include "evidence/layout.h"
#include "evidence/tombstone.h"

namespace remit::evidence {
namespace {

/// Finds how much of the front of a log is old, and what will stand for it.
class OldSegments final : public WalkObserver {
 public:
  explicit OldSegments(WallTime before) : before_(before) {}

  /// How far the log goes up to the end of its last old segment; nothing where none is.
  [[nodiscard]] const std::optional<Tombstone>& found() const { return found_; }

  void begin() override { *this = OldSegments(before_); }
  void removed(std::size_t level, const Sha256Digest& subtree) override {
    tree_.add_subtree(level, subtree);
  }
  void line(std::string_view text, const Sha256Digest& leaf) override {
    tree_.add_subtree(0, leaf);
    bytes_ += text.size() + 1;
    if (!is_old_) return;
    const auto time = decoder_.decode(text, event_)
                          ? parse_rfc3339(event_.text(event::Field::kTime))
                          : Result<WallTime>{Error{}};
    // Of what age an event without a time is nobody knows.
    is_old_ = time && *time < before_;
    if (!is_old_) return;
    first_ = first_ ? std::min(*first_, *time) : *time;
    last_ = last_ ? std::max(*last_, *time) : *time;
  }
  void segment(const WalkedSegment& segment) override {
    // What stands behind a segment that stays, stays.
    if (!is_old_ || segment.extent.lines == 0) {
      is_old_ = false;
      return;
    }
    Tombstone out;
    out.segments = segment.number;
    out.events = tree_.size();
    out.bytes = bytes_;
    out.first_time = format_rfc3339(*first_);
    out.last_time = format_rfc3339(*last_);
    out.is_end = segment.is_end;
    out.extent = segment.extent;
    out.chain = segment.chain;
    out.subtrees = tree_.subtrees();
    found_ = std::move(out);
  }

 private:
  WallTime before_;
  bool is_old_ = true;       ///< everything so far
  std::uint64_t bytes_ = 0;  ///< of lines that are there
  MerkleTree tree_;
  std::optional<WallTime> first_;
  std::optional<WallTime> last_;
  std::optional<Tombstone> found_;
  event::Decoder decoder_;
  event::Event event_;
};

/// Takes the times of what was removed before into the account.
Status add_earlier(const Removed& earlier, Tombstone& tombstone) {
  tombstone.bytes += earlier.bytes;
  if (earlier.segments == 0) return {};
  REMIT_TRY_ASSIGN(const WallTime first, parse_rfc3339(earlier.first_time));
  REMIT_TRY_ASSIGN(const WallTime last, parse_rfc3339(earlier.last_time));
  REMIT_TRY_ASSIGN(const WallTime now_first, parse_rfc3339(tombstone.first_time));
  REMIT_TRY_ASSIGN(const WallTime now_last, parse_rfc3339(tombstone.last_time));
  tombstone.first_time = format_rfc3339(std::min(first, now_first));
  tombstone.last_time = format_rfc3339(std::max(last, now_last));
  return {};
}

/// Removes the files of the first `segments` segments, which the tombstone stands for.
Status remove_files(FileSystem& files, const std::string& path, std::uint64_t segments) {
  REMIT_TRY_ASSIGN(const auto names, files.list(path));
  bool is_any_removed = false;
  for (const std::string& name : names) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const auto number = parse_numbered(std::string_view{name}.substr(0, dot));
    const std::string_view suffix = std::string_view{name}.substr(dot);
    const bool is_ours = suffix == kLinesSuffix || suffix == kRootsSuffix || suffix == kTornSuffix;
    if (!number || *number > segments || !is_ours) continue;
    REMIT_TRY(files.remove(path + "/" + name));
    is_any_removed = true;
  }
  return is_any_removed ? files.sync_directory(path) : Status{};
}

Result<Pruned> prune_one(FileSystem& files, const std::string& root, const std::string& directory,
                         WallTime before) {
  Pruned out;
  out.directory = directory;
  OldSegments old(before);
  REMIT_TRY_ASSIGN(const Walked walked, walk_writer(files, root, directory, {.observer = &old}));
  out.damage = walked.state.damage;
  out.removed = walked.state.removed;
  if (out.damage) return out;
  const std::string path = root + "/" + directory;
  if (old.found()) {
    Tombstone tombstone = *old.found();
    tombstone.directory = directory;
    tombstone.writer = walked.state.writer;
    REMIT_TRY(add_earlier(walked.state.removed, tombstone));
    REMIT_TRY(files.replace(fmt::format("{}/{}", path, kTombstoneName), encode(tombstone)));
    const Removed& earlier = walked.state.removed;
    out.segments = tombstone.segments - earlier.segments;
    out.events = tombstone.events - earlier.events;
    out.bytes = tombstone.bytes - earlier.bytes;
    out.removed = {tombstone.segments,   tombstone.events,    tombstone.bytes,
                   tombstone.first_time, tombstone.last_time, 0};
  }
  // Also what an earlier removal did not get to.
  if (out.removed.segments > 0) REMIT_TRY(remove_files(files, path, out.removed.segments));
  out.removed.files_left = 0;
  return out;
}

}  // namespace

Result<std::vector<Pruned>> prune(FileSystem& files, const std::string& root, WallTime before) {
  REMIT_TRY_ASSIGN(const auto names, files.list(root));
  // Two at once would each write its own tombstone over the other's.
  REMIT_TRY_ASSIGN(const auto lock, files.lock(fmt::format("{}/{}", root, kPruneLockName)));
  std::vector<Pruned> out;
  for (const std::string& name : names) {
    if (!parse_writer_directory(name)) continue;
    auto one = prune_one(files, root, name, before);
    if (one) {
      out.push_back(*std::move(one));
      continue;
    }
    Pruned failed;
    failed.directory = name;
    failed.error = std::move(one).error();
    out.push_back(std::move(failed));
  }
  return out;
}

}  // namespace remit::evidence
