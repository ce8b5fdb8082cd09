// The clock opens this door, and a clock is nobody: the row's person is asked for like any other.
#include "scheduled.h"

namespace remit::examples {

Result<std::string> put_off_until(Office& office, const Errand& errand, WallTime when) {
  queue::Work work = work_of(office, errand);
  work.not_before = when;
  REMIT_TRY_ASSIGN(const queue::Enqueued row, office.queue().enqueue(work));
  return row.id;
}

}  // namespace remit::examples
