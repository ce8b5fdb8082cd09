// Worlds that must not start: each mistake is told with its place, and nothing is served or
// written.
#include <sys/stat.h>

#include "tests/stdio/session.h"

namespace remit::testing {
namespace {

struct BadWorld {
  const char* file;
  const char* from;
  const char* to;
  const char* said;  // in one of the problems, without the folder's name
};

std::string problems_of(const SessionFolder& folder, gateway::StdioRun run = {}) {
  PosixFileSystem files(std::chrono::milliseconds{20});
  const SystemClock clock;
  SystemRandom random;
  auto pipe = process::make_pipe();
  EXPECT_TRUE(pipe);
  run.config_file = folder.path("remit.yaml");
  run.input_fd = pipe->read_end.get();
  run.output_fd = pipe->write_end.get();
  std::string out;
  for (const Error& problem : gateway::run_stdio(run, files, clock, random)) {
    out += replaced(problem.to_string(), folder.path("") + "/", "") + "\n";
  }
  return out;
}

TEST(StartupTest, RefusesBadWorldsWithThePlace) {
  const std::vector<BadWorld> cases{
      {"remit.yaml", "bundle: bundle", "bundle: gone", "remit.yaml:2:9: gone: "},
      {"remit.yaml", "{file: notes.yaml}", "{file: gone.yaml}", "gone.yaml: "},
      {"remit.yaml", "type: Note", "type: Memo",
       "bundle/catalogue.yaml: the tool \"note.read\" names a resource of the type \"Note\", for "
       "which remit.yaml has no attributes"},
      {"remit.yaml", "fixture: {file: notes.yaml}", "sqlite: {path: notes.yaml, query: select 1}",
       "remit.yaml:7:5: "},
      {"remit.yaml", "name: fake", "name: other",
       "the tool \"fake.act\" names the upstream \"fake\", which remit.yaml does not have"},
      {"remit.yaml", "/usr/bin/env", "/nonexistent/program",
       "upstream fake: cannot start \"/nonexistent/program\": No such file or directory"},
      {"notes.yaml", "fx-1", "[", "notes.yaml:"},
      {"digest.key", "0123456789abcdef0123456789abcdef", "short", "digest.key: "},
      {"bundle/bundle.yaml", "name: agent", "name: direct",
       "bundle/bundle.yaml: the bundle has no route \"agent\", by which calls come here"},
      {"bundle/bundle.yaml", "version: v7", "version: v7\nextra: 1", "bundle/bundle.yaml:"},
      {"bundle/policies/policies.cedar", "@id(\"agents-act\")", "",
       "bundle/policies/policies.cedar:12:1: policy has no @id"},
      {"bundle/schemas/act.json", "{", "", "bundle/schemas/act.json"},
      {"bundle/catalogue.yaml", "mcp:resources/read", "mcp:resources/write",
       "the tool \"mcp:resources/write\" is no method of the protocol that can be governed"},
      {"bundle/catalogue.yaml", "upstream: {server: fake, tool: absent}, ", "",
       "the tool \"absent\" names no upstream"},
      {"bundle/catalogue.yaml",
       "effect: read, scopes: [act],\n     arguments: schemas/any.json}\n  - {name: "
       "\"mcp:resources/r",
       "effect: read, open_arguments: true}\n  - {name: \"mcp:resources/r",
       "the tool \"absent\" takes any argument and pins no schema"},
      {"remit.yaml", "fixture: {file: notes.yaml}",
       "sqlite: {path: bundle/schemas, query: select 1}", "bundle/schemas is not a file"},
  };
  for (const BadWorld& test : cases) {
    const SessionFolder folder({});
    const std::string text = text_of_file(folder.path(test.file));
    const std::size_t at = text.find(test.from);
    ASSERT_NE(at, std::string::npos) << test.from;
    folder.put(test.file, std::string(text).replace(at, std::string(test.from).size(), test.to));
    const std::string said = problems_of(folder);
    EXPECT_NE(said.find(test.said), std::string::npos) << test.to << " should say\n"
                                                       << test.said << "\nbut says\n"
                                                       << said;
    for (const std::string& line : folder.events()) {
      EXPECT_EQ(member(line, "event"), "policy.published") << test.to;
    }
  }
}

TEST(StartupTest, RefusesAMissingManifestAndOverlongIds) {
  const SessionFolder folder({});
  EXPECT_NE(problems_of(folder, {.config_file = "", .manifest_file = folder.path("gone.yaml")})
                .find("gone.yaml"),
            std::string::npos);
  EXPECT_NE(problems_of(folder, {.config_file = "", .run_id = std::string(257, 'r')})
                .find("a run id has at most 256"),
            std::string::npos);
  EXPECT_TRUE(folder.tap().empty());
}

// Whatever file a run is told to read, one that nobody writes does not keep it waiting.
TEST(StartupTest, WaitsForNoPipe) {
  for (const char* const file :
       {"remit.yaml", "notes.yaml", "digest.key", "bundle/bundle.yaml", "bundle/catalogue.yaml",
        "bundle/schemas/act.json", "bundle/policies/policies.cedar", "manifest.yaml", "notes.db"}) {
    const SessionFolder folder({});
    const std::string text = text_of_file(folder.path("remit.yaml"));
    if (std::string_view(file) == "notes.db") {
      folder.put("remit.yaml", replaced(text, "fixture: {file: notes.yaml}",
                                        "sqlite: {path: notes.db, query: select 1}"));
    }
    std::filesystem::remove(folder.path(file));
    ASSERT_EQ(::mkfifo(folder.path(file).c_str(), 0600), 0) << file;
    gateway::StdioRun run;
    if (std::string_view(file) == "manifest.yaml") run.manifest_file = folder.path(file);
    EXPECT_NE(problems_of(folder, run).find(file), std::string::npos) << file;
    EXPECT_TRUE(folder.tap().empty()) << file;
  }
}

}  // namespace
}  // namespace remit::testing
