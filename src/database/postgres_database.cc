// Connections to PostgreSQL: never waiting beyond a deadline, their errors mapped.
#include "database/postgres_database.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "database/named_parameters.h"
#include "database/open_transaction.h"

namespace remit::database {
namespace {

// How soon a wait sees that the injected clock has passed the deadline.
constexpr std::chrono::milliseconds kLookAtClock{50};

// Object ids of the types that are more than text here (the server's catalogue of types; fixed).
constexpr Oid kBool = 16;
constexpr Oid kBytes = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kText = 25;
constexpr Oid kFloat4 = 700;
constexpr Oid kFloat8 = 701;
constexpr Oid kTextArray = 1009;
constexpr Oid kVarcharArray = 1015;
// Types whose written form is a text to work with: name, char(n), varchar, date, timestamp,
// timestamptz, uuid.
constexpr std::array<Oid, 7> kWritten{19, 1042, 1043, 1082, 1114, 1184, 2950};

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Reply = std::unique_ptr<PGresult, ClearResult>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

struct FreeBytes {
  void operator()(unsigned char* bytes) const { PQfreemem(bytes); }
};

/// What an SQLSTATE asks its caller to do (PostgreSQL, appendix A).
ErrorCode code_of(std::string_view state) {
  if (state == "57014" || state == "55P03" || state == "25P03") return ErrorCode::kDeadlineExceeded;
  if (state == "25006" || state == "42501") return ErrorCode::kFailedPrecondition;
  if (state == "XX001" || state == "XX002") return ErrorCode::kDataLoss;
  const std::string_view group = state.substr(0, 2);
  if (group == "22" || group == "42") return ErrorCode::kInvalidInput;
  if (group == "23" || group == "28" || group == "3D") return ErrorCode::kFailedPrecondition;
  if (group == "54") return ErrorCode::kLimitExceeded;
  return ErrorCode::kUnavailable;
}

/// The first line of what the server or the library said, without its own line end.
std::string said(const char* message) {
  const std::string_view text = message == nullptr ? "" : message;
  return quoted(text.substr(0, text.find('\n')), 256);
}

template <class Number>
Cell number_of(std::string_view text) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::string(text);
  return value;
}

ColumnType type_of(Oid type) {
  switch (type) {
    case kBool:
      return ColumnType::kTruth;
    case kTextArray:
    case kVarcharArray:
      return ColumnType::kTexts;
    case kBytes:
    case kInt2:
    case kInt4:
    case kInt8:
    case kText:
    case kFloat4:
    case kFloat8:
      return ColumnType::kPlain;
    default:
      return std::find(kWritten.begin(), kWritten.end(), type) == kWritten.end()
                 ? ColumnType::kOther
                 : ColumnType::kPlain;
  }
}

Cell cell_of(const PGresult* reply, int row, int column) {
  if (PQgetisnull(reply, row, column) != 0) return std::monostate{};
  const char* const bytes = PQgetvalue(reply, row, column);
  const std::string_view text(bytes, static_cast<std::size_t>(PQgetlength(reply, row, column)));
  switch (PQftype(reply, column)) {
    case kInt2:
    case kInt4:
    case kInt8:
      return number_of<std::int64_t>(text);
    case kFloat4:
    case kFloat8:
      return number_of<double>(text);
    case kBool:
      return std::int64_t{text == "t"};
    case kBytes: {
      std::size_t size = 0;
      // Terminated by libpq.
      const auto* const escaped = reinterpret_cast<const unsigned char*>(bytes);
      const std::unique_ptr<unsigned char, FreeBytes> plain(PQunescapeBytea(escaped, &size));
      if (plain == nullptr) return Blob{};
      return Blob{std::string(reinterpret_cast<const char*>(plain.get()), size)};
    }
    default:
      return std::string(text);
  }
}

/// Parameters in the order of their numbers, in libpq's form. Points at what it was made of.
class BoundParameters {
 public:
  void add(const Cell& value) {
    std::visit([this](const auto& held) { put(held); }, value);
  }
  /// Texts move while they are added, so the pointers are made at the end.
  void finish() {
    values_.clear();
    for (const Entry& entry : entries_) {
      const bool is_null = entry.bytes == nullptr && !entry.is_own;
      const char* const held = entry.is_own ? entry.own.c_str() : entry.bytes;
      values_.push_back(is_null ? nullptr : held);
    }
  }
  [[nodiscard]] int size() const { return static_cast<int>(entries_.size()); }
  [[nodiscard]] const Oid* types() const { return types_.data(); }
  [[nodiscard]] const char* const* values() const { return values_.data(); }
  [[nodiscard]] const int* lengths() const { return lengths_.data(); }
  [[nodiscard]] const int* formats() const { return formats_.data(); }

