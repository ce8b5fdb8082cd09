// Rows beyond what was asked for: passed over one by one, whatever they hold.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/limits.h"
#include "database/postgres_database.h"
#include "tests/support/postgres_server.h"

namespace remit::database {
namespace {

using namespace std::chrono_literals;
using remit::testing::PostgresServer;

class PostgresRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgresServer::start();
    if (server_ == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
    database_ = PostgresDatabase::open(server_->new_schema(), clock_).value();
  }
  Result<Answer> run(const std::string& statement, std::size_t max_rows) {
    return database_->run(statement, {},
                          {.deadline = clock_.monotonic_now() + 60s, .max_rows = max_rows});
  }
  /// The first column of each row, or the error.
  std::string words(const std::string& statement, std::size_t max_rows) {
    const Result<Answer> answer = run(statement, max_rows);
    if (!answer) return std::string(error_code_name(answer.error().code));
    std::string out;
    for (const Row& row : answer->rows) out += std::to_string(std::get<std::int64_t>(row[0])) + " ";
    return out;
  }

  SystemClock clock_;
  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<PostgresDatabase> database_;
};

TEST_F(PostgresRowsTest, ReadsNoMoreThanAllowed) {
  const std::string three = "select g::bigint from generate_series(1, 3) g";
  EXPECT_EQ(words(three, 0), "");
  EXPECT_EQ(words(three, 2), "1 2 ");
  EXPECT_EQ(words(three, 3), "1 2 3 ");
  EXPECT_EQ(words(three, 9), "1 2 3 ");
  EXPECT_EQ(words("select g::bigint from generate_series(1, 300000) g", 2), "1 2 ");
  EXPECT_EQ(words(three, 9), "1 2 3 ") << "and the connection is as good as before";
  const auto none = run("select 1 as one, 2 as two where false", 1);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->columns, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(none->rows.empty());
}

// What lies beyond is not read, so neither is a value that would be too large.
TEST_F(PostgresRowsTest, WhatIsPassedOverIsNotLookedAt) {
  const std::string large = "repeat('x', " + std::to_string(kMaxDatabaseValueBytes + 1) + ")";
  const std::string rows = "select g::bigint, case when g < 3 then 'x' else " + large +
                           " end from generate_series(1, 4) g";
  EXPECT_EQ(words(rows, 2), "1 2 ");
  EXPECT_EQ(words(rows, 3), "limit_exceeded");
  EXPECT_EQ(words(rows, 2), "1 2 ");
}

TEST_F(PostgresRowsTest, AStatementThatChangesChangesAll) {
  ASSERT_TRUE(run("create table t(n bigint)", 0));
  EXPECT_EQ(words("insert into t select generate_series(1, 5) returning n", 1), "1 ");
  EXPECT_EQ(words("select count(*) from t", 1), "5 ");
  // An error after rows that were given is an error.
  EXPECT_EQ(words("select (6 / (4 - n))::bigint from t", 9), "invalid_input");
  EXPECT_EQ(words("select count(*) from t", 1), "5 ");
}

}  // namespace
}  // namespace remit::database
