// The Merkle tree over all lines of one log, read from its segments: roots at chosen sizes, and the
// nodes of proofs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/result.h"
#include "evidence/checkpoint.h"
#include "evidence/merkle.h"
#include "evidence/merkle_proof.h"
#include "evidence/walk.h"

namespace remit::evidence {

/// The roots of a log's tree at chosen sizes, gathered while it is walked.
class TreeRoots final : public WalkObserver {
 public:
  explicit TreeRoots(std::vector<std::uint64_t> sizes);

  /// Of that many leaves; nothing where it was not asked for, the log has not as many lines, or it
  /// ends within what retention removed.
  [[nodiscard]] std::optional<Sha256Digest> at(std::uint64_t size) const;

  void begin() override;
  void removed(std::size_t level, const Sha256Digest& subtree) override;
  void line(std::string_view text, const Sha256Digest& leaf) override;
  void segment(const WalkedSegment& segment) override;

 private:
  void note();

  std::vector<std::uint64_t> sizes_;  ///< rising
  MerkleTree tree_;
  std::map<std::uint64_t, Sha256Digest> roots_;
};

/// The root over the first `size` events of a log, which `walk_writer` has found to have as many.
/// Errors: `data_loss` where it has not, or is damaged; those of reading.
Result<Sha256Digest> tree_root(FileSystem& files, const std::string& root,
                               const std::string& directory, std::uint64_t size);

/// Proves that event `seq`, counted from 1, is in the log of `checkpoint`, the signed note
/// `note`. Errors: `invalid_input` where it is none of the checkpoint's; `failed_precondition`
/// where retention removed it; `data_loss` where the log is damaged or not that of the checkpoint;
/// those of reading.
Result<InclusionProof> prove_inclusion(FileSystem& files, const std::string& root,
                                       const std::string& directory, std::uint64_t seq,
                                       const Checkpoint& checkpoint, const std::string& note);

/// Proves that the log of `checkpoint`, the signed note `note`, begins with that of `old`. Errors:
/// `invalid_input` where `old` is of more events; `failed_precondition` where it ends within what
/// retention removed; `data_loss` where the log is damaged or not that of both; those of reading.
Result<ConsistencyProof> prove_consistency(FileSystem& files, const std::string& root,
                                           const std::string& directory, const Checkpoint& old,
                                           const Checkpoint& checkpoint, const std::string& note);

}  // namespace remit::evidence