 private:
  struct Entry {
    const char* bytes = nullptr;
    std::string own;
    bool is_own = false;
  };
  void put(std::monostate) { push({}, 0, 0, 0); }
  void put(std::int64_t value) { push({nullptr, std::to_string(value), true}, kInt8, 0, 0); }
  void put(double value) { push({nullptr, fmt::format("{}", value), true}, kFloat8, 0, 0); }
  // In binary form, where text is its bytes: nothing ends it early.
  void put(const std::string& value) { push({value.data(), {}, false}, kText, value.size(), 1); }
  void put(const Blob& value) {
    push({value.bytes.data(), {}, false}, kBytes, value.bytes.size(), 1);
  }
  void push(Entry entry, Oid type, std::size_t length, int format) {
    entries_.push_back(std::move(entry));
    types_.push_back(type);
    lengths_.push_back(static_cast<int>(length));
    formats_.push_back(format);
  }

  std::vector<Entry> entries_;
  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

std::string place_of(const PQconninfoOption* options) {
  std::string host;
  std::string database;
  for (; options->keyword != nullptr; ++options) {
    if (options->val == nullptr) continue;
    if (std::string_view(options->keyword) == "host") host = options->val;
    if (std::string_view(options->keyword) == "dbname") database = options->val;
  }
  return fmt::format("postgresql {}", quoted(database + "@" + host));
}

}  // namespace

/// One connection, used by one thread at a time.
class PostgresDatabase::Connection {
 public:
  Connection(const std::string& where, const char* mode, const Clock& clock)
      : where_(where), mode_(mode), clock_(clock) {}
  ~Connection() { PQfinish(handle_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void set_deadline(MonotonicTime deadline) { deadline_ = deadline; }

  Status open(const std::string& conninfo) {
    handle_ = PQconnectStart(conninfo.c_str());
    if (handle_ == nullptr) return Error{ErrorCode::kUnavailable, "out of memory", where_};
    PQsetNoticeProcessor(handle_, [](void*, const char*) {}, nullptr);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
      if (status == PGRES_POLLING_FAILED || PQstatus(handle_) == CONNECTION_BAD) return lost();
      REMIT_TRY(wait(status == PGRES_POLLING_READING ? POLLIN : POLLOUT));
      status = PQconnectPoll(handle_);
    }
    if (PQsetnonblocking(handle_, 1) != 0) return lost();
    // What is committed is on the server's disk, whatever its default; and a client that stands
    // still with a transaction open loses it.
    return execute(
        "select set_config('synchronous_commit', 'on', false) "
        "where current_setting('synchronous_commit') in ('off', 'local'); "
        "set idle_in_transaction_session_timeout = 10000; "
        "set client_encoding = 'UTF8'; set datestyle = 'ISO'; set timezone = 'UTC'");
  }

  Status begin() {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - clock_.monotonic_now())
            .count();
    if (left <= 0) return late();
    return execute(
        fmt::format("begin isolation level read committed {1}; "
                    "set local statement_timeout = {0}; set local lock_timeout = {0}",
                    left, mode_));
  }

  /// Statements without parameters, whose rows are of no interest.
  Status execute(const std::string& statements) {
    if (PQsendQuery(handle_, statements.c_str()) != 1) return lost();
    REMIT_TRY_ASSIGN(const Answer done, answer(0));
    return {};
  }

