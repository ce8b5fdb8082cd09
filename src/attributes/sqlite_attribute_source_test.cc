// Rows as resources: good ones, bad ones, bad queries, and databases in trouble.
#include "attributes/sqlite_attribute_source.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/support/test_folder.h"

namespace remit::attributes {
namespace {

using namespace std::chrono_literals;

const char* const kQuery = "select id, tenant, owner, revision from t where alias = :ref";

class SqliteAttributeSourceTest : public ::testing::Test {
 protected:
  SqliteAttributeSourceTest() {
    folder_.run("a.db", {"create table t(alias, id, tenant, owner, revision)"});
  }
  [[nodiscard]] Result<std::unique_ptr<SqliteAttributeSource>> open(
      const std::string& query, const std::string& file = "a.db") const {
    return SqliteAttributeSource::open(
        {.type = "Invoice", .path = folder_.path(file), .query = query, .source = "invoices"},
        clock_, clock_.monotonic_now() + 10s);
  }
  /// The answer for one row of these values, as SQL.
  [[nodiscard]] Result<access::Resource> answer(const std::string& values) const {
    folder_.run("a.db", {"delete from t", "insert into t values(" + values + ")"});
    const auto source = open(kQuery);
    if (!source) return source.error();
    return (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 10s});
  }
  [[nodiscard]] std::string error(const std::string& values) const {
    const auto found = answer(values);
    if (found) return "found";
    return std::string(error_code_name(found.error().code)) + " " + found.error().to_string();
  }

  testing::TestFolder folder_;
  SystemClock clock_;
};

TEST_F(SqliteAttributeSourceTest, MapsColumns) {
  const auto found = answer("'x', 'i-3', 'tenant-a', 'ana', 12");
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(*found, (access::Resource{.type = "Invoice",
                                      .id = "i-3",
                                      .tenant = "tenant-a",
                                      .source = "invoices",
                                      .revision = "12",
                                      .attributes = {{"owner", std::string("ana")}}}));
  const auto numbers = answer("'x', 7, 8, 9, null");
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->id, "7");
  EXPECT_EQ(numbers->tenant, "8");
  EXPECT_EQ(numbers->revision, "");
  EXPECT_EQ(
      numbers->attributes,
      (std::vector<std::pair<std::string, access::AttributeValue>>{{"owner", std::int64_t{9}}}));
  const auto unowned = answer("'x', 'i', null, null, null");
  ASSERT_TRUE(unowned);
  EXPECT_EQ(unowned->tenant, "") << "tenant isolation refuses it, not the resolver";
  EXPECT_TRUE(unowned->attributes.empty());
}

// REQ-BD-042.
TEST_F(SqliteAttributeSourceTest, RefusesRowsItCannotTrust) {
  EXPECT_EQ(error("'x', null, 'a', 'b', 'c'"), "data_loss invoices: the row has no id");
  EXPECT_EQ(error("'x', '', 'a', 'b', 'c'"), "data_loss invoices: the row has no id");
  EXPECT_EQ(error("'x', 1.5, 'a', 'b', 'c'"),
            "data_loss invoices: \"id\" is neither an integer nor a text");
  EXPECT_EQ(error("'x', 'i', x'00', 'b', 'c'"),
            "data_loss invoices: \"tenant\" is neither an integer nor a text");
  EXPECT_EQ(error("'x', 'i', 'a', 0.5, 'c'"),
            "data_loss invoices: \"owner\" is neither an integer nor a text");
  EXPECT_EQ(error("'x', 'i', 'a', cast(x'ff' as text), 'c'"),
            "data_loss invoices: \"owner\" is not UTF-8");
  EXPECT_EQ(error("'x', '" + std::string(kMaxIdBytes + 1, 'i') + "', 'a', 'b', 'c'"),
            "limit_exceeded invoices: an id of more than 256 bytes");
  EXPECT_EQ(error("'x', 'i', 'a', 'b', 'c'), ('x', 'i', 'a', 'b', 'c'"),
            "data_loss invoices: more than one row for one reference");
  EXPECT_EQ(error("'y', 'i', 'a', 'b', 'c'"), "not_found invoices: no such resource");
}

