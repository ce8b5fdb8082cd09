// Written scalars read as the text they were made of.
#include "yaml/scalar.h"

#include <gtest/gtest.h>

#include <string>

#include "yaml/yaml.h"

namespace remit::yaml {
namespace {

TEST(Scalar, IsPlainOnlyWhereThatIsText) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"invoice.read", "invoice.read"},
      {"tenant-a", "tenant-a"},
      {"", "\"\""},
      {"12", "\"12\""},
      {"2026-08-04", "\"2026-08-04\""},
      {"yes", "\"yes\""},
      {"Null", "\"Null\""},
      {"a: b", "\"a: b\""},
      {"sha256:9f", "\"sha256:9f\""},
      {"-x", "\"-x\""},
      {"a#b", "\"a#b\""},
      {"say \"hi\"\\", "\"say \\\"hi\\\"\\\\\""},
      {"a\nb", "\"a\\u000ab\""},
      {"\xe2\x80\xae", "\"\\u202e\""},
      {"a\xc2\xad", "\"a\\u00ad\""},
      {"\xef\xb8\x8f", "\"\\ufe0f\""},
      {"\xf3\xa0\x81\x81", "\"\\U000e0041\""},
  };
  for (const auto& [text, written] : rows) EXPECT_EQ(scalar(text), written) << text;
}

TEST(Scalar, ReadsAsItsText) {
  std::string every;
  for (int byte = 1; byte < 0x80; ++byte) every += static_cast<char>(byte);
  for (const std::string& text :
       {every, std::string("\xc2\x85\xc2\xa0 \xe2\x80\xa8\xef\xbb\xbf"), std::string("r\xc3\xa9"),
        std::string("\xf0\x9f\x98\x80"), std::string("\xc2\xad\xf3\xa0\x81\x81\xef\xb8\x8f"),
        std::string("???"), std::string("~"), std::string("a "), std::string("{x}"),
        std::string("[1]"), std::string("*a"), std::string("\xef\xbf\xbe")}) {
    const Result<Node> node = parse("key: " + scalar(text) + "\nlist: [" + scalar(text) + "]\n");
    ASSERT_TRUE(node.has_value()) << scalar(text) << ": " << node.error().to_string();
    ASSERT_NE(node->find("key")->if_string(), nullptr) << scalar(text);
    EXPECT_EQ(*node->find("key")->if_string(), text);
    EXPECT_EQ(*node->find("list")->items().front().if_string(), text);
  }
}

}  // namespace
}  // namespace remit::yaml
