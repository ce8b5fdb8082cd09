// What both databases promise: values, errors, transactions, many threads, and what is left when
// the database goes away.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "tests/support/postgres_server.h"
#include "tests/support/test_folder.h"

namespace remit::database {
namespace {

using namespace std::chrono_literals;
using remit::testing::PostgresServer;
using remit::testing::TestFolder;

PostgresServer* server() {
  static const std::unique_ptr<PostgresServer> one = PostgresServer::start();
  return one.get();
}

enum class Backend : std::uint8_t { kSqlite, kPostgres };

class TransactionTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kPostgres) {
      if (server() == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
      conninfo_ = server()->new_schema();
    }
    database_ = open();
    ASSERT_EQ(run("create table t(k text primary key, n bigint)"), "");
  }
  std::unique_ptr<Database> open() {
    if (GetParam() == Backend::kSqlite) {
      return std::make_unique<SqliteDatabase>(folder_.path("a.db"), Access::kReadWrite, clock_);
    }
    return PostgresDatabase::open(conninfo_, clock_).value();
  }
  [[nodiscard]] MonotonicTime in(Duration span) const { return clock_.monotonic_now() + span; }
  static std::string words(const Result<Answer>& answer) {
    if (!answer) return std::string(error_code_name(answer.error().code));
    std::string out;
    for (const Row& row : answer->rows) {
      for (const Cell& cell : row) {
        if (&cell != row.data()) out += "|";
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) out += std::to_string(*integer);
        if (const auto* real = std::get_if<double>(&cell)) out += "real" + std::to_string(*real);
        if (const auto* text = std::get_if<std::string>(&cell)) out += *text;
        if (const auto* blob = std::get_if<Blob>(&cell)) out += "x'" + blob->bytes + "'";
        if (std::holds_alternative<std::monostate>(cell)) out += "null";
      }
      out += ";";
    }
    return out;
  }
  std::string run(std::string_view statement, const std::vector<Parameter>& parameters = {}) {
    return words(database_->run(statement, parameters, {.deadline = in(20s), .max_rows = 100}));
  }

  TestFolder folder_;
  SystemClock clock_;
  std::string conninfo_;
  std::unique_ptr<Database> database_;
};

TEST_P(TransactionTest, SaysWhoseSqlItSpeaks) {
  const bool is_sqlite = database_->dialect() == Dialect::kSqlite;
  EXPECT_EQ(run("select sqlite_version() <> ''") == "1;", is_sqlite);
}

TEST_P(TransactionTest, ValuesGoInAndOutByBinding) {
  const std::string hostile = "x'); drop table t; --";
  EXPECT_EQ(run("insert into t values(:k, :n)", {{":k", hostile}, {":n", std::int64_t{-5}}}), "");
  EXPECT_EQ(run("insert into t values(:k, :n)", {{":n", std::monostate{}}, {":k", ""}}), "");
  EXPECT_EQ(run("select k, n from t where k = :k", {{":k", hostile}}), hostile + "|-5;");
  EXPECT_EQ(run("select n, k from t where k = ''"), "null|;");
  EXPECT_EQ(
      run("insert into t values(:k, 1) on conflict(k) do nothing returning n", {{":k", hostile}}),
      "");
  EXPECT_EQ(run("update t set n = n + 1 where k = :k returning n", {{":k", hostile}}), "-4;");
}

TEST_P(TransactionTest, SaysWhatIsWrong) {
  EXPECT_EQ(run("selec"), "invalid_input");
  EXPECT_EQ(run("select * from nowhere"), "invalid_input");
  EXPECT_EQ(run("select :a"), "invalid_input") << "a parameter that is not given";
  EXPECT_EQ(run("select 1", {{":a", "x"}}), "invalid_input");
  EXPECT_EQ(run(""), "invalid_input");
  EXPECT_EQ(run("select 1; select 2"), "invalid_input");
  EXPECT_EQ(run("insert into t values('a', 1)"), "");
  EXPECT_EQ(run("insert into t values('a', 1)"), "failed_precondition");
  EXPECT_EQ(words(database_->run("select 1", {}, {.deadline = in(-1s)})), "deadline_exceeded");
  EXPECT_EQ(run(std::string(std::size_t{1} << 20U, ' ')).empty(), false);
}

TEST_P(TransactionTest, DescribesColumnsAndParameters) {
  const auto shape = database_->describe("select k, n as x from t where k = :ref", in(20s));
  ASSERT_TRUE(shape) << shape.error().to_string();
  EXPECT_EQ(shape->columns, (std::vector<std::string>{"k", "x"}));
  EXPECT_EQ(shape->parameters, std::vector<std::string>{":ref"});
  EXPECT_FALSE(database_->describe("select z from t", in(20s)));
}

