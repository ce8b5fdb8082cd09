// A file system in memory that fails where a test wants it and loses power as real ones do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "tests/support/seeded_random.h"

namespace remit::testing {

/// Keeps apart what was written and what was synced, for contents and for names. Each operation
/// counts as one step; the chosen step fails, and every later one too if the fault is a crash.
/// Thread-safe.
class FaultyFileSystem final : public FileSystem {
 public:
  enum class Fault : std::uint8_t {
    kError,  ///< the step does nothing and fails; the system lives on
    kShort,  ///< an append writes half of its bytes and fails; other steps as kError
    kCrash   ///< as kShort, and nothing succeeds any more until `restart`
  };
  /// What of the unsynced contents a loss of power leaves.
  enum class Loss : std::uint8_t { kNothing, kHalf, kEverything };

  FaultyFileSystem() { root_->is_directory = true; }

  /// The step with this number, counted from 1 and from now, fails.
  void fail_at(std::uint64_t step, Fault fault) {
    const MutexLock lock(mutex_);
    steps_ = 0;
    fail_at_ = step;
    fault_ = fault;
    failed_ = false;
  }
  /// From now on every step fails and does nothing, as for a process that is gone, until `restart`
  /// or `revive`. What the test still destroys cannot write its last words then.
  void kill() {
    fail_at(1, Fault::kCrash);
    const MutexLock lock(mutex_);
    failed_ = true;
  }
  /// No further step fails.
  void heal() { fail_at(0, Fault::kError); }
  /// Whether the chosen step was reached.
  [[nodiscard]] bool has_failed() {
    const MutexLock lock(mutex_);
    return failed_;
  }
  /// Loses power: locks fall, names go back to the synced ones, contents lose what was not synced
  /// as `loss` says. Files that are still open write into nothing from then on.
  void restart(Loss loss) {
    heal();
    const MutexLock lock(mutex_);
    root_ = survivor(*root_, loss);
  }
  /// Loses power as disks do that write in an order of their own: of each file any number of the
  /// unsynced bytes is left, perhaps with zeros behind them where it grew before its data came, or
  /// of each sector all or nothing, with zeros in its place; and of each directory the synced names
  /// or the last ones. Equal seeds lose the same.
  void restart_in_disorder(std::uint64_t seed) {
    heal();
    const MutexLock lock(mutex_);
    SeededRandom random(seed);
    root_ = scattered(*root_, random);
  }
  /// After the process died, and the machine lived: locks fell, contents stay.
  void revive() {
    heal();
    const MutexLock lock(mutex_);
    root_ = clone(*root_);
  }

  Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const NodePtr node, file(path));
    if (node->now.size() > max_bytes) return Error{ErrorCode::kLimitExceeded, "too large", path};
    return node->now;
  }

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(NodePtr node, file(path));
    return std::unique_ptr<ReadFile>(std::make_unique<Reader>(*this, std::move(node), path));
  }

  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path, OpenMode mode) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(NodePtr node, make_file(path, mode));
    return std::unique_ptr<AppendFile>(std::make_unique<Appender>(*this, std::move(node), path));
  }

  Status replace(const std::string& path, std::string_view bytes) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const Place place, find(path));
    auto node = std::make_shared<Node>();
    node->now = node->durable = std::string{bytes};
    place.parent->children[place.name] = std::move(node);
    place.parent->durable_children = place.parent->children;
    return {};
  }

  Status make_directory(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (!place.node) {
      auto node = std::make_shared<Node>();
      node->is_directory = true;
      place.parent->children[place.name] = std::move(node);
    } else if (!place.node->is_directory) {
      return Error{ErrorCode::kAlreadyExists, "exists and is not a directory", path};
    }
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const NodePtr node, directory(path));
    std::vector<std::string> names;
    for (const auto& [name, child] : node->children) names.push_back(name);
    return names;
  }

  Status sync_directory(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const NodePtr node, directory(path));
    node->durable_children = node->children;
    return {};
  }

  Status sync_file_system(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY(directory(path));
    make_durable(*root_);
    return {};
  }

  Status rename(const std::string& from, const std::string& to) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(from));
    REMIT_TRY_ASSIGN(const Place source, find(from));
    REMIT_TRY_ASSIGN(const Place target, find(to));
    if (!source.node) return Error{ErrorCode::kNotFound, "no such file", from};
    if (target.node && !target.node->children.empty()) {
      return Error{ErrorCode::kAlreadyExists, "directory not empty", from};
    }
    target.parent->children[target.name] = source.node;
    source.parent->children.erase(source.name);
    return {};
  }

  Status remove(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (!place.node) return Error{ErrorCode::kNotFound, "no such file", path};
    if (!place.node->children.empty()) {
      return Error{ErrorCode::kAlreadyExists, "directory not empty", path};
    }
    place.parent->children.erase(place.name);
    return {};
  }

  Result<FileInfo> info(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (!place.node) return Error{ErrorCode::kNotFound, "no such file", path};
    FileInfo out;
    out.kind = place.node->is_directory ? FileInfo::Kind::kDirectory : FileInfo::Kind::kFile;
    out.size = place.node->now.size();
    out.owned_by_us = true;
    return out;
  }

  Result<std::unique_ptr<AppendFile>> lock(const std::string& path) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(path));
    REMIT_TRY_ASSIGN(NodePtr node, make_file(path, OpenMode::kMayCreate));
    if (node->is_locked) return Error{ErrorCode::kFailedPrecondition, "in use", path};
    node->is_locked = true;
    auto held = std::make_unique<Appender>(*this, std::move(node), path);
    held->holds_lock = true;
    return std::unique_ptr<AppendFile>(std::move(held));
  }

  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override {
    const MutexLock lock(mutex_);
    REMIT_TRY(step(directory));
    return std::unique_ptr<ScratchFile>(std::make_unique<Scratch>(*this, directory));
  }

 private:
  struct Node {
    bool is_directory = false;
    bool is_locked = false;
    std::string now;
    std::string durable;
    std::map<std::string, std::shared_ptr<Node>> children;
    std::map<std::string, std::shared_ptr<Node>> durable_children;
  };
  using NodePtr = std::shared_ptr<Node>;
  /// Where a path leads: the node, null if there is none, and where its name stands.
  struct Place {
    NodePtr parent;
    std::string name;
    NodePtr node;
  };

  class Reader final : public ReadFile {
   public:
    Reader(FaultyFileSystem& files, NodePtr node, std::string path)
        : files_(files), node_(std::move(node)), path_(std::move(path)) {}
    Result<std::size_t> read(std::span<std::byte> out) override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      const auto left = std::as_bytes(std::span{node_->now}).subspan(at_);
      const std::size_t count = std::min(out.size(), left.size());
      std::copy_n(left.begin(), count, out.begin());
      at_ += count;
      return count;
    }

   private:
    FaultyFileSystem& files_;
    NodePtr node_;
    std::string path_;
    std::size_t at_ = 0;
  };

  class Appender final : public AppendFile {
   public:
    Appender(FaultyFileSystem& files, NodePtr node, std::string path)
        : files_(files), node_(std::move(node)), path_(std::move(path)) {}
    ~Appender() override {
      const MutexLock lock(files_.mutex_);
      if (holds_lock) node_->is_locked = false;
    }
    Appender(const Appender&) = delete;
    Appender& operator=(const Appender&) = delete;

    Status append(std::span<const std::byte> bytes) override {
      const MutexLock lock(files_.mutex_);
      const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      const bool was_whole = !files_.failed_;
      Status stepped = files_.step(path_);
      const bool is_short = was_whole && files_.fault_ != Fault::kError;
      if (!stepped && is_short) node_->now += text.substr(0, text.size() / 2);
      if (stepped) node_->now += text;
      return stepped;
    }
    Status sync() override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      node_->durable = node_->now;
      return {};
    }
    Status truncate(std::uint64_t size) override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      node_->now.resize(static_cast<std::size_t>(size));
      return {};
    }
    [[nodiscard]] Result<std::uint64_t> size() const override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      return static_cast<std::uint64_t>(node_->now.size());
    }
    [[nodiscard]] Result<bool> stands_at(const std::string& path) const override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path));
      const Result<NodePtr> found = files_.file(path);
      return found && *found == node_;
    }
    bool holds_lock = false;

   private:
    FaultyFileSystem& files_;
    NodePtr node_;
    std::string path_;
  };

  class Scratch final : public ScratchFile {
   public:
    Scratch(FaultyFileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
    Status append(std::span<const std::byte> bytes) override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      return {};
    }
    Status read_at(std::uint64_t offset, std::span<std::byte> out) override {
      const MutexLock lock(files_.mutex_);
      REMIT_TRY(files_.step(path_));
      const bool is_there = offset <= bytes_.size() && out.size() <= bytes_.size() - offset;
      if (!is_there) return Error{ErrorCode::kDataLoss, "cut", path_};
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
      return {};
    }

   private:
    FaultyFileSystem& files_;
    std::string path_;
    std::vector<std::byte> bytes_;
  };

  Status step(const std::string& path) REMIT_REQUIRES(mutex_) {
    ++steps_;
    const bool fails = steps_ == fail_at_ || (failed_ && fault_ == Fault::kCrash);
    if (!fails) return {};
    failed_ = true;
    return Error{ErrorCode::kUnavailable, "the test makes this fail", path};
  }

  Result<Place> find(const std::string& path) REMIT_REQUIRES(mutex_) {
    std::vector<Place> way{{root_, "", root_}};
    std::size_t at = 0;
    while (at < path.size()) {
      const std::size_t slash = std::min(path.find('/', at), path.size());
      const std::string name = path.substr(at, slash - at);
      at = slash + 1;
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        if (way.size() > 1) way.pop_back();
        continue;
      }
      const NodePtr parent = way.back().node;
      if (!parent || !parent->is_directory) {
        return Error{ErrorCode::kNotFound, "no such directory", path};
      }
      const auto found = parent->children.find(name);
      way.push_back({parent, name, found == parent->children.end() ? nullptr : found->second});
    }
    return way.back();
  }
  Result<NodePtr> file(const std::string& path) REMIT_REQUIRES(mutex_) {
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (!place.node) return Error{ErrorCode::kNotFound, "no such file", path};
    if (place.node->is_directory) return Error{ErrorCode::kInvalidInput, "a directory", path};
    return place.node;
  }
  Result<NodePtr> directory(const std::string& path) REMIT_REQUIRES(mutex_) {
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (!place.node || !place.node->is_directory) {
      return Error{ErrorCode::kNotFound, "no such directory", path};
    }
    return place.node;
  }
  Result<NodePtr> make_file(const std::string& path, OpenMode mode) REMIT_REQUIRES(mutex_) {
    REMIT_TRY_ASSIGN(const Place place, find(path));
    if (place.node && mode == OpenMode::kMustCreate) {
      return Error{ErrorCode::kAlreadyExists, "exists", path};
    }
    if (place.node) return place.node;
    if (mode == OpenMode::kMustExist) return Error{ErrorCode::kNotFound, "no such file", path};
    auto node = std::make_shared<Node>();
    place.parent->children[place.name] = node;
    return node;
  }

  static void make_durable(Node& node) {
    node.durable = node.now;
    for (const auto& [name, child] : node.children) make_durable(*child);
    node.durable_children = node.children;
  }
  static NodePtr survivor(const Node& node, Loss loss) {
    auto out = std::make_shared<Node>();
    out->is_directory = node.is_directory;
    out->now = node.durable;
    // Only growth can survive in part; a cut that was not synced is undone.
    if (loss != Loss::kEverything && node.now.starts_with(node.durable)) {
      const std::string_view unsynced = std::string_view{node.now}.substr(node.durable.size());
      out->now += loss == Loss::kHalf ? unsynced.substr(0, unsynced.size() / 2) : unsynced;
    }
    out->durable = out->now;
    for (const auto& [name, child] : node.durable_children) {
      out->children[name] = survivor(*child, loss);
    }
    out->durable_children = out->children;
    return out;
  }
  /// Each sector of what stands from `synced` on came to the disk, or not.
  static void lose_sectors(std::string& bytes, std::size_t synced, SeededRandom& random) {
    constexpr std::size_t kSectorBytes = 512;
    for (std::size_t at = synced; at < bytes.size();) {
      const std::size_t end = std::min(bytes.size(), (at / kSectorBytes + 1) * kSectorBytes);
      if (random.number(2) == 0)
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(end), '\0');
      at = end;
    }
  }
  static NodePtr scattered(const Node& node, SeededRandom& random) {
    auto out = std::make_shared<Node>();
    out->is_directory = node.is_directory;
    out->now = node.durable;
    if (node.now.starts_with(node.durable) && random.number(2) == 0) {
      out->now = node.now;
      lose_sectors(out->now, node.durable.size(), random);
    } else if (node.now.starts_with(node.durable)) {
      const std::string_view unsynced = std::string_view{node.now}.substr(node.durable.size());
      const std::uint64_t kept = random.number(unsynced.size() + 1);
      const std::uint64_t grown = random.number(4) == 0 ? unsynced.size() - kept : 0;
      out->now += unsynced.substr(0, static_cast<std::size_t>(kept));
      out->now.append(static_cast<std::size_t>(random.number(grown + 1)), '\0');
    } else if (random.number(2) == 0) {
      out->now = node.now;  // A cut came to the disk without a sync.
    }
    out->durable = out->now;
    const auto& names = random.number(2) == 0 ? node.children : node.durable_children;
    for (const auto& [name, child] : names) out->children[name] = scattered(*child, random);
    out->durable_children = out->children;
    return out;
  }
  static NodePtr clone(const Node& node) {
    auto out = std::make_shared<Node>();
    out->is_directory = node.is_directory;
    out->now = node.now;
    out->durable = node.durable;
    std::map<const Node*, NodePtr> cloned;
    for (const auto& [name, child] : node.children) {
      out->children[name] = cloned[child.get()] = clone(*child);
    }
    for (const auto& [name, child] : node.durable_children) {
      NodePtr& copy = cloned[child.get()];
      if (!copy) copy = clone(*child);
      out->durable_children[name] = copy;
    }
    return out;
  }

  Mutex mutex_;
  NodePtr root_ REMIT_GUARDED_BY(mutex_) = std::make_shared<Node>();
  std::uint64_t steps_ REMIT_GUARDED_BY(mutex_) = 0;
  std::uint64_t fail_at_ REMIT_GUARDED_BY(mutex_) = 0;
  Fault fault_ REMIT_GUARDED_BY(mutex_) = Fault::kError;
  bool failed_ REMIT_GUARDED_BY(mutex_) = false;
};

}  // namespace remit::testing
