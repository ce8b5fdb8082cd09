// The starter bundle: whatever a server calls its tools, what comes out can be loaded.
#include "policy/starter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "policy/bundle.h"

namespace remit::policy {
namespace {

json::Value tool_named(const std::string& name,
                       const std::string& schema = R"({"type":"object"})") {
  return json::Object{{"name", name}, {"inputSchema", json::parse(schema).value()}};
}

/// The starter written down and loaded again; null with a failure.
std::shared_ptr<const Bundle> loaded(const StarterBundle& starter) {
  std::string root = ::testing::TempDir() + "starter.XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) std::abort();
  PosixFileSystem files;
  for (const char* folder : {"/schemas", "/policies"}) {
    EXPECT_TRUE(files.make_directory(root + folder));
  }
  for (const StarterFile& file : starter.files) {
    EXPECT_TRUE(files.replace(root + "/" + file.path, file.text));
  }
  BundleOutcome outcome = load_bundle(files, root);
  std::filesystem::remove_all(root);
  for (const Error& problem : outcome.problems) ADD_FAILURE() << problem.to_string();
  return outcome.bundle;
}

TEST(StarterBundle, LoadsWhateverTheNamesAre) {
  const std::string longest(64, 'x');
  json::Array tools;
  for (const std::string& name :
       {std::string("read"), std::string("write"), std::string("destructive"), std::string("true"),
        std::string("12"), std::string("~"), std::string("-"), std::string(".a"), std::string("_a"),
        std::string("a/b"), std::string("a:b"), std::string("a_b"), std::string(".."),
        longest.substr(1) + "/", longest.substr(1) + ":", longest.substr(1) + "_"}) {
    tools.push_back(tool_named(name));
  }
  for (const std::string server : {"true", "null", "123", "1e3", "-", "_", "no", "0x1f", "a-b"}) {
    const Result<StarterBundle> starter = starter_bundle(json::Value(tools), server);
    ASSERT_TRUE(starter) << server << ": " << starter.error().to_string();
    EXPECT_EQ(starter->warnings.size(), 1U);  // of the name ~
    const std::shared_ptr<const Bundle> bundle = loaded(*starter);
    ASSERT_NE(bundle, nullptr) << server;
    EXPECT_EQ(bundle->tools.size(), tools.size() - 1);
    for (const Tool& tool : bundle->tools) EXPECT_EQ(tool.upstream_server, server);
  }
}

TEST(StarterBundle, LeavesOutWhatNoBundleCanHold) {
  const struct {
    json::Value tool;
    const char* why;
  } cases[] = {
      {tool_named("two words"), "a name is 1 to 64"},
      {tool_named(std::string(65, 'x')), "a name is 1 to 64"},
      {tool_named("mcp:resources/read"), "mean methods of the protocol"},
      {tool_named("look", R"({"pattern":"(?=a)b"})"), "its argument schema cannot be used"},
      {tool_named("far", R"({"$ref":"https://example.com/s"})"), "its argument schema cannot be"},
      {tool_named("odd", R"({"type":"strange"})"), "its argument schema cannot be used"},
  };
  for (const auto& each : cases) {
    const Result<StarterBundle> starter =
        starter_bundle(json::Array{each.tool, tool_named("good")}, "s");
    ASSERT_TRUE(starter) << each.why;
    ASSERT_EQ(starter->warnings.size(), 1U) << each.why;
    EXPECT_NE(starter->warnings[0].find(each.why), std::string::npos) << starter->warnings[0];
    const std::shared_ptr<const Bundle> bundle = loaded(*starter);
    ASSERT_NE(bundle, nullptr) << each.why;
    EXPECT_NE(bundle->find_tool("good"), nullptr);
    EXPECT_EQ(bundle->tools.size(), 1U);
  }
}

std::string text_of(const StarterBundle& starter, const std::string& path) {
  for (const StarterFile& file : starter.files) {
    if (file.path == path) return file.text;
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// REQ-BN-028: most servers say nothing, and their tools are corrected one by one.
TEST(StarterBundle, SaysOfEachToolWhatItDoesAndWhoSaysSo) {
  json::Array tools = {tool_named("silent"), tool_named("told")};
  tools.push_back(json::parse(R"({"name":"reads","inputSchema":{"type":"object"},
                                  "annotations":{"readOnlyHint":true}})")
                      .value());
  const Result<StarterBundle> starter =
      starter_bundle(json::Value(tools), "s", {{"told", "write"}});
  ASSERT_TRUE(starter);
  ASSERT_EQ(starter->tools.size(), 3U);
  EXPECT_EQ(starter->tools[0].kind, "read");
  EXPECT_EQ(starter->tools[0].said_by, EffectSource::kServer);
  EXPECT_EQ(starter->tools[1].kind, "destructive");
  EXPECT_EQ(starter->tools[1].said_by, EffectSource::kNobody);
  EXPECT_EQ(starter->tools[2].kind, "write");
  EXPECT_EQ(starter->tools[2].said_by, EffectSource::kPerson);
  const std::shared_ptr<const Bundle> bundle = loaded(*starter);
  ASSERT_NE(bundle, nullptr);
  EXPECT_EQ(bundle->find_tool("told")->effect, Effect::kWrite);
  EXPECT_EQ(bundle->find_tool("told")->scopes, std::vector<std::string>{"s:write"});
  EXPECT_TRUE(has(text_of(*starter, "schema.cedarschema"), "\"told\" in [\"write tools\"]"));
}

TEST(StarterBundle, PermitsEachKindWhateverTheToolsAre) {
  const Result<StarterBundle> starter = starter_bundle(json::Array{tool_named("silent")}, "s");
  ASSERT_TRUE(starter);
  for (const std::string kind : {"read", "write", "destructive"}) {
    EXPECT_TRUE(has(text_of(*starter, "policies/scopes.cedar"),
                    "(action in Action::\"" + kind +
                        " tools\" && principal.scopes.contains(\"s:" + kind + "\"))"));
  }
}

TEST(StarterBundle, TakesNoWordForAToolThatItDoesNotHold) {
  json::Array tools;
  const auto refusal = [&](const std::string& name) {
    const Result<StarterBundle> starter = starter_bundle(tools, "s", {{name, "read"}});
    return starter ? std::string("taken") : starter.error().to_string();
  };
  EXPECT_EQ(refusal("look"), "the list has no tool \"look\" that a bundle can hold");
  for (int i = 0; i < 3; ++i) tools.emplace_back(tool_named("look" + std::to_string(i)));
  EXPECT_TRUE(refusal("lokk1").ends_with("; did you mean look1?")) << refusal("lokk1");
  EXPECT_TRUE(refusal("anything").ends_with("; there are look0, look1, look2"));
  for (int i = 3; i < 10; ++i) tools.emplace_back(tool_named("look" + std::to_string(i)));
  EXPECT_TRUE(refusal("anything").ends_with("look6, look7 and 2 more")) << refusal("anything");
}

TEST(StarterBundle, TakesOnlyServerNamesThatTheConfigurationTakes) {
  for (const std::string& server :
       {std::string(), std::string("Files"), std::string("a b"), std::string("a\"b"),
        std::string("a.b"), std::string("\xc3\xa9"), std::string(33, 'a')}) {
    EXPECT_FALSE(starter_bundle(json::Array{}, server)) << server;
  }
}

}  // namespace
}  // namespace remit::policy
