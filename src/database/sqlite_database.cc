// Connections to SQLite: opened narrowly, watched by the clock, their errors mapped.
#include "database/sqlite_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "database/open_transaction.h"

namespace remit::database {
namespace {

constexpr int kStepsBetweenLooks = 1000;  // of SQLite's machine, some microseconds
constexpr int kBusyPauseMs = 2;
constexpr std::size_t kMaxIdleConnections = 8;
constexpr std::size_t kMaxStatementsKept = 24;         // prepared, of one connection
constexpr std::chrono::milliseconds kLookAtClock{20};  // while another transaction has its turn

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

ErrorCode code_of(int status) {
  switch (status & 0xff) {
    case SQLITE_INTERRUPT:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kDeadlineExceeded;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
      return ErrorCode::kInvalidInput;
    case SQLITE_TOOBIG:
      return ErrorCode::kLimitExceeded;
    case SQLITE_AUTH:
    case SQLITE_READONLY:
    case SQLITE_CONSTRAINT:
    case SQLITE_SCHEMA:
      return ErrorCode::kFailedPrecondition;
    default:
      return ErrorCode::kUnavailable;
  }
}

/// Read-only connections run SELECTs and nothing else: no PRAGMA, ATTACH or transaction.
int allow_reading_only(void* /*context*/, int action, const char* /*first*/, const char* /*second*/,
                       const char* /*database*/, const char* /*trigger*/) {
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ ||
                     action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

Cell cell_of(sqlite3_stmt* statement, int column) {
  const auto bytes = [&](const void* data) {
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return bytes(sqlite3_column_text(statement, column));
    case SQLITE_BLOB:
      return Blob{bytes(sqlite3_column_blob(statement, column))};
    default:
      return std::monostate{};
  }
}

/// Binds without a copy: the parameters outlive the run.
struct Bind {
  sqlite3_stmt* statement;
  int index;
  int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
  int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, index, value); }
  int operator()(double value) const { return sqlite3_bind_double(statement, index, value); }
  int operator()(const std::string& value) const {
    return sqlite3_bind_text64(statement, index, value.data(), value.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int operator()(const Blob& value) const {
    return sqlite3_bind_blob64(statement, index, value.bytes.data(), value.bytes.size(),
                               SQLITE_STATIC);
  }
};

std::vector<std::string> columns_of(sqlite3_stmt* statement) {
  std::vector<std::string> columns;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* const name = sqlite3_column_name(statement, i);
    columns.emplace_back(name == nullptr ? "" : name);
  }
  return columns;
}

std::string parameter_name(sqlite3_stmt* statement, int index) {
  const char* const name = sqlite3_bind_parameter_name(statement, index);
  return name == nullptr ? "" : name;
}

}  // namespace

/// One connection, used by one thread at a time.
class SqliteDatabase::Connection {
 public:
  Connection(const std::string& path, const Clock& clock) : path_(path), clock_(clock) {}
  ~Connection() {
    statements_.clear();
    sqlite3_close_v2(handle_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status open(Access access) {
    // A name that SQLite would not take for a file: `:memory:`, `file:…`, none at all.
    const bool plain = path_.starts_with('/');
    const std::string name = plain ? path_ : "./" + path_;
    if (path_.empty() || path_.find('\0') != std::string::npos) {
      return Error{ErrorCode::kUnavailable, "no file name", path_};
    }
    // Opening a named pipe would wait for its writer, beyond every deadline.
    struct stat found{};
    if (::stat(name.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
      return Error{ErrorCode::kUnavailable, "not a plain file", path_};
    }
    if (access == Access::kReadWrite) make_private(name);
    const int flags = access == Access::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    const int status =
        sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    if (status != SQLITE_OK) return error(status);
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, static_cast<int>(kMaxDatabaseValueBytes));
    sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    if (access == Access::kReadOnly) sqlite3_set_authorizer(handle_, allow_reading_only, nullptr);
    sqlite3_progress_handler(handle_, kStepsBetweenLooks, stop_at_deadline, this);
    sqlite3_busy_handler(handle_, wait_while_busy, this);
    // What a commit says is durable survives the machine.
    if (access != Access::kReadOnly) REMIT_TRY(execute("pragma synchronous = full"));
    return {};
  }

  /// Runs a statement whose rows are of no interest.
  Status execute(std::string_view text) {
    REMIT_TRY_ASSIGN(sqlite3_stmt* const prepared, prepare(text));
    const Result<Answer> done = step(prepared, 1);
    sqlite3_reset(prepared);
    if (!done) return done.error();
    return {};
  }

  /// Prepares, binds and runs. The connection is not to be used on after an error.
  Result<Answer> run(std::string_view text, std::span<const Parameter> parameters,
                     std::size_t max_rows) {
    REMIT_TRY_ASSIGN(sqlite3_stmt* const prepared, prepare(text));
    REMIT_TRY(bind(prepared, parameters));
    REMIT_TRY_ASSIGN(Answer answer, step(prepared, max_rows));
    // Outside of a transaction this is where a statement with rows left is committed.
    if (const int status = sqlite3_reset(prepared); status != SQLITE_OK) return error(status);
    sqlite3_clear_bindings(prepared);
    return answer;
  }

  void set_deadline(MonotonicTime deadline) { deadline_ = deadline; }

  /// Whether another file stands where ours was opened.
  [[nodiscard]] bool is_replaced() const {
    int moved = 0;
    return sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved != 0;
  }

  /// The prepared statement, owned by this connection.
  Result<sqlite3_stmt*> prepare(std::string_view text) {
    for (const auto& [kept, statement] : statements_) {
      if (kept == text) return statement.get();
    }
    sqlite3_stmt* made = nullptr;
    const char* tail = nullptr;
    if (text.size() > kMaxStatementBytes) {
      return Error{ErrorCode::kLimitExceeded,
                   fmt::format("a statement of more than {} bytes", kMaxStatementBytes), path_};
    }
    const int status = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()),
                                          SQLITE_PREPARE_PERSISTENT, &made, &tail);
    Statement statement(made);
    if (status != SQLITE_OK) return error(status);
    const std::string_view rest = text.substr(static_cast<std::size_t>(tail - text.data()));
    if (statement == nullptr || rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
      return Error{ErrorCode::kInvalidInput, "want exactly one statement", path_};
    }
    if (statements_.size() >= kMaxStatementsKept) statements_.erase(statements_.begin());
    statements_.emplace_back(std::string(text), std::move(statement));
    return statements_.back().second.get();
  }

