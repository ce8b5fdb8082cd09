// One writer's files: segments of lines and the roots beside them, written in the order that a
// crash at any point leaves provable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "evidence/layout.h"
#include "evidence/merkle.h"
#include "evidence/roots.h"
#include "evidence/walk.h"

namespace remit::evidence {

/// Writes one log. Not thread-safe; movable. After an error nothing more may be written through it:
/// whoever opens the directory next recovers what is there.
class LogWriter {
 public:
  /// Makes the next writer's directory in `root` (which exists), with its lock held and its first
  /// segment begun, durable on return. Errors: `limit_exceeded` where the numbers are used up,
  /// which takes a directory that someone made by hand; those of the file system.
  static Result<LogWriter> create(FileSystem& files, Random& random, const std::string& root,
                                  std::uint64_t max_segment_bytes);
  /// Goes on where `walked` ended, undamaged and unclosed. The caller holds the log's lock and has
  /// cut what was torn.
  static Result<LogWriter> resume(FileSystem& files, const std::string& root, Walked walked,
                                  std::unique_ptr<AppendFile> lock);

  /// Appends whole lines, each with its `\n`; durable on return, and with a root that says so of
  /// kind `kind` (kCommit, kRemade). Starts a new segment first where the present one is full.
  /// Errors: `data_loss` where the files are no longer those that were opened, as this writer left
  /// them; those of the file system.
  Status commit(std::string_view lines, RootsKind kind = RootsKind::kCommit);
  /// Writes the closing line, makes the roots durable and lets go of the lock. Nothing may follow.
  /// Errors: as of `commit`; the lock file stays then.
  Status close();

  [[nodiscard]] const std::string& directory() const { return header_.directory; }
  [[nodiscard]] const std::string& writer() const { return header_.writer; }
  [[nodiscard]] std::uint64_t next_seq() const { return header_.first_seq + tree_.size(); }

 private:
  LogWriter(FileSystem& files, std::string root, std::uint64_t max_segment_bytes)
      : files_(&files),
        root_(std::move(root)),
        max_segment_bytes_(max_segment_bytes),
        paths_(root_, number_) {}
  [[nodiscard]] std::string path() const { return root_ + "/" + header_.directory; }
  Status open_segment(OpenMode mode);
  Status take_number(const std::string& unborn);
  Status rotate();
  Status write_entry(RootsKind kind);
  [[nodiscard]] Status check_files() const;

  FileSystem* files_;
  std::string root_;
  std::uint64_t max_segment_bytes_;
  std::uint64_t number_ = 1;  ///< of the segment
  SegmentFiles paths_;        ///< of the segment, once it is open
  std::string lock_path_;
  std::unique_ptr<AppendFile> lock_;
  std::unique_ptr<AppendFile> lines_;
  std::unique_ptr<AppendFile> roots_;
  RootsHeader header_;
  Sha256Digest header_digest_{};
  MerkleTree tree_;
  std::uint64_t bytes_ = 0;
  std::uint64_t roots_bytes_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace remit::evidence
