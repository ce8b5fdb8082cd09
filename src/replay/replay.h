// Recorded calls through the boundary of a configuration: the same objects as those of `remit
// stdio` and of deferred work, with nobody at the other end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "access/reason.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "enforcement/enforcement_point.h"
#include "gateway/config.h"
#include "gateway/patience.h"
#include "replay/callers.h"
#include "replay/recorded_runs.h"

namespace remit::replay {

/// The machine's clock with its wall time moved, so that a run begins at `begin`. Monotonic time,
/// by which deadlines are kept, is the machine's. Thread-safe.
class MovedClock final : public Clock {
 public:
  /// `clock` outlives it.
  MovedClock(const Clock& clock, WallTime begin)
      : clock_(clock), begin_(begin), started_(clock.monotonic_now()) {}
  [[nodiscard]] WallTime wall_now() const override;
  [[nodiscard]] MonotonicTime monotonic_now() const override { return clock_.monotonic_now(); }

 private:
  const Clock& clock_;
  const WallTime begin_;
  const MonotonicTime started_;
};

/// What is done for every run.
struct Plan {
  std::string route = "agent";           ///< name in the bundle's route inventory
  std::string environment = "replay";    ///< recorded with each run: nobody takes it for a live one
  std::optional<WallTime> at = {};       ///< when each run begins; nothing: now
  std::vector<std::string> before = {};  ///< a command that makes the world anew; empty: none
  int notice_fd = 2;                     ///< lines for the operator
  gateway::Patience patience = {};
};

/// What became of one call.
struct ReplayedCall {
  std::string tool;
  std::string invocation_id;
  std::optional<access::ReasonCode> denied = {};  ///< the reason; nothing where it was allowed
  enforcement::HandlerOutcome outcome = enforcement::HandlerOutcome::kUnknown;  ///< where allowed
  std::string error_type = {};
  std::vector<std::string> policies = {};  ///< that decided, as the record has them
  std::string would_deny = {};  ///< the reason of a denial that did not bind, in shadow mode
};

struct ReplayedRun {
  std::string id;
  std::string case_id;
  Caller caller;
  std::vector<ReplayedCall> calls;
};

/// Makes the calls of `run` for `caller`, one after the other, in a world of their own: the command
/// `plan.before` first, then the configuration's stores, servers and a log of evidence, all of
/// which are closed again. A call that is denied or fails ends nothing. Errors, after which nothing
/// of the run can be relied on: the command does not end with status 0; the configuration's parts
/// cannot be opened, or evidence cannot be written; a server cannot be started or is lost. Blocks.
Result<ReplayedRun> replay_run(const RecordedRun& run, const Caller& caller,
                               const gateway::Config& config, const Plan& plan, FileSystem& files,
                               const Clock& clock, Random& random);

}  // namespace remit::replay
