// Loading bundles: a good one, and one mistake of each kind with the words it is told in.
#include "policy/bundle.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "base/bytes.h"
#include "base/digest.h"

namespace remit::policy {
namespace {

namespace fs = std::filesystem;

const char* const kBundle = R"(bundle: remit.bundle/1
version: "2026-08-04"
description: invoices of two tenants
environment: test
routes:
  - {name: agent, transport: stdio}
  - {name: direct, transport: library, mode: shadow}
)";

const char* const kCatalogue = R"(catalogue: remit.catalogue/1
tools:
  - name: invoice.read
    upstream: {server: desk, tool: read}
    effect: read
    scopes: ["invoice:read", "desk:use"]
    arguments: schemas/invoice.json
    resources: [{argument: /invoice, type: Invoice}]
  - {name: clock.now, effect: none, boundary: none}
  - {name: "mcp:resources/read", effect: read, action: read_resource, open_arguments: true,
     mode: shadow, requested_ref_safe: true, permit_lifetime_ms: 5000, approval: none}
)";

const char* const kSchema =
    R"({"type": "object", "required": ["invoice"], "properties": {"invoice": {"type": "string"}}})";

/// A bundle in a directory of its own, removed at the end.
class TestBundle {
 public:
  TestBundle() {
    std::string pattern = (fs::path(testing::TempDir()) / "bundle.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root_ = pattern;
    put("bundle.yaml", kBundle);
    put("catalogue.yaml", kCatalogue);
    put("schemas/invoice.json", kSchema);
    put("schema.cedarschema", "entity Principal;\n");
    put("policies/a.cedar", "permit(principal, action, resource);\n");
    put("policies/b.cedar", "forbid(principal, action, resource);\n");
  }
  ~TestBundle() { fs::remove_all(root_); }
  TestBundle(const TestBundle&) = delete;
  TestBundle& operator=(const TestBundle&) = delete;

  void put(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    ::chmod(file.parent_path().c_str(), 0700);
    std::ofstream(file, std::ios::binary) << text;
    ::chmod(file.c_str(), 0600);
  }
  void replace(const std::string& path, const std::string& from, const std::string& to) const {
    std::ifstream in(root_ / path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    put(path, text.replace(at, from.size(), to));
  }
  [[nodiscard]] fs::path path(const std::string& relative = "") const { return root_ / relative; }

  [[nodiscard]] BundleOutcome load() const {
    PosixFileSystem files;
    return load_bundle(files, root_.string());
  }
  /// All problems, one a line, the bundle's directory written as `B`.
  [[nodiscard]] std::string problems() const {
    const BundleOutcome outcome = load();
    EXPECT_EQ(outcome.bundle == nullptr, !outcome.problems.empty());
    std::string out;
    for (const Error& error : outcome.problems) {
      std::string line = error.to_string();
      const std::string root = root_.string();
      for (std::size_t at = line.find(root); at != std::string::npos; at = line.find(root)) {
        line.replace(at, root.size(), "B");
      }
      out += std::string(error_code_name(error.code)) + " " + line + "\n";
    }
    return out;
  }

 private:
  fs::path root_;
};

// REQ-BN-014
TEST(Bundle, SaysWhatMayHappenOnce) {
  TestBundle files;
  const auto load = [&](const char* keys) {
    std::string text = kCatalogue;
    text.replace(text.find("approval: none"), 14, keys);
    files.put("catalogue.yaml", text);
    EXPECT_EQ(files.problems(), "");
    return *files.load().bundle->find_tool("mcp:resources/read");
  };
  const Tool plain = load("approval: none, idempotency: none, idempotent: false");
  EXPECT_FALSE(plain.needs_ledger());
  EXPECT_FALSE(plain.approval_required);
  const Tool approved = load("approval: required");
  EXPECT_TRUE(approved.approval_required);
  EXPECT_TRUE(approved.needs_ledger());
  EXPECT_EQ(approved.idempotency, Idempotency::kNone);
  const Tool keyed = load("idempotency: key_optional, idempotent: true");
  EXPECT_EQ(keyed.idempotency, Idempotency::kKeyOptional);
  EXPECT_TRUE(keyed.idempotent && keyed.needs_ledger());
  EXPECT_EQ(load("idempotency: key_required").idempotency, Idempotency::kKeyRequired);
}

TEST(Bundle, LoadsWhole) {
  const TestBundle files;
  ASSERT_EQ(files.problems(), "");
  const auto bundle = files.load().bundle;
  EXPECT_EQ(bundle->version, "2026-08-04");
  EXPECT_EQ(bundle->environment, "test");
  ASSERT_EQ(bundle->routes.size(), 2U);
  EXPECT_EQ(bundle->find_route("agent")->mode, Mode::kEnforce);
  EXPECT_EQ(bundle->find_route("direct")->mode, Mode::kShadow);
  EXPECT_EQ(bundle->find_route("Agent"), nullptr);

  const Tool* read = bundle->find_tool("invoice.read");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->upstream_server, "desk");
  EXPECT_EQ(read->upstream_tool, "read");
  EXPECT_EQ(read->action, "invoice.read");
  EXPECT_EQ(read->effect, Effect::kRead);
  EXPECT_EQ(read->scopes, (std::vector<std::string>{"desk:use", "invoice:read"}));
  EXPECT_EQ(read->argument_names, std::vector<std::string>{"invoice"});
  EXPECT_EQ(
      read->arguments_schema,
      R"({"properties":{"invoice":{"type":"string"}},"required":["invoice"],"type":"object"})");
  ASSERT_TRUE(read->arguments.has_value());
  ASSERT_EQ(read->resources.size(), 1U);
  EXPECT_EQ(read->resources[0].argument, "/invoice");
  EXPECT_FALSE(read->resources[0].optional);
  EXPECT_TRUE(read->has_boundary);
  EXPECT_EQ(read->permit_lifetime_ms, 1000);

  EXPECT_FALSE(bundle->find_tool("clock.now")->has_boundary);
  const Tool* mcp = bundle->find_tool("mcp:resources/read");
  ASSERT_NE(mcp, nullptr);
  EXPECT_EQ(mcp->action, "read_resource");
  EXPECT_EQ(mcp->upstream_tool, "mcp:resources/read");
  EXPECT_EQ(mcp->mode, Mode::kShadow);
  EXPECT_TRUE(mcp->open_arguments);
  EXPECT_TRUE(mcp->requested_ref_safe);
  EXPECT_EQ(mcp->permit_lifetime_ms, 5000);

  EXPECT_EQ(bundle->find_tool("invoice.Read"), nullptr);
  EXPECT_EQ(bundle->find_tool("invoice.read "), nullptr);
  ASSERT_EQ(bundle->policies.size(), 2U);
  EXPECT_EQ(bundle->policies[0].file, "policies/a.cedar");
  EXPECT_EQ(bundle->policies[1].text, "forbid(principal, action, resource);\n");
  EXPECT_EQ(bundle->schema.text, "entity Principal;\n");
}

TEST(Bundle, DirectoryMayBeNamedByALink) {
  const TestBundle files;
  const std::string link = files.path().string() + ".link";
  ASSERT_EQ(::symlink(files.path().c_str(), link.c_str()), 0);
  PosixFileSystem posix;
  EXPECT_TRUE(load_bundle(posix, link).problems.empty());
  ::unlink(link.c_str());
}

// REQ-BN-030. The digest is what `sha256sum` over the files, put through `sha256sum`, gives.
TEST(BundleDigest, IsTheDigestOfTheListing) {
  const TestBundle files;
  std::string listing;
  for (const char* const path :
       {"bundle.yaml", "catalogue.yaml", "policies/a.cedar", "policies/b.cedar",
        "schema.cedarschema", "schemas/invoice.json"}) {
    PosixFileSystem posix;
    listing += to_hex(sha256(*posix.read(files.path(path), 1 << 20))) + "  " + path + "\n";
  }
  EXPECT_EQ(files.load().bundle->digest, digest_text(sha256(listing)));
}

// REQ-BN-015: the more specific word counts, and without any the boundary enforces.
TEST(BundleMode, IsOfRouteAndTool) {
  struct Case {
    const char* route;  ///< of `direct`
    const char* tool;   ///< of `mcp:resources/read`
    Mode direct, agent;
  };
  const std::vector<Case> cases = {
      {"", "", Mode::kEnforce, Mode::kEnforce},
      {", mode: enforce", "", Mode::kEnforce, Mode::kEnforce},
      {", mode: shadow", "", Mode::kShadow, Mode::kEnforce},
      {"", "mode: shadow,", Mode::kShadow, Mode::kShadow},
      {", mode: enforce", "mode: shadow,", Mode::kShadow, Mode::kShadow},
      {", mode: shadow", "mode: enforce,", Mode::kEnforce, Mode::kEnforce},
      {", mode: shadow", "mode: {direct: enforce},", Mode::kEnforce, Mode::kEnforce},
      {", mode: shadow", "mode: {agent: shadow},", Mode::kShadow, Mode::kShadow},
      {"", "mode: {direct: shadow, agent: enforce},", Mode::kShadow, Mode::kEnforce},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.route) + " " + one.tool);
    const TestBundle files;
    files.replace("bundle.yaml", ", mode: shadow", one.route);
    files.replace("catalogue.yaml", "mode: shadow,", one.tool);
    ASSERT_EQ(files.problems(), "");
    const auto bundle = files.load().bundle;
    const Tool* tool = bundle->find_tool("mcp:resources/read");
    EXPECT_EQ(mode_of(bundle->find_route("direct"), tool), one.direct);
    EXPECT_EQ(mode_of(bundle->find_route("agent"), tool), one.agent);
    // A tool that says nothing is as its route; a call that reached neither is enforced.
    EXPECT_EQ(mode_of(bundle->find_route("direct"), bundle->find_tool("clock.now")),
              bundle->find_route("direct")->mode);
    EXPECT_EQ(mode_of(bundle->find_route("direct"), nullptr), bundle->find_route("direct")->mode);
    EXPECT_EQ(mode_of(nullptr, nullptr), Mode::kEnforce);
  }
}

