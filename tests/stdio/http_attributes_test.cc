// A gateway whose trusted store is a service that is asked over HTTP.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "http/server.h"
#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

/// Knows three notes, and can be told to answer something else.
class NoteService final : public http::Handler {
 public:
  http::Response handle(const http::Request& request, std::stop_token stop) override {
    const auto question = json::parse(request.body);
    const std::string reference = question ? *question->find("reference")->if_string() : "";
    if (reference == "hang") {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    std::string found;
    if (reference == "mine") found = row("canonical-mine", "tenant-a");
    if (reference == "foreign") found = row("canonical-foreign", "tenant-b");
    if (reference == "two") found = row("one", "tenant-a") + "," + row("two", "tenant-a");
    http::Response out{.status = 200, .body = R"({"resources":[)" + found + "]}"};
    if (reference == "moved") {
      out.status = 307;
      out.headers.set("Location", "/elsewhere");
    }
    out.headers.set("Content-Type", reference == "page" ? "text/html" : "application/json");
    return out;
  }

 private:
  static std::string row(const std::string& id, const std::string& tenant) {
    return R"({"id":")" + id + R"(","tenant":")" + tenant +
           R"(","revision":"r-9","attributes":{"secret":false}})";
  }
};

std::string read_note(int id, const std::string& note) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":"note.read","arguments":{"note":")" + note +
         R"("}}})";
}

// REQ-BD-047.
TEST(HttpAttributes, DecideACallThroughTheGateway) {
  const SystemClock clock;
  NoteService notes;
  const auto service = http::Server::start({}, notes, clock).value();
  const SessionFolder folder({});
  folder.put("remit.yaml",
             replaced(text_of_file(folder.path("remit.yaml")), "fixture: {file: notes.yaml}",
                      "source: notes, http: {url: \"http://127.0.0.1:" +
                          std::to_string(service->port()) + "/resolve\", timeout_ms: 300}"));
  Session session(folder);
  ASSERT_TRUE(session.send(
      R"({"jsonrpc":"2.0","id":"init","method":"initialize","params":)"
      R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})"));
  ASSERT_TRUE(session.receive());
  const std::vector<std::pair<std::string, std::string>> table = {
      {"mine", "allowed"},
      {"foreign", "tenant_mismatch"},
      {"nowhere", "resource_not_found"},
      {"two", "resolver_unavailable"},
      {"moved", "resolver_unavailable"},
      {"page", "resolver_unavailable"},
      {"hang", "resolver_unavailable"},
  };
  int id = 0;
  for (const auto& [note, reason] : table) {
    ASSERT_TRUE(session.send(read_note(++id, note)));
    ASSERT_TRUE(session.receive()) << note;
  }
  session.finish();
  EXPECT_TRUE(session.problems().empty());
  std::vector<std::string> reasons;
  std::string resolved;
  for (const std::string& line : folder.events()) {
    const std::string event = member(line, "event");
    if (event == "authorization.decision") reasons.push_back(member(line, "reason"));
    if (event == "resource.resolved" && resolved.empty()) resolved = line;
  }
  ASSERT_EQ(reasons.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(reasons[i], table[i].second) << table[i].first;
  }
  EXPECT_EQ(member(resolved, "resolution_source"), "notes") << resolved;
  EXPECT_EQ(member(resolved, "resource_id"), "canonical-mine") << resolved;
  EXPECT_NE(resolved.find("r-9"), std::string::npos) << resolved;
}

TEST(HttpAttributes, AreRefusedAtTheStartWhereTheyCannotBeTrusted) {
  const SessionFolder folder({});
  folder.put("remit.yaml",
             replaced(text_of_file(folder.path("remit.yaml")), "fixture: {file: notes.yaml}",
                      "http: {url: \"http://notes.example/resolve\"}"));
  Session session(folder);
  session.finish();
  ASSERT_EQ(session.problems().size(), 1U);
  EXPECT_NE(session.problems().front().to_string().find(
                "remit.yaml:7:5: a service beyond this machine must be asked by https"),
            std::string::npos)
      << session.problems().front().to_string();
}

}  // namespace
}  // namespace remit::testing
