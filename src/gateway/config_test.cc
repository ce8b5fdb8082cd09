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
limits: {body_bytes: 4096, calls_per_second: 0, principal_calls_per_second: 20,
  call_timeout_ms: 1500}
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
  EXPECT_EQ(config.limits.principal_calls_per_second, 20);
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
       "postgres: {connection: host=/run, query: \"select 1\"}, fixture: {file: notes.yaml}",
       "remit.yaml:6:5: an attribute source has one of sqlite, postgres, path, http and fixture"},
      {"sqlite: {path: desk.db, query: \"select 1\"}", "postgres: {query: \"select 1\"}",
       "remit.yaml:6:31: "},
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
      {"  pinned:", "  jwt: []\n  pinned:", "remit.yaml:4:3: identity has one of pinned and jwt"},
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

// REQ-ID-010, REQ-ID-012, REQ-ID-020, REQ-ID-030.
TEST_F(ConfigTest, ReadsWhoseTokensAreTaken) {
  put("jwks.json", "{}");
  put("revoked.yaml", "x");
  const auto jwt = [&](const std::string& text) {
    const std::string whole = with(
        "pinned: {principal: {subject: ana, tenant: tenant-a, class: agent, scopes: [b, a], "
        "on_behalf_of: bo}}",
        "jwt: {issuer: \"https://id.example/\", audiences: [desk], token_from_env: DESK_TOKEN, " +
            text + "}");
    const ConfigOutcome outcome = read(whole);
    EXPECT_TRUE(outcome.config) << problems(whole);
    EXPECT_FALSE(outcome.config->pinned);
    return *outcome.config->jwt;
  };
  const JwtSettings plain = jwt("keys: {file: jwks.json}");
  EXPECT_EQ(std::get<FileKeySettings>(plain.keys).file, folder_.path("jwks.json"));
  EXPECT_EQ(plain.where, folder_.path("remit.yaml") + ":4:93");
  EXPECT_EQ(plain.rules.issuer, "https://id.example/");
  EXPECT_EQ(plain.rules.audiences, std::vector<std::string>{"desk"});
  EXPECT_EQ(plain.rules.skew.count(), 30);
  EXPECT_EQ(plain.rules.tenant.claim, "tenant");
  EXPECT_EQ(plain.token_from_env, "DESK_TOKEN");
  EXPECT_EQ(plain.revocations, "");
  const JwtSettings full =
      jwt("keys: {url: \"https://h/k\", trust: notes.yaml, refresh_s: 60, max_age_s: 120, "
          "timeout_ms: 200}, algorithms: [ES256, EdDSA], type: at+jwt, skew_s: 0, "
          "revocations: revoked.yaml, tenant: {value: acme}, class: {claim: /realm/class}, "
          "scopes: {claim: roles}");
  const auto& keys = std::get<RemoteKeySettings>(full.keys);
  EXPECT_EQ(keys.url, "https://h/k");
  EXPECT_EQ(keys.trust, folder_.path("notes.yaml"));
  EXPECT_EQ(keys.refresh.count(), 60);
  EXPECT_EQ(keys.max_age.count(), 120);
  EXPECT_EQ(keys.timeout.count(), 200);
  EXPECT_EQ(full.rules.algorithms,
            (std::vector{identity::JwsAlgorithm::kEs256, identity::JwsAlgorithm::kEdDsa}));
  EXPECT_EQ(full.rules.type, "at+jwt");
  EXPECT_EQ(full.rules.skew.count(), 0);
  EXPECT_EQ(full.rules.tenant.value, "acme");
  EXPECT_EQ(full.rules.tenant.claim, "");
  EXPECT_EQ(full.rules.class_name.claim, "/realm/class");
  EXPECT_EQ(full.rules.scopes.claim, "roles");
  EXPECT_EQ(full.revocations, folder_.path("revoked.yaml"));
}

TEST_F(ConfigTest, SaysWhatIsWrongAboutTokens) {
  put("jwks.json", "{}");
  const std::string good =
      "jwt:\n    issuer: i\n    audiences: [desk]\n    keys: {file: jwks.json}\n"
      "    token_from_env: DESK_TOKEN\n";
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string jwt = good;
    if (!from.empty()) jwt.replace(jwt.find(from), from.size(), to);
    return problems(
        with("pinned: {principal: {subject: ana, tenant: tenant-a, class: agent, "
             "scopes: [b, a], on_behalf_of: bo}}\n",
             jwt));
  };
  ASSERT_EQ(said("", ""), "");
  const struct {
    const char* from;
    const char* to;
    const char* said;
  } kCases[] = {
      {"issuer: i", "issuer: \"\"", "remit.yaml:5:13: "},
      {"    issuer: i\n", "", "issuer"},
      {"[desk]", "[]", "remit.yaml:6:16: a token is for one of the audiences"},
      {"[desk]", "desk", "remit.yaml:6:16: "},
      {"{file: jwks.json}", "{file: gone.json}", "remit.yaml:7:18: gone.json: "},
      {"{file: jwks.json}", "{}", "remit.yaml:7:11: keys have one of file and url"},
      {"{file: jwks.json}", "{file: jwks.json, url: \"https://h\"}",
       "remit.yaml:7:11: keys have one of file and url"},
      {"{file: jwks.json}", "{file: jwks.json, refresh_s: 60}", "remit.yaml:7:"},
      {"{file: jwks.json}", "{url: \"https://h\", refresh_s: 60, max_age_s: 30}",
       "remit.yaml:7:56: keys would be too old before they are asked for again"},
      {"{file: jwks.json}", "{url: \"https://h\", refresh_s: 1}", "remit.yaml:7:41: "},
      {"{file: jwks.json}", "{url: \"https://h\", trust: gone.pem}", "remit.yaml:7:37: gone.pem: "},
      {"    token_from_env: DESK_TOKEN\n", "", "token_from_env"},
      {"DESK_TOKEN", "DESK_TOKEN\n    skew_s: 301", "remit.yaml:9:13: "},
      {"DESK_TOKEN", "DESK_TOKEN\n    algorithms: [ES256, HS256]",
       "remit.yaml:9:17: \"HS256\" is no algorithm that is taken"},
      {"DESK_TOKEN", "DESK_TOKEN\n    algorithms: [none]",
       "remit.yaml:9:17: \"none\" is no algorithm that is taken"},
      {"DESK_TOKEN", "DESK_TOKEN\n    tenant: tenant", "remit.yaml:9:13: "},
      {"DESK_TOKEN", "DESK_TOKEN\n    tenant: {}",
       "remit.yaml:9:13: tenant has one of claim and value"},
      {"DESK_TOKEN", "DESK_TOKEN\n    class: {claim: a, value: b}",
       "remit.yaml:9:12: class has one of claim and value"},
      {"DESK_TOKEN", "DESK_TOKEN\n    scopes: [a]", "remit.yaml:9:13: "},
      {"DESK_TOKEN", "DESK_TOKEN\n    revocations: gone.yaml", "remit.yaml:9:18: gone.yaml: "},
      {"DESK_TOKEN", "DESK_TOKEN\n    secret: x", "remit.yaml:9:5: unknown key \"secret\""},
      {"DESK_TOKEN", "TOKEN", "the caller's token, in \"TOKEN\", goes to no server"},
  };
  for (const auto& each : kCases) {
    EXPECT_NE(said(each.from, each.to).find(each.said), std::string::npos)
        << each.to << " should say\n"
        << each.said << "\nbut says\n"
        << said(each.from, each.to);
  }
  std::filesystem::permissions(folder_.path("jwks.json"), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_NE(said("", "").find("jwks.json can be written by others"), std::string::npos);
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
