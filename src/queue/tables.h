// The tables of a queue, in the SQL of each database.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "database/database.h"

namespace remit::queue {

/// Makes the tables where they are absent. Errors: `unsupported` for tables that another version
/// made; as of the database.
Status make_tables(database::Database& database, MonotonicTime deadline);

/// ` for update skip locked` where the database has several writers at once; else nothing.
std::string_view skip_locked(const database::Database& database);

}  // namespace remit::queue
