// One table of rows, one of lanes, one of what people said, and the version of the three.
#include "queue/tables.h"

#include <fmt/format.h>

#include <array>

#include "database/cell.h"

namespace remit::queue {
namespace {

constexpr std::int64_t kVersion = 3;

/// A column that came with a version; tables of the versions before it get it.
struct Column {
  std::int64_t since;
  std::string_view definition;
};
constexpr std::array<Column, 2> kLaterColumns{{
    {2, "started_generation bigint not null default -1"},
    {3, "call_key text not null default ''"},
}};

// Columns that another program may leave out have a default: such a row is legacy, has no seal, and
// is denied when its turn comes.
std::string row_table(database::Dialect dialect) {
  const std::string_view number = dialect == database::Dialect::kSqlite
                                      ? "integer primary key autoincrement"
                                      : "bigint generated always as identity primary key";
  return fmt::format(
      "create table if not exists remit_queue_row("
      "number {}, id text not null unique, queue text not null default 'default', "
      "lane text not null default '', principal text, tool text not null default '', "
      "arguments text not null default '', work_key text not null default '', "
      "run_id text not null default '', case_id text not null default '', "
      "enqueued_by text not null default '', enqueued_policy_version text not null default '', "
      "not_before bigint not null default 0, repeat_ms bigint not null default 0, "
      "max_attempts bigint not null default 1, enqueued bigint not null default 0, "
      "seal text not null default '', content text not null default '', "
      "state text not null default 'waiting', is_open bigint not null default 1, "
      "route text not null default 'queued', due bigint not null default 0, "
      "attempt bigint not null default 0, generation bigint not null default 0, "
      "claim text not null default '', worker text not null default '', "
      "reason text not null default '', error_type text not null default '', "
      "last_invocation text not null default '', changed bigint not null default 0, "
      "{}, {})",
      number, kLaterColumns[0].definition, kLaterColumns[1].definition);
}

Status agree_on_version(database::Transaction& transaction) {
  REMIT_TRY_ASSIGN(
      const database::Answer found,
      transaction.run("select coalesce(max(version), 0) from remit_queue_version", {}));
  const std::int64_t version = found.rows.empty() ? 0 : integer_of(found.rows.front().front());
  if (version == kVersion) return {};
  if (version > kVersion) {
    return Error{ErrorCode::kUnsupported, "the queue's tables are of another version"};
  }
  for (const Column& column : kLaterColumns) {
    if (version == 0 || version >= column.since) continue;
    REMIT_TRY(transaction.run(
        fmt::format("alter table remit_queue_row add column {}", column.definition), {}));
  }
  const database::Parameter ours{":version", kVersion};
  REMIT_TRY(
      transaction.run("insert into remit_queue_version(version) values(:version)", {&ours, 1}));
  return {};
}

}  // namespace

std::string_view skip_locked(const database::Database& database) {
  return database.dialect() == database::Dialect::kPostgres ? " for update skip locked" : "";
}

Status make_tables(database::Database& database, MonotonicTime deadline) {
  const std::vector<std::string> statements = {
      "create table if not exists remit_queue_version(version bigint not null primary key)",
      row_table(database.dialect()),
      R"(create index if not exists remit_queue_row_turn on remit_queue_row
         (queue, is_open, lane, due, number))",
      R"(create index if not exists remit_queue_row_ended on remit_queue_row
         (queue, is_open, changed, number))",
      R"(create unique index if not exists remit_queue_row_key on remit_queue_row
         (queue, principal, tool, work_key) where work_key <> '')",
      R"(create table if not exists remit_queue_lane(queue text not null, lane text not null,
         served bigint not null, primary key(queue, lane)))",
      "create index if not exists remit_queue_lane_turn on remit_queue_lane(queue, served)",
      R"(create table if not exists remit_queue_note(id text not null, noted bigint not null,
         said_by text not null, reason text not null, from_state text not null,
         primary key(id, noted)))",
  };
  return database.transact(deadline, [&](database::Transaction& transaction) -> Status {
    // Two processes that make the tables at once would trip over each other.
    if (database.dialect() == database::Dialect::kPostgres) {
      REMIT_TRY(transaction.run("select pg_advisory_xact_lock(7252174601)", {}));
    }
    for (const std::string& statement : statements) REMIT_TRY(transaction.run(statement, {}));
    return agree_on_version(transaction);
  });
}

}  // namespace remit::queue
