// SQLite behind the interface: values, bounds, hostile statements, and databases that are missing,
// misshapen, locked, slow, replaced or used by many threads.
#include "database/sqlite_database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/limits.h"

namespace remit::database {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Each look at the clock is a millisecond later.
class TickingClock final : public Clock {
 public:
  [[nodiscard]] WallTime wall_now() const override { return {}; }
  [[nodiscard]] MonotonicTime monotonic_now() const override {
    return MonotonicTime{ticks_.fetch_add(1) * 1'000'000};
  }

 private:
  mutable std::atomic<std::int64_t> ticks_{0};
};

class SqliteDatabaseTest : public testing::Test {
 protected:
  SqliteDatabaseTest() {
    std::string pattern = (fs::path(testing::TempDir()) / "database.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~SqliteDatabaseTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string file(const char* name = "a.db") const { return folder_ / name; }
  [[nodiscard]] MonotonicTime soon() const { return clock_.monotonic_now() + 10s; }

  void write(const std::string& statement, const char* name = "a.db") const {
    SqliteDatabase database(file(name), Access::kReadWrite, clock_);
    const auto done = database.run(statement, {}, {.deadline = soon()});
    ASSERT_TRUE(done) << done.error().to_string();
  }
  /// The outcome in words: rows as `1|x`, or the error's code.
  [[nodiscard]] std::string outcome(Database& database, std::string_view statement,
                                    std::vector<Parameter> parameters = {},
                                    std::size_t max_rows = 10) const {
    const auto answer =
        database.run(statement, parameters, {.deadline = soon(), .max_rows = max_rows});
    if (!answer) return std::string(error_code_name(answer.error().code));
    std::string out;
    for (const Row& row : answer->rows) {
      EXPECT_EQ(row.size(), answer->columns.size());
      for (const Cell& cell : row) out += (&cell == row.data() ? "" : "|") + show(cell);
      out += ";";
    }
    return out;
  }
  static std::string show(const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&cell)) return "real " + std::to_string(*real);
    if (const auto* text = std::get_if<std::string>(&cell)) return "'" + *text + "'";
    if (const auto* blob = std::get_if<Blob>(&cell)) return "x'" + blob->bytes + "'";
    return "null";
  }

  fs::path folder_;
  SystemClock clock_;
};

TEST_F(SqliteDatabaseTest, ValuesGoInAndOutByBinding) {
  SqliteDatabase database(file(), Access::kReadWrite, clock_);
  EXPECT_EQ(outcome(database, "create table t(a, b, c, d, e)"), "");
  const std::string hostile("x'); drop table t; --\0y", 23);
  EXPECT_EQ(outcome(database, "insert into t values(:a, :b, :c, :d, :e)",
                    {{":a", std::int64_t{-5}},
                     {":b", 1.5},
                     {":c", hostile},
                     {":d", Blob{std::string("\0\xff", 2)}},
                     {":e", std::monostate{}}}),
            "");
  EXPECT_EQ(outcome(database, "select * from t"),
            "-5|real 1.500000|'" + hostile + "'|x'" + std::string("\0\xff", 2) + "'|null;");
  EXPECT_EQ(outcome(database, "select a from t where c = :c", {{":c", hostile}}), "-5;");
}

TEST_F(SqliteDatabaseTest, ReadsNoMoreRowsThanAllowed) {
  write("create table t as select 1 as a union all select 2 union all select 3");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(database, "select a from t", {}, 2), "1;2;");
  EXPECT_EQ(outcome(database, "select a from t", {}, 2), "1;2;") << "the statement starts anew";
}