  Result<Answer> run(std::string_view statement, std::span<const Parameter> parameters,
                     std::size_t max_rows) {
    if (statement.size() > kMaxStatementBytes || statement.find('\0') != std::string_view::npos) {
      return Error{
          ErrorCode::kInvalidInput,
          fmt::format("a statement of more than {} bytes, or with a zero byte", kMaxStatementBytes),
          where_};
    }
    const NumberedStatement numbered = number_parameters(statement);
    BoundParameters bound;
    REMIT_TRY(bind(numbered, parameters, bound));
    if (PQsendQueryParams(handle_, numbered.text.c_str(), bound.size(), bound.types(),
                          bound.values(), bound.lengths(), bound.formats(), 0) != 1) {
      return lost();
    }
    // Row by row: of what lies beyond `max_rows`, one row at a time is in memory.
    if (PQsetSingleRowMode(handle_) != 1) return lost();
    return answer(max_rows);
  }

  Result<StatementShape> describe(std::string_view statement) {
    const NumberedStatement numbered = number_parameters(statement);
    if (PQsendPrepare(handle_, "", numbered.text.c_str(), 0, nullptr) != 1) return lost();
    REMIT_TRY_ASSIGN(const Answer prepared, answer(0));
    if (PQsendDescribePrepared(handle_, "") != 1) return lost();
    REMIT_TRY_ASSIGN(Answer described, answer(0));
    return StatementShape{std::move(described.columns), numbered.parameters};
  }

 private:
  Status bind(const NumberedStatement& statement, std::span<const Parameter> parameters,
              BoundParameters& out) const {
    if (parameters.size() != statement.parameters.size()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("a statement with {} parameters was given {}",
                               statement.parameters.size(), parameters.size()),
                   where_};
    }
    for (const std::string& name : statement.parameters) {
      const auto given = std::find_if(parameters.begin(), parameters.end(),
                                      [&](const Parameter& each) { return each.name == name; });
      if (given == parameters.end()) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("the parameter {} is not given", quoted(name)), where_};
      }
      out.add(given->value);
    }
    out.finish();
    return {};
  }

  /// The last reply to what was sent, all of them read; the first error among them.
  Result<Answer> answer(std::size_t max_rows) {
    Answer out;
    std::optional<Error> fault;
    while (true) {
      REMIT_TRY(await_reply());
      const Reply reply(PQgetResult(handle_));
      if (reply == nullptr) break;
      const ExecStatusType status = PQresultStatus(reply.get());
      const bool is_good = status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK ||
                           status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY;
      if (!is_good && !fault) fault = error_of(reply.get());
      if (status == PGRES_EMPTY_QUERY && !fault) {
        fault = Error{ErrorCode::kInvalidInput, "want exactly one statement", where_};
      }
      // COPY would go on for ever.
      if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) break;
      if (!fault) fault = read(reply.get(), max_rows, out);
    }
    if (fault) return *std::move(fault);
    return out;
  }

  /// Adds the rows of `reply` up to `max_rows`; those after them are passed over.
  std::optional<Error> read(const PGresult* reply, std::size_t max_rows, Answer& out) const {
    const int columns = PQnfields(reply);
    if (out.columns.empty()) {
      for (int i = 0; i < columns; ++i) {
        out.columns.emplace_back(PQfname(reply, i));
        out.types.push_back(type_of(PQftype(reply, i)));
      }
    }
    const std::size_t room = max_rows - std::min(max_rows, out.rows.size());
    const auto rows = std::min(static_cast<std::size_t>(PQntuples(reply)), room);
    for (std::size_t i = 0; i < rows; ++i) {
      Row row;
      row.reserve(out.columns.size());
      for (int column = 0; column < columns; ++column) {
        if (static_cast<std::size_t>(PQgetlength(reply, static_cast<int>(i), column)) >
            kMaxDatabaseValueBytes) {
          return Error{ErrorCode::kLimitExceeded, "a value is too large", where_};
        }
        row.push_back(cell_of(reply, static_cast<int>(i), column));
      }
      out.rows.push_back(std::move(row));
    }
    return std::nullopt;
  }

  /// Returns once PQgetResult will not block.
  Status await_reply() {
    while (true) {
      const int unsent = PQflush(handle_);
      if (unsent < 0) return lost();
      if (unsent == 0 && PQisBusy(handle_) == 0) return {};
      const int events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
      REMIT_TRY(wait(static_cast<short>(events)));
      if (PQconsumeInput(handle_) != 1) return lost();
    }
  }

  Status wait(short events) const {
    pollfd socket{PQsocket(handle_), events, 0};
    if (socket.fd < 0) return lost();
    while (true) {
      const Duration left = deadline_ - clock_.monotonic_now();
      if (left <= Duration::zero()) return late();
      const auto span = std::min<Duration>(left, kLookAtClock) + std::chrono::milliseconds{1};
      const int ready = ::poll(
          &socket, 1,
          static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(span).count()));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) {
        return Error{ErrorCode::kUnavailable,
                     fmt::format("cannot wait: {}", ::strerrordesc_np(errno)), where_};
      }
    }
  }

  [[nodiscard]] Error late() const {
    return Error{ErrorCode::kDeadlineExceeded, "no answer by the deadline", where_};
  }
  [[nodiscard]] Error lost() const {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the connection failed: {}", said(PQerrorMessage(handle_))), where_};
  }
  [[nodiscard]] Error error_of(const PGresult* reply) const {
    const char* const state = PQresultErrorField(reply, PG_DIAG_SQLSTATE);
    const char* const message = PQresultErrorField(reply, PG_DIAG_MESSAGE_PRIMARY);
    if (state == nullptr || message == nullptr) return lost();
    return Error{code_of(state), fmt::format("the database says {} ({})", said(message), state),
                 where_};
  }

  const std::string& where_;
  const char* const mode_;
  const Clock& clock_;
  MonotonicTime deadline_;
  PGconn* handle_ = nullptr;
};

