// Rows of a PostgreSQL server as resources: types, bad rows, bad queries, and servers in trouble.
#include "attributes/postgres_attribute_source.h"

#include <gtest/gtest.h>

#include "database/postgres_database.h"
#include "tests/support/postgres_server.h"

namespace remit::attributes {
namespace {

using namespace std::chrono_literals;

const char* const kQuery = "select * from t where alias = :ref";

class PostgresAttributeSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = testing::PostgresServer::start();
    if (server_ == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
    connection_ = server_->new_schema();
    writer_ = database::PostgresDatabase::open(connection_, clock_).value();
    sql("create table t(alias text, id text, tenant text)");
    sql("insert into t values('x', 'i', 'a')");
  }
  void sql(const std::string& statement) {
    const auto done = writer_->run(statement, {}, {.deadline = clock_.monotonic_now() + 60s});
    ASSERT_TRUE(done) << statement << ": " << done.error().to_string();
  }
  [[nodiscard]] Result<std::unique_ptr<PostgresAttributeSource>> open(
      const std::string& query, const std::string& more = "") const {
    return PostgresAttributeSource::open(
        {.type = "Invoice", .connection = connection_ + more, .query = query, .source = "invoices"},
        clock_, clock_.monotonic_now() + 60s);
  }
  [[nodiscard]] Result<access::Resource> ask(const AttributeSource& source) const {
    return source.resolve({"Invoice", "x", clock_.monotonic_now() + 60s});
  }
  /// What is said of the row whose columns, beside those of the table, are these.
  [[nodiscard]] std::string said(const std::string& columns) const {
    const auto source = open("select " + columns + " from t where alias = :ref");
    if (!source) return "at the start: " + std::string(error_code_name(source.error().code));
    const auto found = ask(**source);
    if (found) return "found";
    return std::string(error_code_name(found.error().code)) + " " + found.error().to_string();
  }

  SystemClock clock_;
  std::unique_ptr<testing::PostgresServer> server_;
  std::string connection_;
  std::unique_ptr<database::Database> writer_;
};

TEST_F(PostgresAttributeSourceTest, MapsTypes) {
  const auto source = open(
      "select 7::bigint as id, tenant, 3::smallint as revision, true as open, false as frozen, "
      "-5 as balance, 'n'::varchar(3) as note, null::int as gone, "
      "array['a', 'b c', 'd\"e', '\\', '', 'NULL', 'x,y', '{z}'] as labels, "
      "array[]::text[] as none, timestamptz '2026-01-02 03:04:05+01' as due, "
      "'5b2e4f0e-8f8b-4a53-8d1c-0a5d6c1f2e3d'::uuid as token from t where alias = :ref");
  ASSERT_TRUE(source) << source.error().to_string();
  const auto found = ask(**source);
  ASSERT_TRUE(found) << found.error().to_string();
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      *found,
      (access::Resource{
          .type = "Invoice",
          .id = "7",
          .tenant = "a",
          .source = "invoices",
          .revision = "3",
          .attributes = {{"balance", std::int64_t{-5}},
                         {"due", std::string("2026-01-02 02:04:05+00")},
                         {"frozen", false},
                         {"labels", Texts{"a", "b c", "d\"e", "\\", "", "NULL", "x,y", "{z}"}},
                         {"none", Texts{}},
                         {"note", std::string("n")},
                         {"open", true},
                         {"token", std::string("5b2e4f0e-8f8b-4a53-8d1c-0a5d6c1f2e3d")}}}));
}

// REQ-BD-042, REQ-BD-048.
TEST_F(PostgresAttributeSourceTest, RefusesRowsItCannotTrust) {
  EXPECT_EQ(said("id, tenant"), "found");
  EXPECT_EQ(said("id, null::text as tenant"), "found") << "tenant isolation refuses it";
  EXPECT_EQ(said("null::text as id, tenant"), "data_loss invoices: the row has no id");
  EXPECT_EQ(said("true as id, tenant"),
            "data_loss invoices: \"id\" is neither an integer nor a text");
  EXPECT_EQ(said("id, array['a'] as tenant"),
            "data_loss invoices: \"tenant\" is neither an integer nor a text");
  EXPECT_EQ(said("id, tenant, 1.5::float8 as size"),
            "data_loss invoices: \"size\" is neither an integer nor a text");
  EXPECT_EQ(said("id, tenant, '\\x00'::bytea as size"),
            "data_loss invoices: \"size\" is neither an integer nor a text");
  for (const char* const other :
       {"1.5::numeric", "null::numeric", "'{}'::jsonb", "array[1]", "interval '1 day'"}) {
    EXPECT_EQ(said(std::string("id, tenant, ") + other + " as size"),
              "data_loss invoices: \"size\" is of a type that is no attribute")
        << other;
  }
  for (const char* const array : {"array['a', null]", "array[array['a'], array['b']]"}) {
    EXPECT_EQ(said(std::string("id, tenant, ") + array + " as size"),
              "data_loss invoices: \"size\" is an array with NULL or several dimensions")
        << array;
  }
  sql("insert into t values('x', 'j', 'a')");
  EXPECT_EQ(said("id, tenant"), "data_loss invoices: more than one row for one reference");
  sql("delete from t");
  EXPECT_EQ(said("id, tenant"), "not_found invoices: no such resource");
}

