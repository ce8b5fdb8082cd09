// A row between the database and memory: its columns, its seal.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "database/database.h"
#include "queue/work.h"

namespace remit::queue {

/// The columns that `row_of` reads, in its order.
extern const std::string_view kRowColumns;

/// A row as `select` of kRowColumns gave it. A cell that is absent or of another type reads as
/// empty or 0: whoever runs the row finds out.
Row row_of(const database::Row& cells);

/// The seal of what is fixed when the row is enqueued (REQ-QU-006).
std::string seal_of(const Row& row, const DigestKey& key);

/// A digest of the name that the enqueuer's key is: of its queue, principal and tool (REQ-QU-007).
std::string key_name_of(const Row& row, const DigestKey& key);

/// A digest of what makes two pieces of work the same (REQ-QU-007).
std::string content_of(const Row& row, const DigestKey& key);

}  // namespace remit::queue
