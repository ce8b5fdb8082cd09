// Grades of recorded traces: tests/golden/grade/<name> holds the inputs and what every report says.
//
// With REMIT_GOLDEN_UPDATE=1 the expected files are written anew; the difference is then reviewed
// like code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "grading/grading.h"
#include "grading/redaction_file.h"
#include "json/value.h"
#include "report/formats.h"
#include "tests/support/refusing_file_system.h"

namespace remit::report {
namespace {

namespace fs = std::filesystem;

fs::path golden_root() {
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "golden" / "grade";
}

bool is_updating() {
  return std::getenv("REMIT_GOLDEN_UPDATE") != nullptr;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Files of tests are named without their directory, so that reports are the same everywhere.
class DirectoryFiles final : public remit::testing::RefusingFileSystem {
 public:
  explicit DirectoryFiles(fs::path directory) : directory_(std::move(directory)) {}
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    return real_.open_read((directory_ / path).string());
  }
  Result<std::string> read(const std::string& path, std::uint64_t max_bytes) override {
    return real_.read((directory_ / path).string(), max_bytes);
  }
  Result<std::unique_ptr<ScratchFile>> open_scratch(const std::string& directory) override {
    return real_.open_scratch(directory);
  }

 private:
  fs::path directory_;
  PosixFileSystem real_;
};

std::vector<std::string> traces_of(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".jsonl") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

grading::Criteria criteria_of(const fs::path& directory) {
  grading::Criteria criteria;
  criteria.keep_records = true;
  if (fs::exists(directory / "manifest.yaml")) {
    grading::ManifestParse parsed =
        grading::parse_manifest(read(directory / "manifest.yaml"), "manifest.yaml");
    for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
    criteria.manifest = std::move(parsed.manifest);
  }
  if (fs::exists(directory / "contract.yaml")) {
    grading::ContractParse parsed =
        grading::parse_contract(read(directory / "contract.yaml"), "contract.yaml");
    for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
    if (parsed.contract) criteria.contract = std::move(*parsed.contract);
    PosixFileSystem files;
    grading::RedactionLoad loaded = grading::load_redaction(
        files, criteria.contract.redaction.canaries, criteria.contract.redaction.forbid_fields,
        (directory / "contract.yaml").string());
    for (const Error& error : loaded.errors) ADD_FAILURE() << error.to_string();
    criteria.redaction = std::move(loaded.redaction);
  }
  if (fs::exists(directory / "expect.txt")) {
    criteria.expected_ids =
        grading::parse_expected_ids(read(directory / "expect.txt"), "expect.txt").value();
  }
  return criteria;
}

grading::Grade grade_of(const fs::path& directory, std::vector<std::string> traces,
                        std::uint64_t hash_seed = 0) {
  grading::Evidence evidence;
  for (std::string& name : traces) {
    evidence.inputs.push_back(trace::Input::of_file(std::move(name)));
  }
  if (fs::exists(directory / "altered.txt")) {
    evidence.alterations.push_back(
        {"evidence", {ErrorCode::kDataLoss, read(directory / "altered.txt"), "000001:3"}});
  }
  grading::Criteria criteria = criteria_of(directory);
  criteria.hash_seed = hash_seed;
  DirectoryFiles files(directory);
  Result<grading::Grade> grade = grading::grade(files, std::move(evidence), std::move(criteria));
  EXPECT_TRUE(grade.has_value()) << grade.error().to_string();
  return std::move(grade).value();
}

void compare(const fs::path& file, const std::string& text) {
  if (is_updating()) {
    std::ofstream(file, std::ios::binary) << text;
  } else {
    EXPECT_EQ(read(file), text) << file;
  }
}

std::vector<fs::path> golden_cases() {
  std::vector<fs::path> directories;
  for (const auto& entry : fs::directory_iterator(golden_root())) {
    if (entry.is_directory()) directories.push_back(entry.path());
  }
  std::sort(directories.begin(), directories.end());
  return directories;
}

/// A page without its style sheet and script and their digests, which are files of their own.
std::string without_assets(std::string text) {
  const auto cut = [&](std::string_view from, std::string_view to) {
    std::size_t at = text.find(from);
    for (; at != std::string::npos; at = text.find(from, at + from.size())) {
      const std::size_t begin = at + from.size();
      text.erase(begin, text.find(to, begin) - begin);
    }
  };
  cut("<style>", "</style>");
  cut("<script>", "</script>");
  cut("'sha256-", "'");
  return text;
}

/// Reports besides JSON, which a case has where there is a file of this name.
constexpr std::pair<const char*, const char*> kOptionalReports[] = {
    {"expected.html", "html"},   {"expected.txt", "text"},      {"expected.xml", "junit"},
    {"expected.sarif", "sarif"}, {"expected.github", "github"}, {"expected.md", "github-summary"},
};

TEST(GoldenGrades, SayWhatTheySaid) {  // REQ-GR-080, REQ-GR-082
  const std::vector<fs::path> directories = golden_cases();
  ASSERT_FALSE(directories.empty());
  for (const fs::path& directory : directories) {
    SCOPED_TRACE(directory.filename().string());
    const grading::Grade grade = grade_of(directory, traces_of(directory));
    compare(directory / "expected.json", report_text("json", grade));
    for (const auto& [file, format] : kOptionalReports) {
      if (fs::exists(directory / file)) {
        compare(directory / file, without_assets(report_text(format, grade, {.version = "1.2.3"})));
      }
    }
  }
}

TEST(GoldenGrades, AreWhatTheyAreInAnyOrderOfInputs) {  // *same inputs, same grade, same bytes*
  for (const fs::path& directory : golden_cases()) {
    std::vector<std::string> traces = traces_of(directory);
    const std::string forward = report_text("json", grade_of(directory, traces));
    std::reverse(traces.begin(), traces.end());
    EXPECT_EQ(forward, report_text("json", grade_of(directory, traces, 0x9e3779b97f4a7c15U)))
        << directory;
  }
}

TEST(GoldenGrades, AreValidJson) {
  for (const fs::path& directory : golden_cases()) {
    const Result<json::Value> value = json::parse(read(directory / "expected.json"));
    ASSERT_TRUE(value.has_value()) << directory << ": " << value.error().to_string();
    EXPECT_NE(value->find("verdicts"), nullptr);
  }
}

TEST(GoldenGrades, ExistForEveryCode) {  // each code is found in the case that has its name
  for (const grading::CodeInfo& info : grading::code_table()) {
    const fs::path directory = golden_root() / info.name;
    ASSERT_TRUE(fs::exists(directory)) << info.name;
    const grading::Grade grade = grade_of(directory, traces_of(directory));
    const bool is_found =
        std::any_of(grade.findings.begin(), grade.findings.end(),
                    [&](const grading::Finding& finding) { return finding.code == info.code; });
    EXPECT_TRUE(is_found) << info.name;
    const grading::Value value = grade.verdicts[info.verdict].value;
    EXPECT_TRUE(value != grading::Value::kPassed) << info.name;
    EXPECT_TRUE(info.soft || value == grading::Value::kFailed) << info.name;
    EXPECT_TRUE(!grade.blocking[info.verdict] || grade.exit_code != 0) << info.name;
  }
}

}  // namespace
}  // namespace remit::report
