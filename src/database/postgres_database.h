// PostgreSQL as a Database.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "database/database.h"

namespace remit::database {

/// A database of a PostgreSQL server. Connections are made when they are needed, at most
/// kMaxDatabaseConnections at a time; a caller waits for one until its deadline. One that failed is
/// dropped, so that the next use finds a server that came back. Statements name their parameters as
/// for SQLite, `:ref`. Thread-safe.
///
/// A deadline bounds the wait here and, by `statement_timeout` and `lock_timeout`, the work there.
/// What it does not bound is the look-up of a host's name: name a socket's directory or an address
/// where that matters.
class PostgresDatabase final : public Database {
 public:
  /// `conninfo` as libpq has it: `host=/run/postgresql dbname=remit`. What it leaves out comes from
  /// libpq's environment and password file; a password does not belong in it. Errors:
  /// `invalid_input` for one that does not parse. Nothing is connected yet. `clock` outlives the
  /// object.
  static Result<std::unique_ptr<PostgresDatabase>> open(const std::string& conninfo,
                                                        const Clock& clock);
  /// One for reading answers that are trusted: every transaction is read only, so that a statement
  /// that writes is `failed_precondition`. Errors, besides those of `open`: `invalid_input` for a
  /// password in `conninfo`, for a service, for no host, and for a host beyond this machine without
  /// `sslmode=verify-full`.
  static Result<std::unique_ptr<PostgresDatabase>> open_trusted(const std::string& conninfo,
                                                                const Clock& clock);
  ~PostgresDatabase() override;
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  [[nodiscard]] Dialect dialect() const override { return Dialect::kPostgres; }
  Result<StatementShape> describe(std::string_view statement, MonotonicTime deadline) override;
  /// Runs the statement in a transaction of its own.
  Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                     const RunLimits& limits) override;
  Status transact(MonotonicTime deadline, const std::function<Status(Transaction&)>& work) override;

 private:
  class Connection;
  class Loan;
  PostgresDatabase(std::string conninfo, std::string where, const char* mode, const Clock& clock);

  const std::string conninfo_;
  const std::string where_;  // without secrets
  const char* const mode_;   // of transactions, in SQL
  const Clock& clock_;
  Mutex mutex_;
  CondVar given_back_;
  std::size_t lent_ REMIT_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Connection>> idle_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::database