// REQ-BN-030, modes included.
TEST(BundleDigest, ChangesWithEverythingThatDecides) {
  const TestBundle files;
  std::string before = files.load().bundle->digest;
  const auto changed = [&] {
    const auto bundle = files.load().bundle;
    const std::string now = bundle == nullptr ? before : bundle->digest;
    return std::exchange(before, now) != now;
  };
  EXPECT_FALSE(changed());
  files.replace("bundle.yaml", "mode: shadow", "mode: enforce");
  EXPECT_TRUE(changed());
  files.replace("catalogue.yaml", "mode: shadow", "mode: enforce");
  EXPECT_TRUE(changed());
  files.replace("schemas/invoice.json", "\"string\"", "\"number\"");
  EXPECT_TRUE(changed());
  files.put("policies/b.cedar", "permit(principal, action, resource);\n");
  EXPECT_TRUE(changed());
  fs::rename(files.path("policies/b.cedar"), files.path("policies/c.cedar"));
  EXPECT_TRUE(changed());
  files.put("schema.cedarschema", "entity Other;\n");
  EXPECT_TRUE(changed());
  files.put("tests/a.yaml", "decisions: []\n");
  files.put("review.yaml", "accepted: []\n");
  files.put("policies/.a.cedar.swp", "an editor's");
  EXPECT_FALSE(changed());
}

