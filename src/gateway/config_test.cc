// Configurations, whole and wrong, and where each mistake is said to be.
#include "gateway/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/test_folder.h"

namespace remit::gateway {
namespace {

using remit::testing::TestFolder;

constexpr const char* kWhole = R"(config: remit.config/1
bundle: ./bundle
identity:
  pinned: {principal: {subject: ana, tenant: tenant-a, class: agent, scopes: [b, a], on_behalf_of: bo}}
attributes:
  - {type: Invoice, sqlite: {path: desk.db, query: "select 1"}}
  - {type: File, path: {root: data, tenant: tenant-a}}
  - {type: Note, fixture: {file: notes.yaml}}
upstreams:
  - {name: desk, stdio: {command: [./server, "-y"], environment: {MODE: "1"}, inherit: [TOKEN]}}
evidence: {directory: ../evidence, digest_key: digest.key}
limits: {body_bytes: 4096, calls_per_second: 0, call_timeout_ms: 1500}
)";

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    for (const char* name :
         {"desk.db", "notes.yaml", "digest.key", "open.token", "bundle/x", "data/x"}) {
      put(name, "x");
    }
    namespace fs = std::filesystem;
    fs::permissions(folder_.path("open.token"), fs::perms::others_read, fs::perm_options::add);
  }
  void put(const std::string& name, const std::string& text) const {
    folder_.put(name, text);
    namespace fs = std::filesystem;
    fs::permissions(folder_.path(name), fs::perms::owner_read | fs::perms::owner_write);
  }
  ConfigOutcome read(const std::string& text) {
    put("remit.yaml", text);
    return read_config(files_, folder_.path("remit.yaml"));
  }
  // The problems, without the folder's name.
  std::string problems(const std::string& text) {
    const ConfigOutcome outcome = read(text);
    EXPECT_EQ(outcome.config.has_value(), outcome.problems.empty());
    std::string out;
    for (const Error& problem : outcome.problems) {
      std::string line = problem.to_string();
      for (std::size_t at = 0; (at = line.find(folder_.path() + "/")) != std::string::npos;) {
        line.erase(at, folder_.path().size() + 1);
      }
      out += line + "\n";
    }
    return out;
  }
  // The whole configuration with one piece of text in another's place.
  static std::string with(const std::string& from, const std::string& to) {
    std::string text = kWhole;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  TestFolder folder_;
  PosixFileSystem files_;
};

TEST_F(ConfigTest, ReadsEveryKey) {
  const ConfigOutcome outcome = read(kWhole);
  ASSERT_TRUE(outcome.config) << problems(kWhole);
  const Config& config = *outcome.config;
  EXPECT_EQ(config.directory, folder_.path());
  EXPECT_EQ(config.bundle, folder_.path("bundle"));
  ASSERT_TRUE(config.pinned);
  EXPECT_EQ(config.pinned->subject, "ana");
  EXPECT_EQ(config.pinned->class_name, "agent");
  EXPECT_EQ(config.pinned->on_behalf_of, "bo");
  ASSERT_EQ(config.attributes.size(), 3U);
  EXPECT_EQ(std::get<SqliteAttributes>(config.attributes[0].store).path, folder_.path("desk.db"));
  EXPECT_EQ(config.attributes[0].where, folder_.path("remit.yaml") + ":6:5");
  EXPECT_EQ(config.attributes[0].source, config.attributes[0].type);
  EXPECT_EQ(std::get<PathAttributes>(config.attributes[1].store).root, folder_.path("data"));
  EXPECT_EQ(std::get<FixtureAttributes>(config.attributes[2].store).file,
            folder_.path("notes.yaml"));
  ASSERT_EQ(config.upstreams.size(), 1U);
  EXPECT_EQ(config.upstreams[0].command, (std::vector<std::string>{"./server", "-y"}));
  EXPECT_EQ(config.upstreams[0].environment.front().first, "MODE");
  EXPECT_EQ(config.upstreams[0].inherit, std::vector<std::string>{"TOKEN"});
  EXPECT_EQ(config.limits.body_bytes, 4096U);
  EXPECT_EQ(config.limits.calls_per_second, 0);
  EXPECT_EQ(config.limits.call_timeout.count(), 1500);
}

