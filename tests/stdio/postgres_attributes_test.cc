// A gateway whose trusted store is a PostgreSQL server, which goes and comes back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/stdio/session.h"
#include "tests/support/postgres_server.h"

namespace remit::testing {
namespace {

std::string read_note(int id, const std::string& note) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"note.read","arguments":{"note":")" + note +
         R"("}}})";
}

void configure(const SessionFolder& folder, const std::string& connection) {
  folder.put(
      "remit.yaml",
      replaced(
          text_of_file(folder.path("remit.yaml")), "fixture: {file: notes.yaml}",
          "source: notes, postgres: {connection: \"" + connection +
              "\", query: \"select id, tenant, revision, secret from notes where alias = :ref\"}"));
}

// REQ-BD-048.
TEST(PostgresAttributes, DecideACallThroughTheGateway) {
  const std::unique_ptr<PostgresServer> server = PostgresServer::start();
  if (server == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  const SystemClock clock;
  const std::string connection = server->new_schema();
  const auto writer = database::PostgresDatabase::open(connection, clock).value();
  for (const char* const statement :
       {"create table notes(alias text, id text, tenant text, revision text, secret boolean)",
        "insert into notes values('mine', 'canonical-mine', 'tenant-a', 'r-9', false), "
        "('foreign', 'canonical-foreign', 'tenant-b', 'r-9', false), "
        "('two', 'one', 'tenant-a', 'r-9', false), ('two', 'two', 'tenant-a', 'r-9', false)"}) {
    const auto done =
        writer->run(statement, {}, {.deadline = clock.monotonic_now() + std::chrono::seconds{60}});
    ASSERT_TRUE(done) << done.error().to_string();
  }
  const SessionFolder folder({});
  configure(folder, connection);
  Session session(folder);
  ASSERT_TRUE(session.send(
      R"({"jsonrpc":"2.0","id":"init","method":"initialize","params":)"
      R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})"));
  ASSERT_TRUE(session.receive());
  int id = 0;
  const auto call = [&](const std::string& note) {
    ASSERT_TRUE(session.send(read_note(++id, note)));
    ASSERT_TRUE(session.receive()) << note;
  };
  const std::vector<std::pair<std::string, std::string>> table = {
      {"mine", "allowed"},
      {"foreign", "tenant_mismatch"},
      {"nowhere", "resource_not_found"},
      {"two", "resolver_unavailable"},
  };
  for (const auto& [note, reason] : table) call(note);
  server->kill();
  call("mine");
  server->restart();
  call("mine");
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  std::vector<std::string> reasons;
  for (const std::string& line : folder.events()) {
    if (member(line, "event") == "authorization.decision") {
      reasons.push_back(member(line, "reason"));
    }
  }
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"allowed", "tenant_mismatch", "resource_not_found",
                                      "resolver_unavailable", "resolver_unavailable", "allowed"}));
}

TEST(PostgresAttributes, AreRefusedAtTheStartWhereTheyCannotBeTrusted) {
  const SessionFolder folder({});
  configure(folder, "host=notes.example dbname=notes");
  Session session(folder);
  session.finish();
  ASSERT_EQ(session.problems().size(), 1U);
  EXPECT_NE(session.problems().front().to_string().find(
                "remit.yaml:7:5: a server beyond this machine must be asked with "
                "sslmode=verify-full"),
            std::string::npos)
      << session.problems().front().to_string();
}

}  // namespace
}  // namespace remit::testing
