// The table of codes agrees with spec/grades.md.
#include "grading/codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace remit::grading {
namespace {

std::string spec() {
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  std::ifstream file(std::string(source == nullptr ? "." : source) + "/spec/grades.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The row of spec/grades.md whose first cell names the code.
std::string row_of(const std::string& text, std::string_view code) {
  const std::string name = "`" + std::string(code) + "`";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.rfind("| `", 0) != 0) continue;
    const std::string first_cell = line.substr(0, line.find('|', 1));
    if (first_cell.find(name) != std::string::npos) return line;
  }
  return {};
}

TEST(Codes, AreThoseOfTheSpec) {  // REQ-GR-010, REQ-GR-011
  const std::string text = spec();
  ASSERT_FALSE(text.empty());
  for (const CodeInfo& info : code_table()) {
    const std::string row = row_of(text, info.name);
    ASSERT_FALSE(row.empty()) << info.name;
    const bool is_soft =
        row.find("| yes |") != std::string::npos || row.find("(soft") != std::string::npos;
    EXPECT_EQ(is_soft, info.soft) << row;
    for (std::size_t owner = 0; owner < kOwnerCount; ++owner) {
      const std::string cell = "| " + std::string(owner_name(static_cast<Owner>(owner))) + " |";
      if (row.find(cell) == std::string::npos) continue;
      EXPECT_EQ(owner_name(info.owner), owner_name(static_cast<Owner>(owner))) << row;
    }
  }
  EXPECT_EQ(row_of(text, "no_such_code"), "");
}

TEST(Codes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const CodeInfo& info : code_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(parse_code(info.name), info.code);
    EXPECT_FALSE(info.meaning.empty());
  }
  EXPECT_EQ(parse_code("start"), std::nullopt);
}

}  // namespace
}  // namespace remit::grading