struct Mistake {
  const char* name;
  std::function<void(const TestBundle&)> make;
  const char* told;
};

Mistake replaced(const char* name, const char* file, const char* from, const char* to,
                 const char* told) {
  return {name, [=](const TestBundle& files) { files.replace(file, from, to); }, told};
}
Mistake in_catalogue(const char* name, const char* from, const char* to, const char* told) {
  return replaced(name, "catalogue.yaml", from, to, told);
}

// REQ-BN-001: every problem is told, with its place.
class BundleMistake : public testing::TestWithParam<Mistake> {};

TEST_P(BundleMistake, IsToldWithItsPlace) {
  const TestBundle files;
  GetParam().make(files);
  EXPECT_EQ(files.problems(), GetParam().told);
}

const auto mistake_name = [](const testing::TestParamInfo<Mistake>& each) {
  return std::string(each.param.name);
};

// REQ-BN-004, REQ-BN-010, REQ-BN-011.
INSTANTIATE_TEST_SUITE_P(
    Description, BundleMistake,
    testing::Values(
        replaced("UnknownKey", "bundle.yaml", "description:", "descripton:",
                 "invalid_input B/bundle.yaml:3:1: unknown key \"descripton\" in the bundle; known "
                 "are bundle, description, environment, routes, version; did you mean "
                 "description?\n"),
        replaced("NoVersion", "bundle.yaml", "version: \"2026-08-04\"\n", "",
                 "invalid_input B/bundle.yaml:1:1: the bundle lacks \"version\"\n"),
        replaced("VersionIsANumber", "bundle.yaml", "\"2026-08-04\"", "1.0",
                 "invalid_input B/bundle.yaml:2:10: \"version\" must be text, not the number "
                 "\"1.0\"; put it in quotes\n"),
        replaced("VersionOfTwoLines", "bundle.yaml", "\"2026-08-04\"", "\"a\\nb\"",
                 "invalid_input B/bundle.yaml:2:10: \"version\" must be one line of at most 256 "
                 "bytes\n"),
        replaced("LaterFormat", "bundle.yaml", "remit.bundle/1", "remit.bundle/2",
                 "unsupported B/bundle.yaml:1:9: \"remit.bundle/2\" is not supported; this version "
                 "reads remit.bundle/1\n"),
        replaced("RepeatedRoute", "bundle.yaml", "name: direct", "name: agent",
                 "invalid_input B/bundle.yaml:7:12: the route \"agent\" is given twice\n"),
        replaced("RouteName", "bundle.yaml", "name: direct", "name: \"di rect\"",
                 "invalid_input B/bundle.yaml:7:12: \"di rect\" is no route name: 1 to 64 of "
                 "[A-Za-z0-9_./:-]\n"),
        replaced("UnknownMode", "bundle.yaml", "mode: shadow", "mode: shadwo",
                 "invalid_input B/bundle.yaml:7:46: \"mode\" must be one of enforce, shadow, not "
                 "the text \"shadwo\"; did you mean shadow?\n"),
        Mistake{"NoRoutes",
                [](const TestBundle& files) {
                  files.put("bundle.yaml",
                            "bundle: remit.bundle/1\nversion: v1\nenvironment: e\nroutes: []\n");
                },
                "invalid_input B/bundle.yaml:4:9: a bundle without routes can be reached by no "
                "call\n"},
        Mistake{"NotYaml",
                [](const TestBundle& files) { files.put("bundle.yaml", "bundle: \"x\n"); },
                "invalid_input B/bundle.yaml:1:9: a text without end\n"},
        Mistake{"NotUtf8",
                [](const TestBundle& files) { files.put("bundle.yaml", "bundle: \xff\n"); },
                "invalid_input B/bundle.yaml: byte 8: not UTF-8\n"}),
    mistake_name);

