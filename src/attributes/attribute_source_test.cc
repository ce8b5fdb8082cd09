// The contract that every attribute source keeps, run over each of them.
#include "attributes/attribute_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "attributes/fixture_attribute_source.h"
#include "attributes/http_attribute_source.h"
#include "attributes/path_attribute_source.h"
#include "attributes/postgres_attribute_source.h"
#include "attributes/sqlite_attribute_source.h"
#include "base/limits.h"
#include "database/postgres_database.h"
#include "http/server.h"
#include "json/value.h"
#include "tests/support/postgres_server.h"
#include "tests/support/test_folder.h"

namespace remit::attributes {
namespace {

using namespace std::chrono_literals;

/// A source over the same two resources: `march` of tenant-a and `april` of tenant-b.
struct Implementation {
  const char* name;
  bool asks_outside;  ///< the fixture answers from memory, whatever the time
  std::function<std::unique_ptr<AttributeSource>(const testing::TestFolder&, const Clock&)> make;
};

std::unique_ptr<AttributeSource> make_fixture(const testing::TestFolder& folder, const Clock&) {
  folder.put("fixture.yaml",
             "fixture: remit.fixture/1\nrevision: r1\nresources:\n"
             "  - {type: Invoice, references: [march], id: i-3, tenant: tenant-a}\n"
             "  - {type: Invoice, references: [april], id: i-4, tenant: tenant-b}\n"
             "  - {type: Account, references: [may], id: a-5, tenant: tenant-a}\n");
  PosixFileSystem files;
  FixtureOutcome outcome =
      FixtureAttributeSource::read(files, folder.path("fixture.yaml"), "Invoice", "store");
  EXPECT_TRUE(outcome.problems.empty());
  return std::move(outcome.source);
}

std::unique_ptr<AttributeSource> make_sqlite(const testing::TestFolder& folder,
                                             const Clock& clock) {
  folder.run("a.db", {"create table invoices(id, tenant, alias, revision)",
                      "insert into invoices values('i-3', 'tenant-a', 'march', 'r1'), "
                      "('i-4', 'tenant-b', 'april', 'r1')"});
  auto source = SqliteAttributeSource::open(
      {.type = "Invoice",
       .path = folder.path("a.db"),
       .query = "select id, tenant, revision from invoices where alias = :ref",
       .source = "store"},
      clock, clock.monotonic_now() + 10s);
  EXPECT_TRUE(source);
  return std::move(source).value();
}

const std::unique_ptr<testing::PostgresServer>& postgres() {
  static const std::unique_ptr<testing::PostgresServer> server = testing::PostgresServer::start();
  return server;
}

std::unique_ptr<AttributeSource> make_postgres(const testing::TestFolder&, const Clock& clock) {
  if (postgres() == nullptr) return nullptr;
  const std::string connection = postgres()->new_schema();
  const auto database = database::PostgresDatabase::open(connection, clock).value();
  for (const char* const statement :
       {"create table invoices(id text, tenant text, alias text, revision int)",
        "insert into invoices values('i-3', 'tenant-a', 'march', 1), "
        "('i-4', 'tenant-b', 'april', 1)"}) {
    EXPECT_TRUE(database->run(statement, {}, {.deadline = clock.monotonic_now() + 60s}));
  }
  auto source = PostgresAttributeSource::open(
      {.type = "Invoice",
       .connection = connection,
       .query = "select id, tenant, revision from invoices where alias = :ref",
       .source = "store"},
      clock, clock.monotonic_now() + 60s);
  EXPECT_TRUE(source);
  return std::move(source).value();
}

/// Paths have one tenant for a root: the second resource is of the same.
std::unique_ptr<AttributeSource> make_path(const testing::TestFolder& folder, const Clock& clock) {
  folder.put("root/known/march", "3");
  folder.put("root/known/april", "4");
  auto source = PathAttributeSource::open({.type = "Invoice",
                                           .root = folder.path("root/known"),
                                           .tenant = "tenant-a",
                                           .source = "store"},
                                          clock);
  EXPECT_TRUE(source);
  return std::move(source).value();
}

/// The service of an organisation that keeps its accounts elsewhere.
class Registry final : public http::Handler {
 public:
  http::Response handle(const http::Request& request, std::stop_token) override {
    const Result<json::Value> question = json::parse(request.body);
    const std::string* type = question ? question->find("type")->if_string() : nullptr;
    const std::string* reference = question ? question->find("reference")->if_string() : nullptr;
    json::Array found;
    if (type != nullptr && reference != nullptr && *type == "Invoice") {
      if (*reference == "march") found.emplace_back(row("i-3", "tenant-a"));
      if (*reference == "april") found.emplace_back(row("i-4", "tenant-b"));
    }
    return {.status = 200,
            .headers = {{"Content-Type", "application/json"}},
            .body = json::write(json::Object{{"resources", std::move(found)}})};
  }