TEST_F(SqliteDatabaseTest, DescribesColumnsAndParameters) {
  write("create table t(a, b)");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  const auto shape = database.describe(
      "select a, b as x from t where a = :ref or b = :ref or a = ? or b = @x", soon());
  ASSERT_TRUE(shape) << shape.error().to_string();
  EXPECT_EQ(shape->columns, (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(shape->parameters, (std::vector<std::string>{":ref", "", "@x"}));
}

TEST_F(SqliteDatabaseTest, RefusesWhatIsNotOneFittingStatement) {
  write("create table t(a)");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  for (const std::string_view statement : {"", ";", "-- nothing", "selec", "select a from u",
                                           "select b from t", "select 1; select 2", "select :x"}) {
    EXPECT_EQ(outcome(database, statement), "invalid_input") << statement;
  }
  EXPECT_EQ(outcome(database, std::string_view("select 1\0; select 2", 19)), "invalid_input");
  EXPECT_EQ(outcome(database, "select :x", {{":y", std::string("1")}}), "invalid_input");
  EXPECT_EQ(
      outcome(database, "select :x, :y", {{":y", std::string("1")}, {":y", std::string("2")}}),
      "invalid_input")
      << "the other would be NULL";
  EXPECT_EQ(outcome(database, "select 1 ;\n"), "1;");
  EXPECT_EQ(outcome(database, std::string(kMaxStatementBytes + 1, ' ')), "limit_exceeded");
  EXPECT_EQ(outcome(database, "select zeroblob(1000000000)"), "limit_exceeded");
}

TEST_F(SqliteDatabaseTest, ReadOnlyReadsAndNothingElse) {
  write("create table t(a)");
  const auto before = fs::last_write_time(file());
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  for (const std::string_view statement :
       {"insert into t values(1)", "delete from t", "drop table t", "create table u(a)",
        "create temp table u(a)", "attach 'other.db' as o", "pragma journal_mode = wal",
        "pragma user_version = 7", "begin", "vacuum into 'copy.db'", "vacuum", "savepoint s"}) {
    EXPECT_EQ(outcome(database, statement), "failed_precondition") << statement;
  }
  EXPECT_EQ(outcome(database, "select load_extension('x')"), "invalid_input");
  EXPECT_EQ(outcome(database,
                    "with recursive n(i) as (select 1 union all select i + 1 from n "
                    "where i < 3) select max(i) from n"),
            "3;");
  EXPECT_EQ(fs::last_write_time(file()), before);
}

TEST_F(SqliteDatabaseTest, MissingMisshapenAndDamaged) {
  SqliteDatabase missing(file("missing.db"), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(missing, "select 1"), "unavailable");
  EXPECT_FALSE(fs::exists(file("missing.db")));

  SqliteDatabase folder(folder_.string(), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(folder, "select * from t"), "unavailable");

  ASSERT_EQ(::mkfifo(file("pipe.db").c_str(), 0600), 0);
  SqliteDatabase pipe(file("pipe.db"), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(pipe, "select * from t"), "unavailable");

  std::ofstream(file("text.db")) << std::string(10'000, 'x');
  SqliteDatabase text(file("text.db"), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(text, "select * from t"), "data_loss");

  for (const char* const name : {":memory:", "", "file:x?mode=memory"}) {
    SqliteDatabase special(name, Access::kReadOnly, clock_);
    EXPECT_EQ(outcome(special, "select 1"), "unavailable") << name;
  }

  write("create table t as select hex(randomblob(50000)) as a");
  fs::resize_file(file(), 8192);
  SqliteDatabase cut(file(), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(cut, "select a from t"), "data_loss");
}

TEST_F(SqliteDatabaseTest, ErrorsNameTheDatabase) {
  SqliteDatabase missing(file("missing.db"), Access::kReadOnly, clock_);
  const auto rows = missing.run("select 1", {}, {.deadline = soon()});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().to_string(),
            file("missing.db") + ": the database says \"unable to open database file\"");
}

TEST_F(SqliteDatabaseTest, EndsEndlessQueriesByTheDeadline) {
  const TickingClock ticking;
  write("create table t(a)");
  SqliteDatabase database(file(), Access::kReadOnly, ticking);
  const std::string_view endless =
      "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
  const auto rows = database.run(endless, {}, {.deadline = ticking.monotonic_now() + 50ms});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::kDeadlineExceeded);
  const auto late = database.run("select 1", {}, {.deadline = MonotonicTime{0}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  // The database is as good as before.
  const auto next = database.run("select 1", {}, {.deadline = ticking.monotonic_now() + 1s});
  EXPECT_TRUE(next);
}

TEST_F(SqliteDatabaseTest, WaitsForALockUntilTheDeadline) {
  write("create table t as select 1 as a");
  SqliteDatabase writer(file(), Access::kReadWrite, clock_);
  ASSERT_EQ(outcome(writer, "begin exclusive"), "");
  const TickingClock ticking;
  SqliteDatabase reader(file(), Access::kReadOnly, ticking);
  const auto locked =
      reader.run("select a from t", {}, {.deadline = ticking.monotonic_now() + 10ms});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().to_string(), file() + ": locked until the deadline");
  ASSERT_EQ(outcome(writer, "commit"), "");
  EXPECT_TRUE(reader.run("select a from t", {}, {.deadline = ticking.monotonic_now() + 1s}));
}

TEST_F(SqliteDatabaseTest, SeesAFileThatTakesTheOldOnesPlace) {
  write("create table t as select 1 as a");
  write("create table t as select 2 as a", "b.db");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(database, "select a from t"), "1;");
  fs::rename(file("b.db"), file());
  EXPECT_EQ(outcome(database, "select a from t"), "2;");
  fs::remove(file());
  EXPECT_EQ(outcome(database, "select a from t"), "unavailable");
}

TEST_F(SqliteDatabaseTest, SeesChangedTables) {
  write("create table t as select 1 as a");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  EXPECT_EQ(outcome(database, "select a from t"), "1;");
  EXPECT_EQ(outcome(database, "select * from t"), "1;");
  write("alter table t add column b default 'x'");
  write("update t set a = 5");
  EXPECT_EQ(outcome(database, "select * from t"), "5|'x';") << "not only the columns of before";
  write("alter table t drop column a");
  EXPECT_EQ(outcome(database, "select a from t"), "invalid_input");
}

TEST_F(SqliteDatabaseTest, ManyThreadsEachGetTheirOwnAnswer) {
  write(
      "create table t as with recursive n(i) as (select 0 union all select i + 1 from n where "
      "i < 99) select i, 'x' || i as a from n");
  SqliteDatabase database(file(), Access::kReadOnly, clock_);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 12; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        const int wanted = (i * 7 + thread) % 100;
        const Parameter parameter{":i", std::int64_t{wanted}};
        const auto answer = database.run("select a from t where i = :i", {&parameter, 1},
                                         {.deadline = soon(), .max_rows = 2});
        const Cell expected = "x" + std::to_string(wanted);
        if (!answer || answer->rows.size() != 1 || answer->rows[0][0] != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace remit::database
