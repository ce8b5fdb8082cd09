// One writer's log read from its first byte to its last, and everything about it checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/result.h"
#include "evidence/merkle.h"
#include "evidence/roots.h"

namespace remit::evidence {

enum class DamageKind : std::uint8_t {
  kWriterMissing,       ///< a writer's directory is gone from the row
  kSegmentMissing,      ///< a segment, or one of its two files, is gone
  kSegmentForeign,      ///< a segment stands where another belongs, or where none does
  kLinesAltered,        ///< lines do not have the root that was recorded for them
  kLinesCut,            ///< lines that a root covers are gone
  kLinesAdded,          ///< lines stand behind the end of a complete segment
  kRootsMalformed,      ///< a roots file is not in its form
  kRootsAltered,        ///< a roots file contradicts itself or what it stands beside
  kRootsCut,            ///< a roots file ends although the log went on or was closed
  kTombstoneMalformed,  ///< what stands for removed segments is not in its form, or of another log
  kHeadRolledBack,      ///< the head that was kept knows more than the log
  kHeadContradicted,    ///< the log is not the one that the head was taken of
  kCheckpointRolledBack,    ///< a signed checkpoint knows more than the log
  kCheckpointContradicted,  ///< the log is not the one that was signed
};

/// `lines_altered` and so on.
std::string_view damage_kind_name(DamageKind kind);

/// One place where a log is not what was written.
struct Damage {
  DamageKind kind = DamageKind::kLinesAltered;
  std::string file;          ///< path, or the directory's where no file can be named
  std::uint64_t line = 0;    ///< from 1; 0 where the whole file is meant
  std::uint64_t offset = 0;  ///< byte at which that line starts
  std::string what;          ///< in words

  /// `FILE:LINE (byte OFFSET): what`.
  [[nodiscard]] std::string to_string() const;
};

/// What retention removed from the front of a log.
struct Removed {
  std::uint64_t segments = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::string first_time;        ///< RFC 3339, of the oldest event; empty where none was removed
  std::string last_time;         ///< of the newest
  std::uint64_t files_left = 0;  ///< of those segments, by a removal that was cut short
};

/// What one writer's log holds. Counts are of what is proven: lines under a root; and of what was,
/// before retention removed it.
struct WriterState {
  std::string directory;  ///< `writer-000001`
  std::string writer;     ///< the id in its events
  std::uint64_t segments = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  Removed removed;  ///< counted in the three above
  bool closed = false;
  std::uint64_t remade_roots = 0;  ///< roots that recovery made after a crash
  std::uint64_t unrooted_lines =
      0;                         ///< whole events behind the last root: of a live or dead writer
  std::uint64_t torn_bytes = 0;  ///< what a crash cut short at the end of the lines
  Sha256Digest chain{};          ///< stands for all `events`
  std::optional<Sha256Digest> chain_at_target;  ///< stands for the first `target_events`
  std::optional<Damage> damage;                 ///< the first found; nothing is read behind it
};

/// Where an unclosed log ends, for the one that closes it.
struct LogEnd {
  std::uint64_t segment = 0;
  std::uint64_t first_seq = 1;   ///< of the segment
  Sha256Digest header_digest{};  ///< of the segment's roots file
  MerkleTree tree;               ///< over all whole events, rooted or not
  std::uint64_t bytes = 0;       ///< of these
  std::uint64_t entries = 0;     ///< whole ones in the roots file
  std::uint64_t roots_bytes = 0;
  bool rotation_unfinished = false;  ///< files of a next segment stand there, unused
};

struct Walked {
  WriterState state;
  LogEnd end;  ///< meaningful where there is no damage and the log is not closed
};

/// A segment that is complete, as it was read.
struct WalkedSegment {
  std::uint64_t number = 0;
  bool is_end = false;  ///< whether it closes the log
  SegmentExtent extent;
  Sha256Digest chain{};  ///< behind it
};

/// Is told what a walk reads, in the order of the log. What it is told last may turn out to be
/// damaged or unproven: the walk's result says how far the log is proven.
class WalkObserver {
 public:
  virtual ~WalkObserver() = default;
  /// A walk begins; perhaps again, and what was told before is void.
  virtual void begin() = 0;
  /// What retention removed, as 2^`level` leaves of the log's tree; before all lines.
  virtual void removed(std::size_t level, const Sha256Digest& subtree) = 0;
  /// The next line, readable for `event::Decoder::kPadding` bytes past its end, and its leaf.
  virtual void line(std::string_view text, const Sha256Digest& leaf) = 0;
  /// The lines since the last call are a segment.
  virtual void segment(const WalkedSegment& segment) = 0;
};

struct WalkOptions {
  std::optional<std::uint64_t> target_events = std::nullopt;  ///< whose chain value is wanted
  WalkObserver* observer = nullptr;
};

/// Reads the log in `root`/`directory`. Memory: two lines and the tree. Errors are those of reading
/// (`unavailable`); damage is a result. A writer may be at work meanwhile: what it adds is seen or
/// not; and so may retention, of which the state before or after is read.
Result<Walked> walk_writer(FileSystem& files, const std::string& root, const std::string& directory,
                           const WalkOptions& options = {});

}  // namespace remit::evidence
