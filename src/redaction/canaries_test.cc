// Canary files: what is read, and where each mistake is told without telling the value.
#include "redaction/canaries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace remit::redaction {
namespace {

TEST(Canaries, AreNamesAndValues) {  // REQ-RD-001
  const CanaryParse parse =
      parse_canaries("db\ts3cr3t-canary\r\n\nz\xc3\xbcrich\twith a \"quote\"", "canaries.txt");
  ASSERT_TRUE(parse.errors.empty());
  ASSERT_EQ(parse.canaries.size(), 2U);
  EXPECT_EQ(parse.canaries[0].name, "db");
  EXPECT_EQ(parse.canaries[0].value, "s3cr3t-canary");
  EXPECT_EQ(parse.canaries[0].line, 1U);
  EXPECT_EQ(parse.canaries[1].value, "with a \"quote\"");
  EXPECT_EQ(parse.canaries[1].line, 3U);
}

TEST(Canaries, AreRefusedWithAPlaceAndWithoutTheirText) {  // REQ-RD-002, REQ-RD-003
  const std::string long_value(kMaxCanaryBytes + 1, 'v');
  const struct {
    std::string text;
    std::string error;
  } kCases[] = {
      {"", "c:1: no canary: a file without any finds nothing"},
      {"\n\r\n", "c:1: no canary: a file without any finds nothing"},
      {"Hush-hush-1\n", "c:1: no tab between name and value"},
      {"\tHush-hush-1\n", "c:1: the name is empty"},
      {"a\t\n", "c:1: the value is empty"},
      {"a\tHush-h1\n", "c:1: the value is shorter than 8 bytes and cannot be told from chance"},
      {"a\t" + long_value, "c:1: the value is longer than 1024 bytes"},
      {std::string(kMaxIdBytes + 1, 'n') + "\tHush-hush-1",
       "c:1: the name is longer than 256 bytes"},
      {"a\tHush-hush-1\na\tHush-hush-2\n", "c:2: the name is given in line 1 already"},
      {"a\tHush-hush-1\nb\thUSH-hush-1\n",
       "c:2: the value is given in line 1 already, but for upper and lower case"},
      {"a\tHush-hush-1\t\n", "c:1: a second tab"},
      {"a\tHush\x01hush-1\n", "c:1: a control character in the value"},
      {"a\x7f\tHush-hush-1\n", "c:1: a control character in the name"},
      {"a\t Hush-hush-1\n", "c:1: a space at an end of the value"},
      {"a\tHush-hush-1 \n", "c:1: a space at an end of the value"},
      {"a \tHush-hush-1\n", "c:1: a space at an end of the name"},
      {"a\tHush-hush-\xff\n", "c:1: the line is not UTF-8"},
      {"a\t--------aA-A-\n",
       "c:1: the value has fewer than 4 different bytes and cannot be told from chance"},
      {"\xef\xbb\xbf"
       "a\tHush-hush-1\n",
       "c:0: a byte order mark"},
  };
  for (const auto& [text, error] : kCases) {
    SCOPED_TRACE(error);
    const CanaryParse parse = parse_canaries(text, "c");
    EXPECT_TRUE(parse.canaries.empty());
    ASSERT_EQ(parse.errors.size(), 1U);
    EXPECT_EQ(parse.errors[0].to_string(), error);
    EXPECT_EQ(parse.errors[0].to_string().find("ush"), std::string::npos);
  }
}

TEST(Canaries, AreBounded) {  // REQ-RD-002
  std::string text;
  for (std::size_t i = 0; i <= kMaxCanaries; ++i) {
    text += "n" + std::to_string(i) + "\tvalue-" + std::to_string(10'000 + i) + "\n";
  }
  const CanaryParse parse = parse_canaries(text, "c");
  ASSERT_EQ(parse.errors.size(), 1U);
  EXPECT_EQ(parse.errors[0].to_string(), "c:1001: more than 1000 canaries");
  EXPECT_EQ(parse_canaries(std::string(kMaxConfigBytes + 1, 'a'), "c").errors.size(), 1U);
  std::string mistakes;
  for (std::size_t i = 0; i < 2 * kMaxProblems; ++i) mistakes += "no tab\n";
  EXPECT_EQ(parse_canaries(mistakes, "c").errors.size(), kMaxProblems);
}

}  // namespace
}  // namespace remit::redaction
