// A database behind one small interface: bound parameters, a deadline on everything, errors as
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace remit::database {

/// Bytes that are no text.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

/// One value: nothing, an integer, a double, text (as stored: it may be ill-formed UTF-8), bytes.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
using Row = std::vector<Cell>;

/// What a column is beyond what its cells show.
enum class ColumnType : std::uint8_t {
  kPlain,  ///< what the cells are: numbers, texts (names, UUIDs, dates and times too), bytes
  kTruth,  ///< truth values, as the integers 1 and 0
  kTexts,  ///< arrays of texts, as the server writes them: `{a,"b c"}`
  kOther,  ///< anything else (numeric, JSON, types of one's own), as the server writes it
};

/// What a statement gave: rows, each with a cell for each column. The columns are those of this
/// run: a table may have changed since `describe`.
struct Answer {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::vector<ColumnType> types = {};  ///< one for each column; empty where columns have no types
};

/// A value for a named parameter of a statement; `name` with its mark, e.g. `:ref`. Values are
/// bound, never written into the statement's text.
struct Parameter {
  std::string_view name;
  Cell value;
};

/// What a statement takes and gives.
struct StatementShape {
  std::vector<std::string> columns;     ///< in order; empty for a statement that returns nothing
  std::vector<std::string> parameters;  ///< each once; a parameter without a name is empty
};

/// Bounds of one run of a statement.
struct RunLimits {
  MonotonicTime deadline;
  std::size_t max_rows = 1;  ///< rows after these are not read
};

/// A transaction while it is open: statements in order, on one connection. Not thread-safe; gone
/// when the work that it was given to returns.
class Transaction {
 public:
  virtual ~Transaction() = default;
  /// As `Database::run`, by the transaction's deadline. After an error nothing but an error may be
  /// returned from the work.
  virtual Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                             std::size_t max_rows = 1) = 0;
};

/// Whose SQL a database speaks, where a statement cannot be the same for both.
enum class Dialect : std::uint8_t { kSqlite, kPostgres };

/// One database. Implementations are thread-safe and hold no lock while a statement runs. Errors
/// of every operation: `unavailable` for a database that is missing or cannot be read;
/// `deadline_exceeded` for one that is locked or busy until the deadline; `data_loss` for one that
/// is damaged or no database at all; `invalid_input` for a statement that does not parse, does not
/// fit the database's tables, is not a single one, or whose parameters are not those given;
/// `failed_precondition` for what the database's rules or its read-only opening forbid;
/// `limit_exceeded` for a value or a statement too large. `where` is the database.
class Database {
 public:
  virtual ~Database() = default;
  [[nodiscard]] virtual Dialect dialect() const = 0;

  /// Looks at a statement without running it.
  virtual Result<StatementShape> describe(std::string_view statement, MonotonicTime deadline) = 0;

  /// Runs a statement to its end, or to the last row that `limits` allow.
  virtual Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                             const RunLimits& limits) = 0;

  /// Runs `work` in one transaction that writes, and commits it if `work` says so by returning no
  /// error; else everything is undone and the error is passed on. What one transaction wrote is
  /// seen by every later one, and each statement sees all that was committed before it began; a row
  /// that two change is changed by one after the other. On success it is durable. `work` runs once.
  /// Errors: as above. An error of the commit itself does not say that nothing was committed.
  virtual Status transact(MonotonicTime deadline,
                          const std::function<Status(Transaction&)>& work) = 0;
};

}  // namespace remit::database