  Status bind(sqlite3_stmt* statement, std::span<const Parameter> parameters) {
    const int count = sqlite3_bind_parameter_count(statement);
    if (parameters.size() != static_cast<std::size_t>(count)) {
      return Error{
          ErrorCode::kInvalidInput,
          fmt::format("a statement with {} parameters was given {}", count, parameters.size()),
          path_};
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& parameter = parameters[i];
      const std::string name(parameter.name);
      // As many as the statement has, and one of them twice: another would be NULL in silence.
      const auto before = parameters.first(i);
      if (std::any_of(before.begin(), before.end(),
                      [&](const Parameter& other) { return other.name == name; })) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("the parameter {} is given twice", quoted(name)), path_};
      }
      const int index = sqlite3_bind_parameter_index(statement, name.c_str());
      if (index == 0) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("the statement has no parameter {}", quoted(name)), path_};
      }
      const int status = std::visit(Bind{statement, index}, parameter.value);
      if (status != SQLITE_OK) return error(status);
    }
    return {};
  }

  Result<Answer> step(sqlite3_stmt* statement, std::size_t max_rows) {
    Answer answer;
    do {
      const int status = sqlite3_step(statement);
      // The first step prepares the statement anew if a table has changed.
      if (answer.rows.empty()) answer.columns = columns_of(statement);
      if (status == SQLITE_DONE) return answer;
      if (status != SQLITE_ROW) return error(status);
      Row row;
      row.reserve(answer.columns.size());
      for (std::size_t column = 0; column < answer.columns.size(); ++column) {
        row.push_back(cell_of(statement, static_cast<int>(column)));
      }
      answer.rows.push_back(std::move(row));
    } while (answer.rows.size() < max_rows);
    return answer;
  }

  [[nodiscard]] Error error(int status) const {
    const ErrorCode code = code_of(status);
    if (code == ErrorCode::kDeadlineExceeded) {
      const bool locked = (status & 0xff) != SQLITE_INTERRUPT;
      return Error{code, locked ? "locked until the deadline" : "not done by the deadline", path_};
    }
    const char* const said = handle_ == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(handle_);
    return Error{code, fmt::format("the database says {}", quoted(said, 256)), path_};
  }

 private:
  /// The library itself would make a file that others may read. One that cannot be made shows when
  /// it is opened.
  static void make_private(const std::string& name) {
    const int made = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) ::close(made);
  }
  [[nodiscard]] bool is_late() const { return clock_.monotonic_now() >= deadline_; }
  static int stop_at_deadline(void* self) {
    return static_cast<const Connection*>(self)->is_late() ? 1 : 0;
  }
  static int wait_while_busy(void* self, int /*tries*/) {
    if (static_cast<const Connection*>(self)->is_late()) return 0;
    sqlite3_sleep(kBusyPauseMs);
    return 1;
  }

  const std::string& path_;
  const Clock& clock_;
  MonotonicTime deadline_;
  sqlite3* handle_ = nullptr;
  std::vector<std::pair<std::string, Statement>> statements_;
};