TEST_F(ConfigTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string from;
    std::string to;
    std::string said;
  };
  const std::vector<Case> cases{
      {"remit.config/1", "remit.config/2", "remit.yaml:1:9: "},
      {"bundle: ./bundle", "bundel: ./bundle", "remit.yaml:2:1: "},
      {"./bundle", "./nowhere", "remit.yaml:2:9: nowhere: "},
      {"desk.db", "gone.db", "remit.yaml:6:36: gone.db: "},
      {"root: data", "root: gone", "remit.yaml:7:31: gone: "},
      {"notes.yaml", "gone.yaml", "remit.yaml:8:34: gone.yaml: "},
      {"digest.key", "gone.key", "remit.yaml:11:48: gone.key: "},
      {"sqlite: {path: desk.db, query: \"select 1\"}", "http: {timeout_ms: 100}",
       "remit.yaml:6:27: "},
      {"sqlite: {path: desk.db, query: \"select 1\"}", "http: {url: \"http://h\", timeout_ms: 0}",
       "remit.yaml:6:57: "},
      {"sqlite: {path: desk.db, query: \"select 1\"}", "http: {url: \"http://h\", trust: gone.pem}",
       "remit.yaml:6:52: gone.pem: "},
      {"sqlite: {path: desk.db, query: \"select 1\"}",
       "http: {url: \"http://h\", credential: gone.token}", "remit.yaml:6:57: gone.token: "},
      {"sqlite: {path: desk.db, query: \"select 1\"}",
       "http: {url: \"http://h\", credential: open.token}",
       "remit.yaml:6:57: open.token can be read by others"},
      {"sqlite: {path: desk.db, query: \"select 1\"}",
       "http: {url: \"http://h\"}, postgres: {query: \"select 1\"}",
       "remit.yaml:6:56: postgres is not supported by this version"},
      {"stdio: {command: [./server, \"-y\"], environment: {MODE: \"1\"}, inherit: [TOKEN]}",
       "http: {url: \"http://127.0.0.1\"}",
       "remit.yaml:10:24: http is not supported by this version"},
      {"limits:", "state: {sqlite: gone/state.db}\nlimits:", "remit.yaml:12:17: "},
      {"limits:", "state: {sqlite: data}\nlimits:", "remit.yaml:12:17: data is not a file"},
      {"limits:", "state: {}\nlimits:", "remit.yaml:12:8: state has one of sqlite and postgres"},
      {"limits:", "state: {sqlite: state.db, postgres: dbname=x}\nlimits:",
       "remit.yaml:12:8: state has one of sqlite and postgres"},
      {"limits:", "state: {mysql: x}\nlimits:", "remit.yaml:12:9: unknown key \"mysql\""},
      {"limits:", "listen: {port: 1}\nlimits:",
       "remit.yaml:12:9: listen is not supported by this version"},
      {"digest_key: digest.key", "digest_key: digest.key, checkpoint_key: c.pem",
       "remit.yaml:11:76: checkpoint_key is not supported by this version"},
      {"digest_key: digest.key", "digest_key: digest.key, retention_days: 3",
       "remit.yaml:11:76: retention_days is not supported by this version"},
      {"  pinned:", "  jwt: []\n  pinned:", "remit.yaml:4:8: jwt is not supported by this version"},
      {"name: desk", "name: Desk", "remit.yaml:10:12: a name is [a-z0-9_-]{1,32}"},
      {"[./server, \"-y\"]", "[./server, 1]", "remit.yaml:10:46: a command has words"},
      {"[./server, \"-y\"]", "[]", "remit.yaml:10:35: a command begins with a program"},
      {"MODE: \"1\"", "MODE: 1", "remit.yaml:10:73: a variable's value is text"},
      {"type: Note", "type: File", "remit.yaml:8:5: the type \"File\" is there twice"},
      {"body_bytes: 4096", "body_bytes: 1", "remit.yaml:12:22: "},
      {"fixture: {file: notes.yaml}", "", "remit.yaml:8:5: an attribute source has one of"},
  };
  for (const Case& test : cases) {
    const std::string said = problems(with(test.from, test.to));
    EXPECT_NE(said.find(test.said), std::string::npos) << test.to << " should say\n"
                                                       << test.said << "\nbut says\n"
                                                       << said;
  }
}

TEST_F(ConfigTest, ReadsServicesThatKnowResources) {
  const auto store = [&](const std::string& http) {
    const ConfigOutcome outcome = read(with("sqlite: {path: desk.db, query: \"select 1\"}", http));
    EXPECT_TRUE(outcome.config) << http;
    return std::get<HttpAttributes>(outcome.config->attributes[0].store);
  };
  const HttpAttributes plain = store("http: {url: \"http://127.0.0.1:9000/resolve\"}");
  EXPECT_EQ(plain.url, "http://127.0.0.1:9000/resolve");
  EXPECT_EQ(plain.timeout, kResolveDeadline);
  EXPECT_EQ(plain.trust, "");
  EXPECT_EQ(plain.credential, "");
  const HttpAttributes full = store(
      "http: {url: \"https://h/\", timeout_ms: 200, trust: notes.yaml, "
      "credential: digest.key}");
  EXPECT_EQ(full.timeout.count(), 200);
  EXPECT_EQ(full.trust, folder_.path("notes.yaml"));
  EXPECT_EQ(full.credential, folder_.path("digest.key"));
}