// REQ-BN-012, REQ-BN-014, REQ-BD-080.
INSTANTIATE_TEST_SUITE_P(
    Catalogue, BundleMistake,
    testing::Values(
        in_catalogue("UnknownKey", "scopes:", "scope:",
                     "invalid_input B/catalogue.yaml:6:5: unknown key \"scope\" in a tool; known "
                     "are action, approval, arguments, boundary, effect, idempotency, "
                     "idempotent, mode, name, open_arguments, permit_lifetime_ms, "
                     "requested_ref_safe, resources, scopes, "
                     "upstream; did you mean scopes?\n"),
        in_catalogue("UnknownMode", "mode: shadow,", "mode: shadwo,",
                     "invalid_input B/catalogue.yaml:11:12: \"mode\" must be one of enforce, "
                     "shadow, not the text \"shadwo\"; did you mean shadow?\n"),
        in_catalogue("ModeOfAnUnknownRoute", "mode: shadow,", "mode: {Agent: shadow},",
                     "invalid_input B/catalogue.yaml:11:13: bundle.yaml has no route \"Agent\"\n"),
        in_catalogue("UnknownModeOfARoute", "mode: shadow,", "mode: {agent: off},",
                     "invalid_input B/catalogue.yaml:11:20: \"agent\" must be one of enforce, "
                     "shadow, not the text \"off\"\n"),
        in_catalogue("ModeOfNoRoute", "mode: shadow,", "mode: {},",
                     "invalid_input B/catalogue.yaml:11:12: \"mode\" names no route\n"),
        in_catalogue("UnknownEffect", "effect: read\n", "effect: reads\n",
                     "invalid_input B/catalogue.yaml:5:13: \"effect\" must be one of none, read, "
                     "write, destructive, external, delegating, not the text \"reads\"; did you "
                     "mean read?\n"),
        in_catalogue("NoEffect", "    effect: read\n", "",
                     "invalid_input B/catalogue.yaml:3:5: a tool lacks \"effect\"\n"),
        in_catalogue(
            "BoundaryNoneWithEffect", "effect: none", "effect: external",
            "invalid_input B/catalogue.yaml:9:51: only a tool with \"effect: none\" may be "
            "without a boundary\n"),
        in_catalogue("BoundaryNoneWithResources", "boundary: none}",
                     "boundary: none, resources: [{argument: /invoice, type: Invoice}]}",
                     "invalid_input B/catalogue.yaml:9:64: a tool without a boundary has nothing "
                     "to protect, and so no resources\n"),
        in_catalogue("UnknownApproval", "approval: none", "approval: maybe",
                     "invalid_input B/catalogue.yaml:11:82: \"approval\" must be one of none, "
                     "required, not the text \"maybe\"\n"),
        in_catalogue("UnknownIdempotency", "approval: none", "idempotency: key",
                     "invalid_input B/catalogue.yaml:11:85: \"idempotency\" must be one of none, "
                     "key_optional, key_required, not the text \"key\"\n"),
        in_catalogue("IdempotentWithoutKeys", "approval: none", "idempotent: true",
                     "invalid_input B/catalogue.yaml:11:84: \"idempotent: true\" says what may be "
                     "repeated by one key; let \"idempotency\" take keys\n"),
        in_catalogue("ApprovalWithoutBoundary", "boundary: none}",
                     "boundary: none, approval: required}",
                     "invalid_input B/catalogue.yaml:9:63: a tool without a boundary has nothing "
                     "to protect, and so neither approvals nor keys\n"),
        in_catalogue("KeyWithoutBoundary", "boundary: none}",
                     "boundary: none, idempotency: key_required}",
                     "invalid_input B/catalogue.yaml:9:66: a tool without a boundary has nothing "
                     "to protect, and so neither approvals nor keys\n"),
        in_catalogue("RepeatedTool", "name: clock.now", "name: invoice.read",
                     "invalid_input B/catalogue.yaml:9:12: the tool \"invoice.read\" is given "
                     "twice\n"),
        in_catalogue("ToolName", "name: clock.now", "name: clöck",
                     "invalid_input B/catalogue.yaml:9:12: \"clöck\" is no tool name: 1 to "
                     "64 of [A-Za-z0-9_./:-]\n"),
        in_catalogue("UpstreamServer", "server: desk", "server: \"a\\nb\"",
                     "invalid_input B/catalogue.yaml:4:24: \"a\\x0ab\" is no server name: 1 to "
                     "64 of [A-Za-z0-9_./:-]\n"),
        in_catalogue("SchemaFileMissing", "schemas/invoice.json", "schemas/missing.json",
                     "invalid_input B/catalogue.yaml:7:16: the bundle has no "
                     "\"schemas/missing.json\"; a schema is a file schemas/NAME.json\n"),
        in_catalogue("SchemaFileElsewhere", "schemas/invoice.json", "schemas/../bundle.yaml",
                     "invalid_input B/catalogue.yaml:7:16: the bundle has no "
                     "\"schemas/../bundle.yaml\"; a schema is a file schemas/NAME.json\n"),
        in_catalogue("ArgumentNotNamed", "/invoice,", "/invoce,",
                     "invalid_input B/catalogue.yaml:8:28: the argument schema does not name "
                     "\"/invoce\"\n"),
        in_catalogue("ArgumentNoPointer", "/invoice,", "invoice,",
                     "invalid_input B/catalogue.yaml:8:28: \"invoice\" is no JSON pointer, as "
                     "\"/invoice\" is\n"),
        in_catalogue("EntityType", "type: Invoice", "type: \"In voice\"",
                     "invalid_input B/catalogue.yaml:8:44: \"In voice\" is no Cedar entity type\n"),
        in_catalogue("OverlappingArguments", "[{argument: /invoice, type: Invoice}]",
                     "[{argument: /invoice, type: A}, {argument: /invoice/id, type: A::B}]",
                     "invalid_input B/catalogue.yaml:8:59: \"/invoice/id\" overlaps \"/invoice\", "
                     "which names a resource already\n"),
        in_catalogue("ResourcesWithoutArguments", "    arguments: schemas/invoice.json\n", "",
                     "invalid_input B/catalogue.yaml:7:16: a tool with resources needs "
                     "\"arguments\", which name them\n"),
        in_catalogue("PermitLifetime", "permit_lifetime_ms: 5000", "permit_lifetime_ms: 0",
                     "invalid_input B/catalogue.yaml:11:66: \"permit_lifetime_ms\" must be from 1 "
                     "to 300000, not 0\n"),
        Mistake{"Several",
                [](const TestBundle& files) {
                  files.put("catalogue.yaml",
                            "catalogue: remit.catalogue/1\ntools:\n  - {name: a, efect: read}\n"
                            "  - {name: a, effect: x}\n");
                  files.put("policies/b.txt", "x");
                },
                "invalid_input B/catalogue.yaml:3:5: a tool lacks \"effect\"\n"
                "invalid_input B/catalogue.yaml:3:15: unknown key \"efect\" in a tool; known are "
                "action, approval, arguments, boundary, effect, idempotency, "
                "idempotent, mode, name, open_arguments, permit_lifetime_ms, requested_ref_safe, "
                "resources, scopes, "
                "upstream; did you mean effect?\n"
                "invalid_input B/catalogue.yaml:4:12: the tool \"a\" is given twice\n"
                "invalid_input B/catalogue.yaml:4:23: \"effect\" must be one of none, read, write, "
                "destructive, external, delegating, not the text \"x\"\n"
                "invalid_input B/policies/\"b.txt\": policies/ holds only files NAME.cedar with a "
                "NAME of [A-Za-z0-9_.:-]\n"}),
    mistake_name);

