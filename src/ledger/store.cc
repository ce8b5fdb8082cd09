// Making and checking the tables.
#include "ledger/store.h"

#include <array>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "database/cell.h"
#include "database/postgres_database.h"
#include "database/sqlite_database.h"

namespace remit::ledger {
namespace {

using database::Answer;
using database::Database;
using database::Parameter;
using database::Transaction;

constexpr std::int64_t kSchemaVersion = 1;
constexpr std::chrono::seconds kOpenDeadline{10};
constexpr std::chrono::milliseconds kPause{10};
constexpr int kTries = 20;

// Both databases understand these. Times are nanoseconds since 1970, 0 for never; texts are empty
// where there is nothing to say.
constexpr std::array kTables = {
    "create table if not exists ledger_meta("
    "id bigint primary key, version bigint not null, ledger text not null, "
    "key_check text not null)",

    "create table if not exists ledger_owners("
    "owner text primary key, lease_until_ns bigint not null)",

    "create table if not exists ledger_claims("
    "claim_key text primary key, call_digest text not null, tool text not null, "
    "owner text not null, attempt bigint not null, state text not null, approval text not null, "
    "invocation text not null, claimed_ns bigint not null, started_ns bigint not null, "
    "finished_ns bigint not null, settled_by text not null, settled_why text not null)",

    "create table if not exists ledger_approvals("
    "approval text primary key, request text not null, scope text not null, state text not null, "
    "subject text not null, tenant text not null, on_behalf_of text not null, tool text not null, "
    "resources text not null, arguments text not null, policy_version text not null, "
    "granted_by text not null, reason text not null, granted_ns bigint not null, "
    "expires_ns bigint not null, claim_key text not null, invocation text not null, "
    "changed_by text not null, changed_why text not null, changed_ns bigint not null)",

    // No two that could be used for one request.
    "create unique index if not exists ledger_approvals_active on ledger_approvals(request) "
    "where state = 'active'",
    "create index if not exists ledger_approvals_request on ledger_approvals(request)",
    "create index if not exists ledger_approvals_scope on ledger_approvals(scope)",

    "create table if not exists ledger_requests("
    "request text primary key, scope text not null, principal text not null, "
    "subject text not null, tenant text not null, on_behalf_of text not null, tool text not null, "
    "resources text not null, arguments text not null, policy_version text not null, "
    "first_ns bigint not null, last_ns bigint not null, asked bigint not null)",
    "create index if not exists ledger_requests_principal on ledger_requests(principal)",
};

Status make_tables(Transaction& transaction, Location::Kind kind, const std::string& id,
                   std::string_view key_check) {
  // Two processes that make the tables at once would trip over each other.
  if (kind == Location::Kind::kPostgres) {
    REMIT_TRY(transaction.run("select pg_advisory_xact_lock(7252174602)", {}));
  }
  for (const char* statement : kTables) {
    REMIT_TRY_ASSIGN(const Answer made, transaction.run(statement, {}));
  }
  const Parameter parameters[] = {
      {":version", kSchemaVersion}, {":ledger", id}, {":key", std::string(key_check)}};
  REMIT_TRY_ASSIGN(const Answer inserted,
                   transaction.run("insert into ledger_meta(id, version, ledger, key_check) "
                                   "values(1, :version, :ledger, :key) on conflict(id) do nothing",
                                   parameters));
  return {};
}

/// The id of the ledger that is there.
Result<std::string> check(Database& database, std::string_view key_check, MonotonicTime deadline) {
  REMIT_TRY_ASSIGN(const Answer found,
                   database.run("select version, ledger, key_check from ledger_meta where id = 1",
                                {}, {.deadline = deadline}));
  if (found.rows.empty()) return Error{ErrorCode::kNotFound, "there is no ledger in this database"};
  const database::Row& row = found.rows.front();
  if (const std::int64_t version = integer_of(row[0]); version != kSchemaVersion) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("the ledger has version {} of its tables, and this program knows {}; "
                             "use the version of remit that made it, or a newer one",
                             version, kSchemaVersion)};
  }
  if (!key_check.empty() && text_of(row[2]) != key_check) {
    return Error{ErrorCode::kFailedPrecondition,
                 "the ledger was begun under another digest key; every process that shares a "
                 "ledger has the same one"};
  }
  return text_of(row[1]);
}

Result<std::unique_ptr<Database>> open_database(const Location& location, database::Access access,
                                                const Clock& clock) {
  if (location.kind == Location::Kind::kSqlite) {
    return std::unique_ptr<Database>(
        std::make_unique<database::SqliteDatabase>(location.text, access, clock));
  }
  REMIT_TRY_ASSIGN(auto postgres, database::PostgresDatabase::open(location.text, clock));
  return std::unique_ptr<Database>(std::move(postgres));
}

/// Several processes may begin at once: then one of them makes the tables, and what that did to the
/// others passes.
Status make(const Location& location, std::string_view key_check, const Clock& clock,
            Random& random, MonotonicTime deadline) {
  REMIT_TRY_ASSIGN(const auto maker, open_database(location, database::Access::kReadWrite, clock));
  const std::string id = random_id(random);
  Status made;
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries > 0) std::this_thread::sleep_for(kPause * tries);
    if (location.kind == Location::Kind::kSqlite) {
      const auto mode = maker->run("pragma journal_mode = wal", {}, {.deadline = deadline});
      if (!mode) {
        made = mode.error();
        if (made.error().code != ErrorCode::kDeadlineExceeded) return made;
        continue;
      }
    }
    made = maker->transact(deadline, [&](Transaction& transaction) {
      return make_tables(transaction, location.kind, id, key_check);
    });
    if (made || made.error().code != ErrorCode::kFailedPrecondition) return made;
  }
  return made;
}

}  // namespace

Result<Store> open_store(const Location& location, Creation creation, std::string_view key_check,
                         const Clock& clock, Random& random) {
  const MonotonicTime deadline = clock.monotonic_now() + kOpenDeadline;
  REMIT_TRY_ASSIGN(std::unique_ptr<Database> database,
                   open_database(location, database::Access::kReadWriteExisting, clock));
  Result<std::string> id = check(*database, key_check, deadline);
  const auto is_absent = [&] {
    // A file that is not there, tables that are not there, an empty table.
    const ErrorCode code = id.error().code;
    return code == ErrorCode::kNotFound || code == ErrorCode::kInvalidInput ||
           (code == ErrorCode::kUnavailable && location.kind == Location::Kind::kSqlite);
  };
  if (!id && is_absent()) {
    if (creation == Creation::kNever) {
      return Error{ErrorCode::kNotFound,
                   "there is no ledger yet; the first run of a boundary with this state makes it",
                   id.error().where};
    }
    REMIT_TRY(make(location, key_check, clock, random, deadline));
    id = check(*database, key_check, deadline);
  }
  if (!id) return std::move(id).error();
  return Store{std::move(database), *std::move(id)};
}

}  // namespace remit::ledger
