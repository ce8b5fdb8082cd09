// Retention: removing the oldest segments of logs, and saying so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "evidence/walk.h"

namespace remit::evidence {

/// What became of one log.
struct Pruned {
  std::string directory;       ///< `writer-000001`
  std::uint64_t segments = 0;  ///< removed now
  std::uint64_t events = 0;    ///< in them
  std::uint64_t bytes = 0;
  Removed removed;               ///< in all, now and before
  std::optional<Damage> damage;  ///< found instead; nothing of the log was removed
  std::optional<Error> error;    ///< met instead; a removal that was begun is ended by the next
};

/// Removes from the front of each log beneath `root` the complete segments of which every event is
/// older than `before`, by its own time. A tombstone is durable in the log before the first file is
/// removed, and the log is verified before that. The segment that a writer is at work on is never
/// complete, so that writers need not stop. Errors: `failed_precondition` where another process
/// removes; those of listing `root`.
Result<std::vector<Pruned>> prune(FileSystem& files, const std::string& root, WallTime before);

}  // namespace remit::evidence
