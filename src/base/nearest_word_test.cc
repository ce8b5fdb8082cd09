// Which word is meant.
#include "base/nearest_word.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remit {
namespace {

TEST(NearestWord, IsAtMostTwoEditsAwayOrThreeOfALongOne) {
  const std::vector<std::string_view> known = {"grade", "grape", "tool.request",
                                               "ab",    "",      "start_after_deny"};
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"grade", "grade"},
      {"graed", "grade"},
      {"grap", "grape"},
      {"gra", "grade"},  // the first of two
      {"gr", ""},
      {"tool_request", "tool.request"},
      {"start_after_denied", "start_after_deny"},
      {"start_after_denying", "start_after_deny"},
      {"start_after_decision", ""},
      {"xy", ""},  // nothing of the word is left
      {"", ""},
  };
  for (const auto& [word, nearest] : rows) EXPECT_EQ(nearest_word(word, known), nearest) << word;
  EXPECT_EQ(suggestion("graed", known), "; did you mean grade?");
  EXPECT_EQ(suggestion("xy", known), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), known), "");
}

}  // namespace
}  // namespace remit
