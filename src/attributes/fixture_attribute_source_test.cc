// Fixture files: what they give, and what is said of bad ones.
#include "attributes/fixture_attribute_source.h"

#include <gtest/gtest.h>

#include "tests/support/test_folder.h"

namespace remit::attributes {
namespace {

FixtureOutcome read(const testing::TestFolder& folder, const std::string& text) {
  folder.put("f.yaml", text);
  PosixFileSystem files;
  return FixtureAttributeSource::read(files, folder.path("f.yaml"), "Invoice", "invoices");
}

std::string problems(const std::string& text) {
  const testing::TestFolder folder;
  const FixtureOutcome outcome = read(folder, text);
  EXPECT_EQ(outcome.source == nullptr, !outcome.problems.empty());
  std::string out;
  for (const Error& error : outcome.problems) {
    out += error.to_string().substr(folder.path().size() + 1) + "\n";
  }
  return out;
}

const std::string kHead = "fixture: remit.fixture/1\nrevision: fx-7\nresources:\n";

TEST(FixtureAttributeSource, GivesTypedAttributesAndDefaults) {
  const testing::TestFolder folder;
  const FixtureOutcome outcome = read(
      folder, kHead +
                  "  - {type: Invoice, references: [march, \"3\"], id: i-3, tenant: tenant-a,\n"
                  "     revision: \"12\",\n"
                  "     attributes: {owner: ana, amount: 12, open: true, labels: [b, a, b]}}\n"
                  "  - {type: Invoice, id: i-4}\n");
  ASSERT_TRUE(outcome.problems.empty()) << outcome.problems[0].to_string();
  const auto march = outcome.source->resolve({"Invoice", "3", {}});
  ASSERT_TRUE(march);
  EXPECT_EQ(*march, (access::Resource{.type = "Invoice",
                                      .id = "i-3",
                                      .tenant = "tenant-a",
                                      .source = "invoices",
                                      .revision = "12",
                                      .attributes = {{"amount", std::int64_t{12}},
                                                     {"labels", std::vector<std::string>{"a", "b"}},
                                                     {"open", true},
                                                     {"owner", std::string("ana")}}}));
  EXPECT_TRUE(outcome.source->resolve({"Invoice", "march", {}}));
  EXPECT_FALSE(outcome.source->resolve({"Invoice", "i-3", {}})) << "only what is written down";
  const auto april = outcome.source->resolve({"Invoice", "i-4", {}});
  ASSERT_TRUE(april);
  EXPECT_EQ(april->tenant, "");
  EXPECT_EQ(april->revision, "fx-7");
}

TEST(FixtureAttributeSource, SaysWhatIsWrongWithTheFile) {
  EXPECT_EQ(problems(kHead + "  - {type: Invoice, id: i-3, tennant: a}\n"),
            "f.yaml:4:30: unknown key \"tennant\" in a resource; known are attributes, id, "
            "references, revision, tenant, type; did you mean tenant?\n");
  EXPECT_EQ(problems(kHead + "  - {type: Invoice, id: i-3, references: [a]}\n"
                             "  - {type: Account, id: i-3, references: [a]}\n"
                             "  - {type: Invoice, id: i-4, references: [a]}\n"),
            "f.yaml:6:5: \"a\" names two resources of one type\n");
  EXPECT_EQ(problems(kHead + "  - {type: Invoice, id: i-3, attributes: {tenant: a, x: 1.5, "
                             "y: [1], z: {}}}\n"
                             "  - {type: Invoice, id: i-4, attributes: [a]}\n"),
            "f.yaml:4:43: \"tenant\" stands beside \"attributes\", not among them\n"
            "f.yaml:4:57: \"x\" must be true or false, an integer, a text or a list of texts, not "
            "the number \"1.5\"\n"
            "f.yaml:4:65: \"y\" must be true or false, an integer, a text or a list of texts, not "
            "a list\n"
            "f.yaml:4:73: \"z\" must be true or false, an integer, a text or a list of texts, not "
            "a map\n"
            "f.yaml:5:42: \"attributes\" must be a map, not a list\n");
  EXPECT_EQ(problems("fixture: remit.fixture/2\n"),
            "f.yaml:1:10: \"remit.fixture/2\" is not supported; this version reads "
            "remit.fixture/1\n");
  EXPECT_EQ(problems("resources: [\n"), "f.yaml:2:1: not YAML: end of sequence flow not found\n");
}

TEST(FixtureAttributeSource, SaysThatTheFileIsMissing) {
  PosixFileSystem files;
  const FixtureOutcome outcome =
      FixtureAttributeSource::read(files, "/nowhere/f.yaml", "Invoice", "invoices");
  ASSERT_EQ(outcome.problems.size(), 1U);
  EXPECT_EQ(outcome.problems[0].to_string(),
            "/nowhere/f.yaml: cannot open: No such file or directory");
}

}  // namespace
}  // namespace remit::attributes
