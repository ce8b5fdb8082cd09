// The text form of a roots file: what stands beside a segment and proves it (spec/evidence.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"

namespace remit::evidence {

inline constexpr std::size_t kMaxRootsLineBytes = 1024;

/// How far a segment goes: its first `lines` lines, their size in the file with each `\n`, and the
/// Merkle root over them.
struct SegmentExtent {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  Sha256Digest root{};
  friend bool operator==(const SegmentExtent&, const SegmentExtent&) = default;
};

/// The first line of a roots file. It says whose segment this is and chains it to the one before;
/// for the first segment everything about the one before is zero.
struct RootsHeader {
  std::string directory;  ///< `writer-000001`
  std::string writer;     ///< the writer's id, as its events carry it
  std::string segment;    ///< `000001`
  std::uint64_t first_seq = 1;
  std::string previous = "000000";
  SegmentExtent previous_extent;
  Sha256Digest previous_chain{};

  /// SHA-256 over the header's text without its digest, which is its last field.
  [[nodiscard]] Sha256Digest digest() const;
  friend bool operator==(const RootsHeader&, const RootsHeader&) = default;
};

/// What a later line of a roots file says.
enum class RootsKind : std::uint8_t {
  kCommit,     ///< these lines were made durable together
  kRemade,     ///< recovery found these lines whole, without a root, and made it
  kContinued,  ///< the segment is complete; another follows
  kClosed,     ///< the segment is complete and the log is closed
};

struct RootsEntry {
  RootsKind kind = RootsKind::kCommit;
  std::uint64_t number = 0;  ///< of this entry in its file, from 1
  SegmentExtent extent;
  Sha256Digest chain{};  ///< where the segment is complete, else zero
  friend bool operator==(const RootsEntry&, const RootsEntry&) = default;
};

/// Whether entries of this kind carry a chain value and end their file.
constexpr bool ends_segment(RootsKind kind) {
  return kind == RootsKind::kContinued || kind == RootsKind::kClosed;
}

/// The value that stands for everything up to this extent: SHA-256 over the header's digest, the
/// lines, the bytes and the root. The header holds the previous segment's, and so on to the first.
Sha256Digest chain_value(const Sha256Digest& header, const SegmentExtent& extent);

/// One line with its `\n`.
std::string encode(const RootsHeader& header);
std::string encode(const RootsEntry& entry);

/// The reverse: only exactly what `encode` writes, without the `\n`. Error: `invalid_input`.
Result<RootsHeader> parse_roots_header(std::string_view line);
Result<RootsEntry> parse_roots_entry(std::string_view line);

/// Whether `tail` can be the rest of an entry whose writing a crash cut short: the beginning of a
/// well-formed one, even an empty beginning.
bool is_torn_roots_entry(std::string_view tail);

/// What a crash can leave of the end of a roots file, of which the way to the disk was not waited
/// for: the beginning of an entry, then zeros where the file grew before its data came, to the end
/// of the file or of a sector; behind a sector's end whatever stood there, as far as it came. Takes
/// the bytes behind the last whole entry piece by piece.
class TornRoots {
 public:
  /// `offset` is where in the file the first byte stands.
  explicit TornRoots(std::uint64_t offset) : at_(offset) {}
  /// False as soon as no crash can have left this.
  bool take(std::span<const std::byte> bytes);
  /// Whether the file may end here.
  [[nodiscard]] bool is_torn_at_end() const;

 private:
  enum class Part : std::uint8_t { kBeginning, kZeros, kRest };
  bool take(char byte);

  std::uint64_t at_;
  Part part_ = Part::kBeginning;
  std::string beginning_;
};

}  // namespace remit::evidence