/// A connection for one use, which counts against the bound; it goes back once no transaction is
/// open on it any more, and is closed else.
class PostgresDatabase::Loan {
 public:
  explicit Loan(PostgresDatabase& database) : database_(database) {}
  ~Loan() {
    if (!is_counted_) return;
    dropped_ = nullptr;
    // Work that threw left its transaction open: the next one would be part of it.
    if (!is_settled_) connection_ = nullptr;
    const MutexLock lock(database_.mutex_);
    if (connection_ != nullptr) database_.idle_.push_back(std::move(connection_));
    --database_.lent_;
    database_.given_back_.notify_one();
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  /// Waits for a connection that is free, or for leave to make one; begins a transaction on it. One
  /// that lay idle may have lost its server meanwhile: then another is tried.
  Status begin(MonotonicTime deadline) {
    REMIT_TRY(wait(deadline));
    while (connection_ != nullptr) {
      connection_->set_deadline(deadline);
      const Status begun = connection_->begin();
      if (begun || begun.error().code != ErrorCode::kUnavailable) {
        return begun ? begun : dropped(begun.error());
      }
      connection_ = nullptr;
      const MutexLock lock(database_.mutex_);
      if (database_.idle_.empty()) break;
      connection_ = std::move(database_.idle_.back());
      database_.idle_.pop_back();
    }
    connection_ = std::make_unique<Connection>(database_.where_, database_.mode_, database_.clock_);
    connection_->set_deadline(deadline);
    if (const Status opened = connection_->open(database_.conninfo_); !opened) {
      return dropped(opened.error());
    }
    if (const Status begun = connection_->begin(); !begun) return dropped(begun.error());
    return {};
  }
  Connection& connection() { return *connection_; }
  /// Ends the transaction by `statement`.
  Status end(const char* statement) {
    if (const Status ended = connection_->execute(statement); !ended) {
      return dropped(ended.error());
    }
    is_settled_ = true;
    return {};
  }
  /// Closes the connection, and with it whatever it was in the middle of.
  Error dropped(Error error) {
    dropped_ = std::move(connection_);
    return error;
  }

 private:
  Status wait(MonotonicTime deadline) {
    const MutexLock lock(database_.mutex_);
    while (database_.lent_ >= kMaxDatabaseConnections) {
      const Duration left = deadline - database_.clock_.monotonic_now();
      if (left <= Duration::zero()) {
        return Error{ErrorCode::kDeadlineExceeded, "no connection was free by the deadline",
                     database_.where_};
      }
      database_.given_back_.wait_for(database_.mutex_, std::min<Duration>(left, kLookAtClock));
    }
    ++database_.lent_;
    is_counted_ = true;
    if (database_.idle_.empty()) return {};
    connection_ = std::move(database_.idle_.back());
    database_.idle_.pop_back();
    return {};
  }

  PostgresDatabase& database_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Connection> dropped_;
  bool is_counted_ = false;
  bool is_settled_ = false;
};

namespace {

using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

Result<Options> parse(const std::string& conninfo) {
  char* message = nullptr;
  Options options(PQconninfoParse(conninfo.c_str(), &message));
  if (options != nullptr) return options;
  // The library's words may quote a password.
  PQfreemem(message);
  return Error{ErrorCode::kInvalidInput,
               "not a connection string of libpq, as \"host=/run/postgresql dbname=remit\" is"};
}

std::string value_of(const PQconninfoOption* options, std::string_view name) {
  for (; options->keyword != nullptr; ++options) {
    if (options->keyword == name) return options->val == nullptr ? "" : options->val;
  }
  return {};
}

/// Whether each address of a list is a socket's directory or this machine's own.
bool are_here(std::string_view hosts) {
  while (true) {
    const std::size_t end = hosts.find(',');
    const std::string_view host = hosts.substr(0, end);
    if (!host.starts_with('/') && !host.starts_with('@') && host != "localhost" &&
        host != "127.0.0.1" && host != "::1") {
      return false;
    }
    if (end == std::string_view::npos) return true;
    hosts.remove_prefix(end + 1);
  }
}

/// What may not be left to a default where answers are trusted.
Status check_trusted(const PQconninfoOption* options) {
  if (!value_of(options, "password").empty() || !value_of(options, "sslpassword").empty()) {
    return Error{ErrorCode::kInvalidInput,
                 "a password does not belong into the configuration; name a passfile, or set "
                 "PGPASSWORD"};
  }
  if (!value_of(options, "service").empty()) {
    return Error{ErrorCode::kInvalidInput, "a service file is not read; name the host itself"};
  }
  const std::string host = value_of(options, "host");
  const std::string address = value_of(options, "hostaddr");
  if (host.empty()) return Error{ErrorCode::kInvalidInput, "the connection names no host"};
  const bool is_here = are_here(host) && (address.empty() || are_here(address));
  if (!is_here && value_of(options, "sslmode") != "verify-full") {
    return Error{ErrorCode::kInvalidInput,
                 "a server beyond this machine must be asked with sslmode=verify-full"};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open(const std::string& conninfo,
                                                                 const Clock& clock) {
  REMIT_TRY_ASSIGN(const Options options, parse(conninfo));
  return std::unique_ptr<PostgresDatabase>(
      new PostgresDatabase(conninfo, place_of(options.get()), "read write", clock));
}

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open_trusted(
    const std::string& conninfo, const Clock& clock) {
  REMIT_TRY_ASSIGN(const Options options, parse(conninfo));
  REMIT_TRY(check_trusted(options.get()));
  return std::unique_ptr<PostgresDatabase>(
      new PostgresDatabase(conninfo, place_of(options.get()), "read only", clock));
}

PostgresDatabase::PostgresDatabase(std::string conninfo, std::string where, const char* mode,
                                   const Clock& clock)
    : conninfo_(std::move(conninfo)), where_(std::move(where)), mode_(mode), clock_(clock) {}

PostgresDatabase::~PostgresDatabase() = default;

Result<StatementShape> PostgresDatabase::describe(std::string_view statement,
                                                  MonotonicTime deadline) {
  Loan loan(*this);
  REMIT_TRY(loan.begin(deadline));
  Result<StatementShape> shape = loan.connection().describe(statement);
  if (!shape) return loan.dropped(shape.error());
  REMIT_TRY(loan.end("rollback"));
  return shape;
}

Result<Answer> PostgresDatabase::run(std::string_view statement,
                                     std::span<const Parameter> parameters,
                                     const RunLimits& limits) {
  Answer out;
  REMIT_TRY(transact(limits.deadline, [&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(out, transaction.run(statement, parameters, limits.max_rows));
    return {};
  }));
  return out;
}

Status PostgresDatabase::transact(MonotonicTime deadline,
                                  const std::function<Status(Transaction&)>& work) {
  Loan loan(*this);
  REMIT_TRY(loan.begin(deadline));
  OpenTransaction<Connection> transaction(loan.connection());
  if (const Status done = transaction.verdict(work(transaction)); !done) {
    // Undone in order, so that a refusal costs no connection; a connection that fails here is gone,
    // and the transaction with it.
    (void)loan.end("rollback");
    return done.error();
  }
  return loan.end("commit");
}

}  // namespace remit::database
