// That something was allowed once is no reason why it is allowed again: each try has its decision.
#include "retry.h"

#include <optional>
#include <utility>
#include <vector>

namespace remit::examples {
namespace {

// What was taken up at closing time goes back as it is: nothing of it was begun. What came before
// it in the queue is let go, as if nobody had looked.
Status close_on(Office& office, const std::string& id) {
  std::vector<queue::Row> earlier;
  std::optional<queue::Row> ours;
  while (!ours) {
    REMIT_TRY_ASSIGN(std::optional<queue::Row> row, office.queue().claim(kSecondTries, "desk"));
    if (!row) break;
    if (row->id == id)
      ours = std::move(row);
    else
      earlier.push_back(*std::move(row));
  }
  for (const queue::Row& row : earlier) REMIT_TRY(office.queue().release(row));
  if (!ours) return Error{ErrorCode::kNotFound, "the errand is not in the queue any more"};
  return office.queue().put_back(*ours, {.error_type = "closing_time"});
}

}  // namespace

Result<std::string> put_back(Office& office, const Errand& errand) {
  queue::Work work = work_of(office, errand);
  work.queue = kSecondTries;
  work.max_attempts += 1;  // the one that closing time used up
  REMIT_TRY_ASSIGN(const queue::Enqueued row, office.queue().enqueue(work));
  REMIT_TRY(close_on(office, row.id));
  return row.id;
}

Status try_again(Office& office, const std::string& row, const std::string& by,
                 const std::string& why) {
  REMIT_TRY(office.queue().requeue(
      {.id = row, .by = by, .reason = why, .may_have_run_is_settled = true}));
  return close_on(office, row);
}

}  // namespace remit::examples
