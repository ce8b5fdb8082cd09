// Closing the logs of writers that died: what is whole is kept, what is torn is cut, and both are
// said.
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

/// What became of one log that was found unclosed with no process holding it.
struct Recovered {
  std::string directory;             ///< `writer-000001`
  std::uint64_t events = 0;          ///< in the log now, with the `evidence.lost` that was added
  std::uint64_t unrooted_lines = 0;  ///< whole events that had no root yet; they have one now
  std::uint64_t torn_bytes = 0;      ///< cut from the end and kept in the segment's `.torn` file
  std::optional<Damage> damage;      ///< found instead; the log was left as it is
  std::optional<Error> error;        ///< met instead; the next opener tries again
};

/// Recovers each log beneath `root` whose lock file is there and held by no one: removes an unused
/// next segment, cuts what is torn, appends `evidence.lost` (`events` -1; `cause` `torn_tail` where
/// something was cut, else `writer_died`, since events that were not waited for may be missing),
/// makes the roots anew, and closes the log. Acknowledged events are never cut. Every step may
/// itself be interrupted and repeated. Errors: those of listing `root`.
Result<std::vector<Recovered>> recover(FileSystem& files, const Clock& clock,
                                       const std::string& root);

}  // namespace remit::evidence