 private:
  static json::Object row(const char* id, const char* tenant) {
    return {{"id", id},
            {"tenant", tenant},
            {"revision", "r1"},
            {"attributes", json::Object{{"size", 3}, {"frozen", false}}}};
  }
};

/// A source together with the service that it asks.
class SourceOfRegistry final : public AttributeSource {
 public:
  explicit SourceOfRegistry(const Clock& clock)
      : server_(http::Server::start({}, registry_, clock).value()),
        source_(HttpAttributeSource::open(
                    {.type = "Invoice",
                     .url = "http://127.0.0.1:" + std::to_string(server_->port()) + "/resolve",
                     .timeout = 10s,
                     .source = "store"},
                    clock)
                    .value()) {}
  [[nodiscard]] Result<access::Resource> resolve(const ResourceQuery& query) const override {
    return source_->resolve(query);
  }

 private:
  Registry registry_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<HttpAttributeSource> source_;
};

std::unique_ptr<AttributeSource> make_http(const testing::TestFolder&, const Clock& clock) {
  return std::make_unique<SourceOfRegistry>(clock);
}

class AttributeSourceContract : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (source_ == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  [[nodiscard]] ResourceQuery ask(std::string_view reference) const {
    return {"Invoice", reference, clock_.monotonic_now() + 10s};
  }
  testing::TestFolder folder_;
  SystemClock clock_;
  std::unique_ptr<AttributeSource> source_ = GetParam().make(folder_, clock_);
};

// REQ-BD-040.
TEST_P(AttributeSourceContract, AnswersWithTenantSourceAndRevision) {
  const auto march = source_->resolve(ask("march"));
  ASSERT_TRUE(march) << march.error().to_string();
  EXPECT_EQ(march->type, "Invoice");
  EXPECT_EQ(march->tenant, "tenant-a");
  EXPECT_EQ(march->source, "store");
  EXPECT_FALSE(march->id.empty());
  EXPECT_FALSE(march->revision.empty());
  EXPECT_TRUE(std::is_sorted(march->attributes.begin(), march->attributes.end()));
  for (const auto& [name, value] : march->attributes) EXPECT_NE(name, "tenant");

  const auto april = source_->resolve(ask("april"));
  ASSERT_TRUE(april);
  EXPECT_NE(april->id, march->id);
  EXPECT_EQ(*source_->resolve(ask("march")), *march) << "the same question, the same answer";
}

TEST_P(AttributeSourceContract, KnowsItsOwnTypeOnly) {
  const auto found = source_->resolve({"Account", "march", clock_.monotonic_now() + 10s});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
}

TEST_P(AttributeSourceContract, FindsNothingForHostileReferences) {
  const std::string long_name(300, 'x');
  const std::string too_long(kMaxReferenceBytes + 1, 'x');
  for (const std::string& reference :
       {std::string(), std::string("march\0", 6), std::string("\0march", 6), std::string("\0", 1),
        std::string("/etc/passwd"), std::string("../march"), std::string("x/../../march"),
        std::string("march/"), std::string("march/."), std::string("x/' or '1'='1"),
        std::string("x/' union select 'i-3', 'tenant-a', 'r1' --"), std::string("%/%"),
        std::string("march\xff/x"), long_name, too_long}) {
    const auto found = source_->resolve(ask(reference));
    ASSERT_FALSE(found) << reference;
    EXPECT_EQ(found.error().code, ErrorCode::kNotFound) << reference;
    // The reference is the caller's text and has no place in a message.
    if (reference.size() > 5) {
      EXPECT_EQ(found.error().to_string().find(reference), std::string::npos) << reference;
    }
  }
}

TEST_P(AttributeSourceContract, ComparesByteForByte) {
  for (const char* const reference : {"March/x", "m\xc3\xa4rch/x", "march /x", " march/x"}) {
    EXPECT_FALSE(source_->resolve(ask(reference))) << reference;
  }
}

TEST_P(AttributeSourceContract, IsLateRatherThanWrong) {
  const auto late = source_->resolve({"Invoice", "march", MonotonicTime{0}});
  ASSERT_EQ(late.has_value(), !GetParam().asks_outside);
  if (!late) {
    EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
  }
}

TEST_P(AttributeSourceContract, AnswersManyThreads) {
  const auto march = source_->resolve(ask("march"));
  const auto april = source_->resolve(ask("april"));
  ASSERT_TRUE(march && april);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const bool first = (i + thread) % 2 == 0;
        const auto found = source_->resolve(ask(first ? "march" : "april"));
        if (!found || *found != (first ? *march : *april)) ++wrong;
        const auto missing = source_->resolve(ask("no/such"));
        if (missing || missing.error().code != ErrorCode::kNotFound) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, AttributeSourceContract,
                         ::testing::Values(Implementation{"Fixture", false, make_fixture},
                                           Implementation{"Sqlite", true, make_sqlite},
                                           Implementation{"Postgres", true, make_postgres},
                                           Implementation{"Path", true, make_path},
                                           Implementation{"Http", true, make_http}),
                         [](const ::testing::TestParamInfo<Implementation>& each) {
                           return std::string(each.param.name);
                         });

}  // namespace
}  // namespace remit::attributes