TEST_F(SqliteAttributeSourceTest, ChecksTheQueryWhenItIsOpened) {
  const auto said = [&](const char* query) {
    const auto source = open(query);
    if (source) return std::string("opened");
    return std::string(error_code_name(source.error().code)) + " " +
           source.error().to_string().substr(folder_.path().size() + 1);
  };
  EXPECT_EQ(said(kQuery), "opened");
  EXPECT_EQ(said("select id, tenant from t where alias = :ref or id = :ref"), "opened");
  const std::string parameters =
      "invalid_input a.db: the query must have the parameter :ref and no other";
  EXPECT_EQ(said("select id, tenant from t"), parameters);
  EXPECT_EQ(said("select id, tenant from t where alias = :reference"), parameters);
  EXPECT_EQ(said("select id, tenant from t where alias = ?"), parameters);
  EXPECT_EQ(said("select id, tenant from t where alias = @ref"), parameters);
  EXPECT_EQ(said("select id, tenant from t where alias = :ref and tenant = :tenant"), parameters);
  EXPECT_EQ(said("select id from t where alias = :ref"),
            "invalid_input a.db: the query gives no column \"tenant\"");
  EXPECT_EQ(said("select tenant from t where alias = :ref"),
            "invalid_input a.db: the query gives no column \"id\"");
  EXPECT_EQ(said("select id, tenant, owner, owner from t where alias = :ref"),
            "invalid_input a.db: the query gives two columns \"owner\"");
  EXPECT_EQ(said("select id, tenant from t where nickname = :ref"),
            "invalid_input a.db: the database says \"no such column: nickname\"");
  EXPECT_EQ(said("select id, tenant from u where alias = :ref"),
            "invalid_input a.db: the database says \"no such table: u\"");
  EXPECT_EQ(said("delete from t where alias = :ref returning id, tenant"),
            "failed_precondition a.db: the database says \"not authorized\"");
  EXPECT_EQ(said("select id, tenant from t where alias = :ref; drop table t"),
            "invalid_input a.db: want exactly one statement");
}

TEST_F(SqliteAttributeSourceTest, DatabasesInTrouble) {
  EXPECT_EQ(open(kQuery, "missing.db").error().code, ErrorCode::kUnavailable);
  folder_.put("text.db", std::string(5000, 'x'));
  EXPECT_EQ(open(kQuery, "text.db").error().code, ErrorCode::kDataLoss);

  const auto source = open(kQuery);
  ASSERT_TRUE(source);
  const auto ask = [&] {
    const auto found = (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 10s});
    return found ? ErrorCode::kInternal : found.error().code;
  };
  EXPECT_EQ(ask(), ErrorCode::kNotFound);
  folder_.run("a.db", {"alter table t rename column tenant to landlord"});
  EXPECT_EQ(ask(), ErrorCode::kInvalidInput) << "the column has gone";
  std::filesystem::remove(folder_.path("a.db"));
  EXPECT_EQ(ask(), ErrorCode::kUnavailable);
}

TEST_F(SqliteAttributeSourceTest, LosesNoTenantWhenTheTableChanges) {
  folder_.run("a.db", {"create table s(alias, id, tenant)", "insert into s values('x', 'i', 'a')"});
  const auto source = open("select * from s where alias = :ref");
  ASSERT_TRUE(source);
  const auto ask = [&] {
    return (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 10s});
  };
  EXPECT_EQ(ask()->tenant, "a");
  folder_.run("a.db", {"drop table s", "create table s(tenant, alias, more, id)",
                       "insert into s values('b', 'x', 'y', 'i')"});
  EXPECT_EQ(ask()->tenant, "b") << "columns go by name, not by place";
  folder_.run("a.db", {"alter table s drop column tenant"});
  EXPECT_EQ(ask().error().to_string(), "invoices: the row has no tenant column any more");
}

TEST_F(SqliteAttributeSourceTest, TrustsNoColumnThatIsThereTwiceByNow) {
  folder_.run("a.db", {"create table s(alias, id)", "insert into s values('x', 'i')"});
  const auto source = open("select *, 'a' as tenant, 1 as open from s where alias = :ref");
  ASSERT_TRUE(source);
  const auto ask = [&] {
    return (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 10s});
  };
  EXPECT_EQ(ask()->tenant, "a");
  for (const std::string column : {"tenant", "open"}) {
    folder_.run("a.db", {"alter table s add column " + column});
    EXPECT_EQ(ask().error().to_string(), "invoices: two columns \"" + column + "\" by now");
    EXPECT_EQ(ask().error().code, ErrorCode::kDataLoss);
    folder_.run("a.db", {"alter table s drop column " + column});
  }
  EXPECT_EQ(ask()->tenant, "a");
}

TEST_F(SqliteAttributeSourceTest, AnswersByTheDeadline) {
  database::SqliteDatabase writer(folder_.path("a.db"), database::Access::kReadWrite, clock_);
  const auto source = open(kQuery);
  ASSERT_TRUE(source);
  ASSERT_TRUE(writer.run("begin exclusive", {}, {.deadline = clock_.monotonic_now() + 10s}));
  const auto locked = (*source)->resolve({"Invoice", "x", clock_.monotonic_now() + 20ms});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace remit::attributes
