// What stands in a log for the segments that retention removed: how much it was, and what the rest
// is proven with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/file_system.h"
#include "base/result.h"
#include "evidence/roots.h"

namespace remit::evidence {

/// The first `segments` segments of a log, all of them removed. It is no proof that they were what
/// they were: whoever can write the log can write this. What it says of the tree is held against
/// checkpoints, and of the chain against heads.
struct Tombstone {
  std::string directory;       ///< `writer-000001`
  std::string writer;          ///< the writer's id
  std::uint64_t segments = 0;  ///< removed, counted from the first
  std::uint64_t events = 0;    ///< in them
  std::uint64_t bytes = 0;
  std::string first_time;              ///< `time` of the oldest of the events, RFC 3339
  std::string last_time;               ///< of the newest
  bool is_end = false;                 ///< whether the last of them closed the log
  SegmentExtent extent;                ///< of the last of them
  Sha256Digest chain{};                ///< behind it
  std::vector<Sha256Digest> subtrees;  ///< of the log's tree over `events`, from the left

  friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

std::string encode(const Tombstone& tombstone);
/// Only what `encode` writes. Error: `invalid_input`.
Result<Tombstone> parse_tombstone(std::string_view text);

/// The text of the tombstone in `path`, a writer's directory; empty where there is none. Errors:
/// those of reading.
Result<std::string> read_tombstone(FileSystem& files, const std::string& path);

}  // namespace remit::evidence