SqliteDatabase::SqliteDatabase(std::string path, Access access, const Clock& clock)
    : path_(std::move(path)), access_(access), clock_(clock) {}

SqliteDatabase::~SqliteDatabase() = default;

Result<std::unique_ptr<SqliteDatabase::Connection>> SqliteDatabase::take(MonotonicTime deadline) {
  if (clock_.monotonic_now() >= deadline) {
    return Error{ErrorCode::kDeadlineExceeded, "asked after the deadline", path_};
  }
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      const MutexLock lock(mutex_);
      if (idle_.empty()) break;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (connection->is_replaced()) continue;
    connection->set_deadline(deadline);
    return connection;
  }
  auto connection = std::make_unique<Connection>(path_, clock_);
  connection->set_deadline(deadline);
  REMIT_TRY(connection->open(access_));
  return connection;
}

void SqliteDatabase::give_back(std::unique_ptr<Connection> connection) {
  const MutexLock lock(mutex_);
  if (idle_.size() < kMaxIdleConnections) idle_.push_back(std::move(connection));
}

Result<StatementShape> SqliteDatabase::describe(std::string_view statement,
                                                MonotonicTime deadline) {
  REMIT_TRY_ASSIGN(std::unique_ptr<Connection> connection, take(deadline));
  REMIT_TRY_ASSIGN(sqlite3_stmt* const prepared, connection->prepare(statement));
  StatementShape shape;
  shape.columns = columns_of(prepared);
  for (int i = 1; i <= sqlite3_bind_parameter_count(prepared); ++i) {
    shape.parameters.push_back(parameter_name(prepared, i));
  }
  give_back(std::move(connection));
  return shape;
}

Result<Answer> SqliteDatabase::run(std::string_view statement,
                                   std::span<const Parameter> parameters, const RunLimits& limits) {
  // After an error the connection is dropped: the next use opens the file anew.
  REMIT_TRY_ASSIGN(std::unique_ptr<Connection> connection, take(limits.deadline));
  REMIT_TRY_ASSIGN(Answer answer, connection->run(statement, parameters, limits.max_rows));
  give_back(std::move(connection));
  return answer;
}

/// One transaction's turn among those of the object; no lock is held meanwhile.
class SqliteDatabase::Turn {
 public:
  explicit Turn(SqliteDatabase& database) : database_(database) {}
  ~Turn() {
    if (!is_taken_) return;
    const MutexLock lock(database_.mutex_);
    database_.is_writing_ = false;
    database_.turn_over_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Status wait(MonotonicTime deadline) {
    const MutexLock lock(database_.mutex_);
    while (database_.is_writing_) {
      const Duration left = deadline - database_.clock_.monotonic_now();
      if (left <= Duration::zero()) {
        return Error{ErrorCode::kDeadlineExceeded, "other transactions took until the deadline",
                     database_.path_};
      }
      database_.turn_over_.wait_for(database_.mutex_, std::min<Duration>(left, kLookAtClock));
    }
    database_.is_writing_ = is_taken_ = true;
    return {};
  }

 private:
  SqliteDatabase& database_;
  bool is_taken_ = false;
};

Status SqliteDatabase::transact(MonotonicTime deadline,
                                const std::function<Status(Transaction&)>& work) {
  Turn turn(*this);
  REMIT_TRY(turn.wait(deadline));
  REMIT_TRY_ASSIGN(std::unique_ptr<Connection> connection, take(deadline));
  // Whatever fails from here on drops the connection, which undoes the transaction.
  REMIT_TRY(connection->execute("begin immediate"));
  OpenTransaction<Connection> transaction(*connection);
  REMIT_TRY(transaction.verdict(work(transaction)));
  REMIT_TRY(connection->execute("commit"));
  give_back(std::move(connection));
  return {};
}

}  // namespace remit::database
