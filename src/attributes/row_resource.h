// One row of a configured query as a resource, whatever database the row is from.
#pragma once

#include <string>

#include "access/resource.h"
#include "attributes/attribute_source.h"
#include "base/clock.h"
#include "base/result.h"
#include "database/database.h"

namespace remit::attributes {

/// The query of a source and what its answers are called.
struct RowQuery {
  std::string type;    ///< Cedar entity type of the resources
  std::string query;   ///< one SELECT with the parameter `:ref`
  std::string source;  ///< what answers name as their source
};

/// Holds the query against the database. Errors: those of database/database.h; `invalid_input` for
/// a query that has not exactly the parameter `:ref`, or lacks the column `id` or `tenant`, or has
/// two of one name.
Status check_query(database::Database& database, const RowQuery& asked, MonotonicTime deadline);

/// The one row of the query, run with the reference of `question` bound to `:ref`. Errors:
/// `not_found` for no row, another type, and a reference that is too long or not UTF-8; `data_loss`
/// for two rows, for a column that has gone or is there twice, for an id that is NULL or empty, and
/// for a value of a type that is no attribute or is not UTF-8; `limit_exceeded` for an id beyond
/// kMaxIdBytes; those of database/database.h.
Result<access::Resource> resolve_row(database::Database& database, const RowQuery& asked,
                                     const ResourceQuery& question);

}  // namespace remit::attributes
