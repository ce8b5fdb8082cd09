// Resources of a PostgreSQL database, by a query with one bound parameter.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "attributes/attribute_source.h"
#include "attributes/row_resource.h"
#include "base/clock.h"
#include "database/database.h"

namespace remit::attributes {

struct PostgresSourceOptions {
  std::string type;        ///< Cedar entity type of the resources
  std::string connection;  ///< as PostgresDatabase::open_trusted takes it
  std::string query;       ///< one SELECT with the parameter `:ref`, a text
  std::string source;      ///< what answers name as their source
};

/// As SqliteAttributeSource, with the types that a PostgreSQL table has: `boolean` is a Bool, an
/// integer a Long, an array of texts a Set<String>; texts, UUIDs, dates and times are Strings,
/// times in UTC. Each question is a read-only transaction on a connection that is kept for the next
/// one; a statement is prepared anew each time, so that a table that changed is seen as it is.
/// Thread-safe.
class PostgresAttributeSource final : public AttributeSource {
 public:
  /// Checks the query against the database by `deadline`: its shape, and by one run with an empty
  /// reference, that it compares a text. Errors: those of PostgresDatabase::open_trusted, of
  /// `check_query` and of the run. `clock` outlives the source.
  static Result<std::unique_ptr<PostgresAttributeSource>> open(const PostgresSourceOptions& options,
                                                               const Clock& clock,
                                                               MonotonicTime deadline);

  /// Errors: those of `resolve_row`; also `not_found` for a reference with a zero byte, which no
  /// text of PostgreSQL has.
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override;

 private:
  PostgresAttributeSource(RowQuery asked, std::unique_ptr<database::Database> database)
      : asked_(std::move(asked)), database_(std::move(database)) {}

  const RowQuery asked_;
  const std::unique_ptr<database::Database> database_;
};

}  // namespace remit::attributes
