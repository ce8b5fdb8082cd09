// A SQLite file that is asked for one row.
#include "attributes/sqlite_attribute_source.h"

#include <utility>

#include "database/sqlite_database.h"

namespace remit::attributes {

Result<std::unique_ptr<SqliteAttributeSource>> SqliteAttributeSource::open(
    const SqliteSourceOptions& options, const Clock& clock, MonotonicTime deadline) {
  auto opened =
      std::make_unique<database::SqliteDatabase>(options.path, database::Access::kReadOnly, clock);
  RowQuery asked{options.type, options.query, options.source};
  if (Status fits = check_query(*opened, asked, deadline); !fits) {
    Error error = std::move(fits).error();
    if (!error.where.empty()) return error;
    return in_place(options.path, std::move(error));
  }
  return std::unique_ptr<SqliteAttributeSource>(
      new SqliteAttributeSource(std::move(asked), std::move(opened)));
}

Result<access::Resource> SqliteAttributeSource::resolve(const ResourceQuery& query) const {
  return resolve_row(*database_, asked_, query);
}

}  // namespace remit::attributes
