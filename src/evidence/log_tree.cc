// Roots and proof nodes of one log's tree.
#include "evidence/log_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace remit::evidence {
namespace {

/// The roots over chosen ranges of leaves, no two of which overlap, and one line.
class TreeNodes final : public WalkObserver {
 public:
  TreeNodes(const std::vector<LeafRange>& ranges, std::optional<std::uint64_t> wanted)
      : wanted_(wanted) {
    for (const LeafRange& range : ranges) nodes_[range.begin].range = range;
  }

  /// In the order of `ranges`. Error: `failed_precondition` where one is within what was removed.
  Result<std::vector<Sha256Digest>> take(const std::vector<LeafRange>& ranges) const {
    std::vector<Sha256Digest> out;
    for (const LeafRange& range : ranges) {
      const Node& node = nodes_.at(range.begin);
      if (node.tree.size() != range.end - range.begin) {
        return Error{ErrorCode::kFailedPrecondition,
                     "retention removed events without which this cannot be proven"};
      }
      out.push_back(node.tree.root());
    }
    return out;
  }
  [[nodiscard]] const std::optional<std::string>& wanted_line() const { return line_; }

  void begin() override {
    at_ = 0;
    line_.reset();
    for (auto& [begin, node] : nodes_) node.tree = MerkleTree{};
  }
  void removed(std::size_t level, const Sha256Digest& subtree) override { add(level, subtree); }
  void line(std::string_view text, const Sha256Digest& leaf) override {
    if (at_ == wanted_) line_ = std::string{text};
    add(0, leaf);
  }
  void segment(const WalkedSegment& /*segment*/) override {}

 private:
  struct Node {
    LeafRange range;
    MerkleTree tree;
  };

  void add(std::size_t level, const Sha256Digest& subtree) {
    const std::uint64_t end = at_ + (std::uint64_t{1} << level);
    const auto behind = nodes_.upper_bound(at_);
    if (behind != nodes_.begin()) {
      Node& node = std::prev(behind)->second;
      if (end <= node.range.end) node.tree.add_subtree(level, subtree);
    }
    at_ = end;
  }

  std::optional<std::uint64_t> wanted_;
  std::optional<std::string> line_;
  std::map<std::uint64_t, Node> nodes_;  ///< by where they begin
  std::uint64_t at_ = 0;
};

Result<std::vector<Sha256Digest>> walk_nodes(FileSystem& files, const std::string& root,
                                             const std::string& directory, TreeNodes& nodes,
                                             const std::vector<LeafRange>& path,
                                             std::uint64_t size) {
  REMIT_TRY_ASSIGN(const Walked walked, walk_writer(files, root, directory, {.observer = &nodes}));
  if (walked.state.damage) {
    return Error{ErrorCode::kDataLoss, walked.state.damage->to_string()};
  }
  if (walked.state.events + walked.state.unrooted_lines < size) {
    return Error{ErrorCode::kDataLoss,
                 fmt::format("rolled back: {} events are there, and the checkpoint is of {}",
                             walked.state.events, size),
                 root + "/" + directory};
  }
  return nodes.take(path);
}

Error not_the_log(const std::string& root, const std::string& directory) {
  return Error{ErrorCode::kDataLoss, "rewritten: this is not the log of the checkpoint",
               root + "/" + directory};
}

}  // namespace

TreeRoots::TreeRoots(std::vector<std::uint64_t> sizes) : sizes_(std::move(sizes)) {
  std::sort(sizes_.begin(), sizes_.end());
}

std::optional<Sha256Digest> TreeRoots::at(std::uint64_t size) const {
  const auto found = roots_.find(size);
  if (found == roots_.end()) return std::nullopt;
  return found->second;
}

void TreeRoots::note() {
  if (std::binary_search(sizes_.begin(), sizes_.end(), tree_.size())) {
    roots_[tree_.size()] = tree_.root();
  }
}

void TreeRoots::begin() {
  tree_ = MerkleTree{};
  roots_.clear();
  note();
}

void TreeRoots::removed(std::size_t level, const Sha256Digest& subtree) {
  // Within what was removed, other sizes are no longer known.
  tree_.add_subtree(level, subtree);
  note();
}

void TreeRoots::line(std::string_view /*text*/, const Sha256Digest& leaf) {
  tree_.add_subtree(0, leaf);
  note();
}

void TreeRoots::segment(const WalkedSegment& /*segment*/) {}

Result<Sha256Digest> tree_root(FileSystem& files, const std::string& root,
                               const std::string& directory, std::uint64_t size) {
  TreeRoots roots({size});
  REMIT_TRY_ASSIGN(const Walked walked, walk_writer(files, root, directory, {.observer = &roots}));
  if (walked.state.damage) {
    return Error{ErrorCode::kDataLoss, walked.state.damage->to_string()};
  }
  const auto found = roots.at(size);
  if (found) return *found;
  return Error{ErrorCode::kDataLoss, fmt::format("{} events are no longer there", size),
               root + "/" + directory};
}

Result<InclusionProof> prove_inclusion(FileSystem& files, const std::string& root,
                                       const std::string& directory, std::uint64_t seq,
                                       const Checkpoint& checkpoint, const std::string& note) {
  if (seq == 0 || seq > checkpoint.size) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("event {} is none of the {} of the checkpoint", seq, checkpoint.size)};
  }
  const std::uint64_t index = seq - 1;
  const std::vector<LeafRange> path = inclusion_path(index, checkpoint.size);
  TreeNodes nodes(path, index);
  REMIT_TRY_ASSIGN(auto found, walk_nodes(files, root, directory, nodes, path, checkpoint.size));
  if (!nodes.wanted_line()) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("event {} is no longer there: retention removed it", seq),
                 root + "/" + directory};
  }
  InclusionProof out{*nodes.wanted_line(), index, std::move(found), note};
  const Sha256Digest leaf = MerkleTree{}.add(out.event);
  if (!proves_inclusion(index, leaf, {0, checkpoint.size}, checkpoint.root, out.nodes)) {
    return not_the_log(root, directory);
  }
  return out;
}

Result<ConsistencyProof> prove_consistency(FileSystem& files, const std::string& root,
                                           const std::string& directory, const Checkpoint& old,
                                           const Checkpoint& checkpoint, const std::string& note) {
  if (old.size > checkpoint.size) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the older checkpoint is of {} events, and the newer of {}", old.size,
                             checkpoint.size)};
  }
  if (old.size == 0) return ConsistencyProof{0, {}, note};
  const std::vector<LeafRange> path = consistency_path(old.size, checkpoint.size);
  TreeNodes nodes(path, std::nullopt);
  REMIT_TRY_ASSIGN(auto found, walk_nodes(files, root, directory, nodes, path, checkpoint.size));
  if (!proves_consistency(old.size, old.root, checkpoint.size, checkpoint.root, found)) {
    return not_the_log(root, directory);
  }
  return ConsistencyProof{old.size, std::move(found), note};
}

}  // namespace remit::evidence
