// Resources of a SQLite database, by a query with one bound parameter.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "attributes/attribute_source.h"
#include "attributes/row_resource.h"
#include "base/clock.h"
#include "database/database.h"

namespace remit::attributes {

struct SqliteSourceOptions {
  std::string type;    ///< Cedar entity type of the resources
  std::string path;    ///< of the database file; opened for reading only
  std::string query;   ///< one SELECT with the parameter `:ref`
  std::string source;  ///< what answers name as their source
};

/// Answers with the one row of the query, run with the caller's reference bound to `:ref`. The
/// column `id` is the canonical id and `tenant` the owner's tenant, NULL for none; `revision` is
/// optional; every other column is an attribute of its name, where it is not NULL: an integer is a
/// Long, a text a String. SQLite has no booleans: policy compares with 1. `id`, `tenant` and
/// `revision` may be integers, which are written in decimal. The query must not filter by tenant,
/// or a foreign resource becomes a missing one. Thread-safe.
class SqliteAttributeSource final : public AttributeSource {
 public:
  /// Opens the source and checks the query against the database, by `deadline`. Errors: those of
  /// database/database.h; `invalid_input` for a query that has not exactly the parameter `:ref`, or
  /// lacks the column `id` or `tenant`, or has two of one name. `clock` outlives the source.
  static Result<std::unique_ptr<SqliteAttributeSource>> open(const SqliteSourceOptions& options,
                                                             const Clock& clock,
                                                             MonotonicTime deadline);

  /// Errors: `not_found` for no row; `data_loss` for two rows, for a column that has gone or is
  /// there twice, and for an id that is NULL, empty or not UTF-8, a real number, bytes or
  /// ill-formed text anywhere; `limit_exceeded` for an id beyond kMaxIdBytes; those of
  /// database/database.h.
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override;

 private:
  SqliteAttributeSource(RowQuery asked, std::unique_ptr<database::Database> database)
      : asked_(std::move(asked)), database_(std::move(database)) {}

  const RowQuery asked_;
  const std::unique_ptr<database::Database> database_;
};

}  // namespace remit::attributes