// REQ-BN-003, REQ-BN-005, REQ-BN-013.
INSTANTIATE_TEST_SUITE_P(
    Files, BundleMistake,
    testing::Values(
        Mistake{"NoDirectory", [](const TestBundle& files) { fs::remove_all(files.path()); },
                "not_found B: cannot open: No such file or directory\n"},
        Mistake{"NoCatalogue",
                [](const TestBundle& files) { fs::remove(files.path("catalogue.yaml")); },
                "not_found B/catalogue.yaml: cannot open: No such file or directory\n"},
        Mistake{"NoCedarSchema",
                [](const TestBundle& files) { fs::remove(files.path("schema.cedarschema")); },
                "not_found B/schema.cedarschema: cannot open: No such file or directory\n"},
        Mistake{"NoPolicies",
                [](const TestBundle& files) { fs::remove_all(files.path("policies")); },
                "not_found B/policies: cannot open: No such file or directory\n"},
        Mistake{"PolicyOfAnotherName",
                [](const TestBundle& files) { files.put("policies/tenant.ceder", "x"); },
                "invalid_input B/policies/\"tenant.ceder\": policies/ holds only files NAME.cedar "
                "with a NAME of [A-Za-z0-9_.:-]\n"},
        Mistake{"OthersMayWriteASchema",
                [](const TestBundle& files) {
                  ::chmod(files.path("schemas/invoice.json").c_str(), 0620);
                },
                "failed_precondition B/schemas/invoice.json: others may write it, and so change "
                "the policy; remove that right (chmod go-w)\n"},
        Mistake{"OthersMayWriteTheFolder",
                [](const TestBundle& files) { ::chmod(files.path("policies").c_str(), 0777); },
                "failed_precondition B/policies: others may write it, and so change the policy; "
                "remove that right (chmod go-w)\n"},
        Mistake{"OthersMayWriteTheDirectory",
                [](const TestBundle& files) { ::chmod(files.path().c_str(), 0770); },
                "failed_precondition B: others may write it, and so change the policy; remove that "
                "right (chmod go-w)\n"},
        Mistake{"LinkOutside",
                [](const TestBundle& files) {
                  fs::remove(files.path("policies/a.cedar"));
                  fs::create_symlink("/etc/hostname", files.path("policies/a.cedar"));
                },
                "invalid_input B/policies/a.cedar: is a link; a bundle holds its files itself\n"},
        Mistake{"FolderIsALink",
                [](const TestBundle& files) {
                  fs::rename(files.path("policies"), files.path("elsewhere"));
                  fs::create_symlink("elsewhere", files.path("policies"));
                },
                "invalid_input B/policies: is a link; a bundle holds its files itself\n"},
        Mistake{
            "FileIsAFolder",
            [](const TestBundle& files) { fs::create_directory(files.path("policies/c.cedar")); },
            "invalid_input B/policies/c.cedar: is not a file\n"},
        Mistake{"FileIsAPipe",
                [](const TestBundle& files) {
                  ASSERT_EQ(::mkfifo(files.path("policies/c.cedar").c_str(), 0600), 0);
                },
                "invalid_input B/policies/c.cedar: is not a file\n"},
        Mistake{"SchemaNotJson",
                [](const TestBundle& files) { files.put("schemas/invoice.json", "[1,]"); },
                "invalid_input B/schemas/invoice.json: byte 3: expected a value\n"},
        Mistake{"SchemaNoObject",
                [](const TestBundle& files) { files.put("schemas/invoice.json", "[]"); },
                "invalid_input B/schemas/invoice.json: an argument schema must be a JSON object\n"},
        replaced("SchemaDoesNotCompile", "schemas/invoice.json", "\"string\"", "\"strnig\"",
                 "invalid_input B/schemas/invoice.json: /properties/invoice/type: the meta-schema "
                 "refuses it (anyOf)\n"),
        replaced("SchemaReferenceOutside", "schemas/invoice.json", "\"type\": \"string\"",
                 "\"$ref\": \"other.json\"",
                 "unsupported B/schemas/invoice.json: a reference leaves the document\n"),
        Mistake{"FileTooLarge",
                [](const TestBundle& files) {
                  files.put("policies/c.cedar", std::string(kMaxConfigBytes + 1, ' '));
                },
                "limit_exceeded B/policies/c.cedar: larger than 4194304 bytes\n"}),
    mistake_name);

}  // namespace
}  // namespace remit::policy