TEST_F(PostgresAttributeSourceTest, ChecksTheQueryWhenItIsOpened) {
  sql("alter table t add column number int");
  const std::vector<std::pair<std::string, ErrorCode>> table = {
      {"select id, tenant from t", ErrorCode::kInvalidInput},
      {"select id, tenant from t where alias = :ref and tenant = :tenant",
       ErrorCode::kInvalidInput},
      {"select id from t where alias = :ref", ErrorCode::kInvalidInput},
      {"select tenant from t where alias = :ref", ErrorCode::kInvalidInput},
      {"select id, tenant, id from t where alias = :ref", ErrorCode::kInvalidInput},
      {"select id, tenant from t where number = :ref", ErrorCode::kInvalidInput},
      {"select id, tenant from t where number = cast(:ref as int)", ErrorCode::kInvalidInput},
      {"select id, tenant from u where alias = :ref", ErrorCode::kInvalidInput},
      {"select id, tenant from t where alias = :ref; drop table t", ErrorCode::kInvalidInput},
      {"delete from t where alias = :ref returning id, tenant", ErrorCode::kFailedPrecondition},
      {"with gone as (delete from t where alias = :ref returning id, tenant) select * from gone",
       ErrorCode::kFailedPrecondition},
      {"select id, tenant, set_config('transaction_read_only', 'off', true) as w from t "
       "where alias = :ref or true",
       ErrorCode::kUnavailable},
  };
  for (const auto& [query, code] : table) {
    const auto source = open(query);
    ASSERT_FALSE(source) << query;
    EXPECT_EQ(source.error().code, code) << query << ": " << source.error().to_string();
  }
  EXPECT_TRUE(open("select id, tenant from t where number::text = :ref"));
}

// REQ-BD-042.
TEST_F(PostgresAttributeSourceTest, SeesATableThatChanged) {
  const auto source = open(kQuery);
  ASSERT_TRUE(source) << source.error().to_string();
  ASSERT_TRUE(ask(**source));
  const auto code = [&] {
    const auto found = ask(**source);
    return found ? ErrorCode{} : found.error().code;
  };
  sql("alter table t alter column tenant type boolean using true");
  EXPECT_EQ(code(), ErrorCode::kDataLoss);
  sql("alter table t alter column tenant type text using 'b'");
  const auto moved = ask(**source);
  ASSERT_TRUE(moved) << moved.error().to_string();
  EXPECT_EQ(moved->tenant, "b") << "nothing is kept from one question to the next";
  sql("alter table t rename column tenant to owner");
  EXPECT_EQ(code(), ErrorCode::kDataLoss);
  sql("drop table t");
  EXPECT_EQ(code(), ErrorCode::kInvalidInput);
}

TEST_F(PostgresAttributeSourceTest, AnswersByTheDeadline) {
  const auto source = open(kQuery);
  ASSERT_TRUE(source) << source.error().to_string();
  const auto slow = [&] {
    return (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 300ms});
  };
  // Another transaction holds the table until this one's deadline has passed.
  const Status held = writer_->transact(
      clock_.monotonic_now() + 60s, [&](database::Transaction& transaction) -> Status {
        REMIT_TRY_ASSIGN(const database::Answer locked,
                         transaction.run("lock table t in access exclusive mode", {}));
        (void)locked;
        const auto found = slow();
        EXPECT_FALSE(found);
        if (!found) {
          EXPECT_EQ(found.error().code, ErrorCode::kDeadlineExceeded);
        }
        return {};
      });
  EXPECT_TRUE(held);
  server_->stand_still();
  const auto hanging = slow();
  server_->go_on();
  ASSERT_FALSE(hanging);
  EXPECT_EQ(hanging.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(ask(**source)) << "on another connection";
}

TEST_F(PostgresAttributeSourceTest, OutlivesItsServer) {
  const auto source = open(kQuery);
  ASSERT_TRUE(source) << source.error().to_string();
  ASSERT_TRUE(ask(**source));
  server_->kill();
  const auto gone = ask(**source);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kUnavailable);
  server_->restart();
  const auto back = ask(**source);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->id, "i");
}

// REQ-BD-048.
TEST(PostgresAttributeSource, RefusesConnectionsItCannotTrust) {
  const SystemClock clock;
  const auto said = [&](const std::string& connection) {
    const auto source = PostgresAttributeSource::open(
        {.type = "Invoice", .connection = connection, .query = kQuery, .source = "s"}, clock,
        clock.monotonic_now() + 60s);
    EXPECT_FALSE(source) << connection;
    return source ? "opened" : source.error().to_string();
  };
  const std::string secret =
      "a password does not belong into the configuration; name a passfile, "
      "or set PGPASSWORD";
  EXPECT_EQ(said("host=/run password=geheim"), secret);
  EXPECT_EQ(said("postgresql://app:geheim@localhost/x"), secret);
  EXPECT_EQ(said("password='geheim"),
            "not a connection string of libpq, as \"host=/run/postgresql dbname=remit\" is");
  EXPECT_EQ(said("host=/run service=x"), "a service file is not read; name the host itself");
  EXPECT_EQ(said("dbname=x"), "the connection names no host");
  const std::string tls = "a server beyond this machine must be asked with sslmode=verify-full";
  for (const char* const connection :
       {"host=db.example", "host=db.example sslmode=require", "host=db.example sslmode=verify-ca",
        "host=/run,db.example", "host=localhost hostaddr=192.0.2.1",
        "postgresql://db.example/x?sslmode=prefer", "host=localhost.db.example"}) {
    EXPECT_EQ(said(connection), tls) << connection;
  }
  EXPECT_NE(said("host=/nowhere dbname=x").find("the connection failed"), std::string::npos);
}

}  // namespace
}  // namespace remit::attributes
