// Names become numbers, and nothing else changes.
#include "database/named_parameters.h"

#include <gtest/gtest.h>

namespace remit::database {
namespace {

TEST(NamedParametersTest, NumbersNamesAndNothingElse) {
  struct Case {
    std::string statement;
    std::string text;
    std::vector<std::string> parameters;
  };
  const std::vector<Case> cases{
      {"", "", {}},
      {"select 1", "select 1", {}},
      {"select :a", "select $1", {":a"}},
      {":a:b :a", "$1$2 $1", {":a", ":b"}},
      {"select ':a', \":b\", :c", "select ':a', \":b\", $1", {":c"}},
      {"select 'it''s :a' || :b", "select 'it''s :a' || $1", {":b"}},
      {"select :a::bigint", "select $1::bigint", {":a"}},
      {"select 1 -- :a\n, :b", "select 1 -- :a\n, $1", {":b"}},
      {"select /* :a */ :b", "select /* :a */ $1", {":b"}},
      {"select x[1:2]", "select x[1$1]", {":2"}},
      {"select : a, :", "select : a, :", {}},
      {"select ':a", "select ':a", {}},
      {"select /* :a", "select /* :a", {}},
  };
  for (const Case& each : cases) {
    const NumberedStatement numbered = number_parameters(each.statement);
    EXPECT_EQ(numbered.text, each.text);
    EXPECT_EQ(numbered.parameters, each.parameters) << each.statement;
  }
}

}  // namespace
}  // namespace remit::database