TEST_F(ConfigTest, ReadsWhereStateIsKept) {
  EXPECT_FALSE(read(kWhole).config->state);
  const auto file = read(with("limits:", "state: {sqlite: state.db}\nlimits:")).config->state;
  ASSERT_TRUE(file);
  EXPECT_EQ(file->kind, ledger::Location::Kind::kSqlite);
  EXPECT_EQ(file->text, folder_.path("state.db"));
  const auto server = read(with("limits:", "state: {postgres: \"dbname=remit\"}\nlimits:"));
  ASSERT_TRUE(server.config && server.config->state);
  EXPECT_EQ(server.config->state->kind, ledger::Location::Kind::kPostgres);
  EXPECT_EQ(server.config->state->text, "dbname=remit");
}

// REQ-QU-041
TEST_F(ConfigTest, ReadsWhomDeferredWorkMayName) {
  EXPECT_EQ(read(kWhole).config->directory_file, "");
  const std::string text = with("identity:", "identity:\n  directory: people.yaml");
  EXPECT_NE(problems(text).find("remit.yaml:"), std::string::npos);
  put("people.yaml", "x");
  const ConfigOutcome outcome = read(text);
  ASSERT_TRUE(outcome.config) << problems(text);
  EXPECT_EQ(outcome.config->directory_file, folder_.path("people.yaml"));
  std::filesystem::permissions(folder_.path("people.yaml"), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_NE(problems(text).find("people.yaml can be written by others"), std::string::npos);
}

TEST_F(ConfigTest, FindsSeveralMistakesAtOnce) {
  const std::string said =
      problems("config: remit.config/1\nbundle: bundle\nidentity: {}\nupstreams: []\nextra: 1\n");
  EXPECT_NE(said.find("pinned"), std::string::npos) << said;
  EXPECT_NE(said.find("evidence"), std::string::npos) << said;
  EXPECT_NE(said.find("extra"), std::string::npos) << said;
}

// REQ-BD-108.
TEST_F(ConfigTest, RefusesFilesThatOthersMayWrite) {
  namespace fs = std::filesystem;
  for (const char* name : {"digest.key", "notes.yaml"}) {
    fs::permissions(folder_.path(name), fs::perms::group_write, fs::perm_options::add);
    const std::string said = problems(kWhole);
    EXPECT_NE(said.find(std::string(name) + " can be written by others"), std::string::npos)
        << said;
    fs::permissions(folder_.path(name), fs::perms::group_write, fs::perm_options::remove);
  }
  fs::permissions(folder_.path("digest.key"), fs::perms::others_read, fs::perm_options::add);
  EXPECT_NE(problems(kWhole).find("digest.key can be read by others"), std::string::npos);
  fs::permissions(folder_.path("digest.key"), fs::perms::others_read, fs::perm_options::remove);
  // A database is as good as all that can be put in its place or read with it.
  put("desk.db-wal", "x");
  for (const char* name : {"desk.db", "desk.db-wal"}) {
    fs::permissions(folder_.path(name), fs::perms::others_write, fs::perm_options::add);
    EXPECT_NE(problems(kWhole).find(std::string(name) + " can be written by others"),
              std::string::npos)
        << name;
    fs::permissions(folder_.path(name), fs::perms::others_write, fs::perm_options::remove);
  }
  fs::permissions(folder_.path(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_NE(problems(kWhole).find("can be written by others, and with it the database"),
            std::string::npos);
  EXPECT_NE(problems(with("limits:", "state: {sqlite: state.db}\nlimits:"))
                .find("remit.yaml:12:17: the directory"),
            std::string::npos);
  fs::permissions(folder_.path(), fs::perms::group_write, fs::perm_options::remove);
  EXPECT_EQ(problems(kWhole), "");
  put("remit.yaml", kWhole);
  fs::permissions(folder_.path("remit.yaml"), fs::perms::others_write, fs::perm_options::add);
  const ConfigOutcome outcome = read_config(files_, folder_.path("remit.yaml"));
  ASSERT_EQ(outcome.problems.size(), 1U);
  EXPECT_NE(outcome.problems[0].message.find("can be written by others"), std::string::npos);
}

TEST_F(ConfigTest, RefusesWhatIsNoFileOfOurs) {
  EXPECT_EQ(read_config(files_, folder_.path("gone.yaml")).problems.at(0).code,
            ErrorCode::kNotFound);
  put("remit.yaml", kWhole);
  std::filesystem::create_symlink(folder_.path("remit.yaml"), folder_.path("link.yaml"));
  EXPECT_NE(read_config(files_, folder_.path("link.yaml")).problems.at(0).message.find("is a link"),
            std::string::npos);
  EXPECT_NE(read_config(files_, folder_.path("data")).problems.at(0).message.find("is not a file"),
            std::string::npos);
  EXPECT_NE(problems("config: [\n").find("remit.yaml:"), std::string::npos);
}

}  // namespace
}  // namespace remit::gateway
