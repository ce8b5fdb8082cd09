// Names in an evidence directory (spec/evidence.md, Layout).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace remit::evidence {

/// `000001`: six digits at least, the number counted from 1.
std::string numbered(std::uint64_t number);
/// The reverse of `numbered`, which must give `text` again; nothing on anything else.
std::optional<std::uint64_t> parse_numbered(std::string_view text);

/// `writer-000001`: the directory of one writer beneath the evidence directory.
std::string writer_directory(std::uint64_t number);
std::optional<std::uint64_t> parse_writer_directory(std::string_view name);

inline constexpr std::string_view kWriterPrefix = "writer-";
/// Where a writer is made before it gets its number; left over only by a crash in between.
inline constexpr std::string_view kUnbornPrefix = "new-";
inline constexpr std::string_view kLinesSuffix = ".jsonl";
inline constexpr std::string_view kRootsSuffix = ".roots";
inline constexpr std::string_view kTornSuffix = ".torn";  ///< what recovery cut off a segment
inline constexpr std::string_view kTombstoneName =
    "tombstone";  ///< for the segments that retention removed
inline constexpr std::string_view kPruneLockName = "prune-lock";  ///< of the whole directory
inline constexpr std::string_view kLockName = "lock";             ///< there until the log is closed

/// The paths of one segment.
struct SegmentFiles {
  SegmentFiles(const std::string& directory, std::uint64_t number);
  std::string name;  ///< `000001`
  std::string lines;
  std::string roots;
  std::string torn;
};

}  // namespace remit::evidence
