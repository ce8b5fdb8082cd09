// Which word is meant.
#include "base/nearest_word.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remit {
namespace {

TEST(NearestWord, IsAtMostTwoEditsAway) {
  const std::vector<std::string_view> known = {"grade", "grape", "tool.request", "ab", ""};
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"grade", "grade"}, {"graed", "grade"},
      {"grap", "grape"},  {"gra", "grade"},  // the first of two
      {"gr", ""},         {"tool_request", "tool.request"},
      {"xy", ""},  // nothing of the word is left
      {"", ""},
  };
  for (const auto& [word, nearest] : rows) EXPECT_EQ(nearest_word(word, known), nearest) << word;
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace remit
