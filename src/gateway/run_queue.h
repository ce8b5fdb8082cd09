// `remit queue work`, `enqueue` and the rest: deferred work by the configuration of a gateway.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "database/database.h"
#include "gateway/config.h"
#include "gateway/launch.h"
#include "gateway/patience.h"
#include "queue/work_queue.h"
#include "queue/worker.h"

namespace remit::gateway {

/// What the launcher of a worker says.
struct QueueRun {
  std::string config_file;
  Launch launch = {};
  queue::WorkerOptions worker = {};
  queue::Until until = queue::Until::kStopped;
  int notice_fd = 2;  ///< lines for the operator
  Patience patience = {};
};

/// Runs the rows of a queue until SIGTERM, SIGINT or SIGHUP comes, a server ends, or, with
/// Until::kIdle, nothing is due. After a signal no more is taken up, what was started gets a
/// bounded time to finish, the end of the run is recorded and the servers are stopped. Returns what
/// was wrong, before anything was taken up or at the end; empty after an orderly end. Blocks; uses
/// threads of its own; takes the three signals for this process while it runs.
std::vector<Error> run_queue(const QueueRun& run, FileSystem& files, const Clock& clock,
                             Random& random);

/// A queue and the database that it stands in.
struct QueueStore {
  std::unique_ptr<database::Database> database;
  std::unique_ptr<queue::WorkQueue> queue;
};

/// Whether a database is made where there is none.
enum class QueueCreation : std::uint8_t { kNever, kIfAbsent };

/// Opens the queue of a configuration. Errors: `unavailable` for a configuration without `state`;
/// as of reading the digest key and of WorkQueue::open.
Result<QueueStore> open_queue(const Config& config, QueueCreation creation, FileSystem& files,
                              const Clock& clock, Random& random);

/// Puts work off for the principal that `work.principal` names, by default the pinned one; its lane
/// is that principal's tenant. Errors: `not_found` where the reference names nobody now; as of
/// WorkQueue::enqueue.
Result<queue::Enqueued> enqueue_for(const Config& config, queue::Work work, FileSystem& files,
                                    const Clock& clock, Random& random);

}  // namespace remit::gateway
