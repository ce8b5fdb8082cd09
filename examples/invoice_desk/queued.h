// The queued door: what is asked for now and done when a worker comes to it.
#pragma once

#include <string>

#include "office.h"
#include "queue/work.h"
#include "queue/worker.h"

namespace remit::examples {

/// An errand for later: whose it is, by name. That the name is the asker's own is seen to by
/// whoever takes the errand in; what the person may do is not asked before it runs.
struct Errand {
  std::string person;
  std::string tool;
  std::string arguments_json;
  std::string key = {};
};

/// The errand as work, in the lane of the person's tenant.
queue::Work work_of(Office& office, const Errand& errand);

/// Puts the errand off, and gives the id of its row. Errors: of WorkQueue::enqueue.
Result<std::string> put_off(Office& office, const Errand& errand);

/// The worker of `queue`: it asks the boundary for each row as if nobody had ever asked.
queue::Worker worker_of(Office& office, const std::string& queue);

/// What became of the row, as the one whose errand it is may know: a word, and no reason.
Result<Told> told_of_row(Office& office, const std::string& row);

}  // namespace remit::examples
