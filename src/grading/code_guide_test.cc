// The guide to finding codes, the table of codes and spec/grades.md name the same codes.
#include "grading/code_guide.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "access/reason.h"

namespace remit::grading {
namespace {

using Names = std::set<std::string>;

std::string page_of_spec(const std::string& name) {
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  std::ifstream page(std::string(source == nullptr ? "." : source) + "/spec/" + name);
  return {std::istreambuf_iterator<char>(page), {}};
}

std::string grades_page() {
  return page_of_spec("grades.md");
}

// What stands between backquotes in the first cells of the tables whose heading cell is `Code`.
Names codes_of_page(const std::string& page) {
  Names names;
  bool in_table = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) in_table = false;
    if (line.starts_with("| Code |")) in_table = true;
    if (!in_table) continue;
    std::istringstream parts(line.substr(0, line.find('|', 1)));
    std::string part;
    for (bool is_code = false; std::getline(parts, part, '`'); is_code = !is_code) {
      if (is_code) names.insert(part);
    }
  }
  return names;
}

Names names_of_table() {
  Names names;
  for (const CodeInfo& info : code_table()) names.emplace(info.name);
  return names;
}

Names names_of_guide() {
  Names names;
  for (const CodeGuide& guide : code_guides()) {
    EXPECT_TRUE(names.emplace(guide.name).second) << guide.name << " stands twice";
  }
  return names;
}

TEST(CodeGuide, NamesTheCodesOfTheSpecificationAndOfTheTable) {  // REQ-GR-110
  EXPECT_EQ(names_of_guide(), names_of_table());
  EXPECT_EQ(names_of_guide(), codes_of_page(grades_page()));
}

TEST(CodeGuide, SaysSomethingOfEachCode) {  // REQ-GR-110
  Names causes;
  for (const CodeInfo& info : code_table()) {
    const CodeGuide& guide = code_guide(info.code);
    EXPECT_EQ(guide.name, info.name);
    for (const std::string_view text : {info.meaning, guide.cause, guide.remedy}) {
      EXPECT_GT(text.size(), 20U) << info.name;
      EXPECT_NE(text.back(), '.') << info.name;
    }
    EXPECT_TRUE(causes.emplace(guide.cause).second) << info.name << " has another code's cause";
  }
}

TEST(ReasonGuide, SaysWhatThePageOfReasonsSays) {  // REQ-RS-001
  const std::string page = page_of_spec("reasons.md");
  for (const ReasonGuide& one : reason_guides()) {
    EXPECT_TRUE(access::parse_reason(one.name).has_value()) << one.name;
    const std::string row = "| `" + std::string(one.name) + "` | " + std::string(one.speaker) +
                            " | " + std::string(one.when) + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(CodeGuide, TestFindsACodeThatOnlyThePageHas) {
  const Names names =
      codes_of_page("| Code | Owner |\n|---|---|\n| `a`, `b_c` | `d` |\n\n| `e` |\n");
  EXPECT_EQ(names, (Names{"a", "b_c"}));
  EXPECT_NE(names, names_of_guide());
}

}  // namespace
}  // namespace remit::grading
