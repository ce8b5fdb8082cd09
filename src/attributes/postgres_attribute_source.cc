// A PostgreSQL server that is asked for one row.
#include "attributes/postgres_attribute_source.h"

#include <utility>

#include "database/postgres_database.h"

namespace remit::attributes {

Result<std::unique_ptr<PostgresAttributeSource>> PostgresAttributeSource::open(
    const PostgresSourceOptions& options, const Clock& clock, MonotonicTime deadline) {
  REMIT_TRY_ASSIGN(auto opened,
                   database::PostgresDatabase::open_trusted(options.connection, clock));
  RowQuery asked{options.type, options.query, options.source};
  REMIT_TRY(check_query(*opened, asked, deadline));
  const database::Parameter nothing{":ref", std::string()};
  REMIT_TRY_ASSIGN(const database::Answer tried,
                   opened->run(asked.query, {&nothing, 1}, {.deadline = deadline}));
  (void)tried;
  return std::unique_ptr<PostgresAttributeSource>(
      new PostgresAttributeSource(std::move(asked), std::move(opened)));
}

Result<access::Resource> PostgresAttributeSource::resolve(const ResourceQuery& query) const {
  if (query.reference.find('\0') != std::string_view::npos) {
    return Error{ErrorCode::kNotFound, "no such resource", asked_.source};
  }
  return resolve_row(*database_, asked_, query);
}

}  // namespace remit::attributes
