// SQLite as a Database.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "database/database.h"

namespace remit::database {

/// What a connection may do.
enum class Access : std::uint8_t {
  kReadOnly,           ///< a single SELECT at a time; never makes, attaches or changes anything
  kReadWrite,          ///< any statement; the file is made if it is absent, for its owner alone
  kReadWriteExisting,  ///< any statement; a file that is absent is an error, and stays absent
};

/// A SQLite file. It is opened when it is first used, and again when another file has taken its
/// place, so that a store that is replaced or comes late is seen. Each use has a connection of its
/// own, from a small pool. The schema in the file is not trusted: it can call no function with side
/// effects. A disk that does not answer cannot be interrupted; everything else ends by the
/// deadline. Thread-safe.
class SqliteDatabase final : public Database {
 public:
  /// `clock` outlives this object.
  SqliteDatabase(std::string path, Access access, const Clock& clock);
  ~SqliteDatabase() override;
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  [[nodiscard]] Dialect dialect() const override { return Dialect::kSqlite; }
  Result<StatementShape> describe(std::string_view statement, MonotonicTime deadline) override;
  Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                     const RunLimits& limits) override;
  /// Transactions of this object take turns, so that they do not have to try again and again.
  Status transact(MonotonicTime deadline, const std::function<Status(Transaction&)>& work) override;

 private:
  class Connection;
  class Turn;
  /// A connection for one use; `give_back` returns it to the pool unless it is broken.
  Result<std::unique_ptr<Connection>> take(MonotonicTime deadline);
  void give_back(std::unique_ptr<Connection> connection);

  const std::string path_;
  const Access access_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar turn_over_;
  bool is_writing_ REMIT_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Connection>> idle_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::database
