// The scheduled door: an errand for a certain time.
#pragma once

#include <string>

#include "base/clock.h"
#include "queued.h"

namespace remit::examples {

/// Puts the errand off until `when` at least, and gives the id of its row. Errors: of
/// WorkQueue::enqueue.
Result<std::string> put_off_until(Office& office, const Errand& errand, WallTime when);

}  // namespace remit::examples