TEST_P(TransactionTest, IsWholeOrNothing) {
  const auto insert = [](Transaction& transaction, const char* key) -> Status {
    const Parameter parameters[] = {{":k", key}};
    REMIT_TRY_ASSIGN(const Answer done, transaction.run("insert into t values(:k, 1)", parameters));
    return {};
  };
  EXPECT_TRUE(database_->transact(in(20s), [&](Transaction& transaction) -> Status {
    REMIT_TRY(insert(transaction, "a"));
    return insert(transaction, "b");
  }));
  const Status refused = database_->transact(in(20s), [&](Transaction& transaction) -> Status {
    REMIT_TRY(insert(transaction, "c"));
    return Error{ErrorCode::kNotFound, "no"};
  });
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  const Status failed = database_->transact(in(20s), [&](Transaction& transaction) -> Status {
    REMIT_TRY(insert(transaction, "d"));
    return insert(transaction, "a");
  });
  EXPECT_EQ(failed.error().code, ErrorCode::kFailedPrecondition);
  // Work that forgets about an error does not get half of itself committed.
  const Status forgotten = database_->transact(in(20s), [&](Transaction& transaction) -> Status {
    REMIT_TRY(insert(transaction, "e"));
    (void)insert(transaction, "a");
    return {};
  });
  EXPECT_EQ(forgotten.error().code, ErrorCode::kFailedPrecondition);
  // Nor does work that throws, be it by the next transaction.
  EXPECT_THROW((void)database_->transact(in(20s),
                                         [&](Transaction& transaction) -> Status {
                                           REMIT_TRY(insert(transaction, "f"));
                                           throw std::bad_alloc();
                                         }),
               std::bad_alloc);
  EXPECT_EQ(run("select k from t order by k"), "a;b;");
  EXPECT_EQ(run("select k from t order by k"), "a;b;");
}

TEST_P(TransactionTest, ManyThreadsLoseNoUpdate) {
  constexpr int kThreads = 12;  // more than there are connections
  constexpr int kEach = 20;
  EXPECT_EQ(run("insert into t values('a', 0)"), "");
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int each = 0; each < kEach; ++each) {
        const Status done = database_->transact(in(60s), [](Transaction& transaction) -> Status {
          REMIT_TRY_ASSIGN(const Answer answer,
                           transaction.run("update t set n = n + 1 where k = 'a'", {}));
          return {};
        });
        if (!done) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(run("select n from t"), std::to_string(kThreads * kEach) + ";");
}

TEST_P(TransactionTest, WaitsForALockUntilItsDeadlineOnly) {
  EXPECT_EQ(run("insert into t values('a', 0)"), "");
  const auto other = open();
  const Status outer = database_->transact(in(20s), [&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(const Answer done, transaction.run("update t set n = 1 where k = 'a'", {}));
    EXPECT_EQ(words(other->run("update t set n = 2 where k = 'a'", {}, {.deadline = in(200ms)})),
              "deadline_exceeded");
    return {};
  });
  EXPECT_TRUE(outer);
  EXPECT_EQ(words(other->run("update t set n = n + 2 where k = 'a' returning n", {},
                             {.deadline = in(20s)})),
            "3;");
}

INSTANTIATE_TEST_SUITE_P(Databases, TransactionTest,
                         ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) {
                           return backend.param == Backend::kSqlite ? "Sqlite" : "Postgres";
                         });

TEST(SqliteTransactionTest, AFileThatIsGoneIsNotMadeAnew) {
  const TestFolder folder;
  const SystemClock clock;
  const auto soon = [&] { return clock.monotonic_now() + 10s; };
  const std::string path = folder.path("a.db");
  SqliteDatabase absent(path, Access::kReadWriteExisting, clock);
  EXPECT_EQ(absent.run("select 1", {}, {.deadline = soon()}).error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(path));
  folder.run("a.db", {"create table t(n)"});
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(absent.run("insert into t values(1)", {}, {.deadline = soon()}));
  std::filesystem::remove(path);
  EXPECT_FALSE(absent.run("insert into t values(1)", {}, {.deadline = soon()}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PostgresTransactionTest, FindsAServerThatCameBack) {
  const auto own = PostgresServer::start();
  if (own == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  const SystemClock clock;
  const auto database = PostgresDatabase::open(own->new_schema(), clock).value();
  const auto run = [&](std::string_view statement) {
    return database->run(statement, {}, {.deadline = clock.monotonic_now() + 10s});
  };
  ASSERT_TRUE(run("create table t(n bigint)"));
  ASSERT_TRUE(run("insert into t values(1)"));
  // Whatever was open when the server died is undone.
  const Status cut =
      database->transact(clock.monotonic_now() + 10s, [&](Transaction& transaction) -> Status {
        REMIT_TRY_ASSIGN(const Answer done, transaction.run("insert into t values(2)", {}));
        own->kill();
        return {};
      });
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kUnavailable) << cut.error().to_string();
  const auto away = run("select 1");
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable) << away.error().to_string();
  own->restart();
  const auto left = run("select count(*) from t");
  ASSERT_TRUE(left) << left.error().to_string();
  EXPECT_EQ(std::get<std::int64_t>(left->rows.front().front()), 1);
}

TEST(PostgresTransactionTest, TakesValuesOfItsTypes) {
  if (server() == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  const SystemClock clock;
  const auto database = PostgresDatabase::open(server()->new_schema(), clock).value();
  const std::vector<Parameter> parameters{{":b", Blob{std::string("\0\xff", 2)}}, {":d", 1.5}};
  const auto answer = database->run("select :b, :d, true, 7::smallint, 'x'::varchar, 1.25::numeric",
                                    parameters, {.deadline = clock.monotonic_now() + 10s});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->rows.front(), (Row{Blob{std::string("\0\xff", 2)}, 1.5, std::int64_t{1},
                                       std::int64_t{7}, "x", "1.25"}));
}

TEST(PostgresTransactionTest, TellsNoPassword) {
  const SystemClock clock;
  const auto malformed = PostgresDatabase::open("password='geheim host", clock);
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().to_string().find("geheim"), std::string::npos);
  const auto database =
      PostgresDatabase::open("host=/nowhere dbname=x password=geheim", clock).value();
  const auto answer = database->run("select 1", {}, {.deadline = clock.monotonic_now() + 1s});
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().to_string().find("geheim"), std::string::npos);
}

}  // namespace
}  // namespace remit::database
