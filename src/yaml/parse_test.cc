// What the parser makes of good, bad and hostile texts.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "yaml/yaml.h"

namespace remit::yaml {
namespace {

/// The tree as one line: `{a:s(x)@1:4}`, kinds by letter, places behind each node.
std::string show(const Node& node) {
  std::string out;
  if (node.kind() == Node::Kind::kList) {
    out = "[";
    for (const Node& item : node.items()) out += show(item) + " ";
    out += "]";
  } else if (node.kind() == Node::Kind::kMap) {
    out = "{";
    for (std::size_t i = 0; i < node.keys().size(); ++i) {
      out += node.keys()[i].text + "=" + show(node.values()[i]) + " ";
    }
    out += "}";
  } else if (const std::string* text = node.if_string()) {
    out = "'" + *text + "'";
  } else if (const auto integer = node.if_integer()) {
    out = std::to_string(*integer);
  } else {
    out = node.describe();
  }
  return out + "@" + std::to_string(node.place().line) + ":" + std::to_string(node.place().column);
}

std::string outcome(std::string_view text, const ParseLimits& limits = {}) {
  const Result<Node> node = parse(text, limits);
  if (node) return show(*node);
  return std::string(error_code_name(node.error().code)) + " " + node.error().to_string();
}

struct Case {
  const char* name;
  std::string text;
  std::string expected;
};

class Parse : public testing::TestWithParam<Case> {};

TEST_P(Parse, GivesTreeOrPlacedError) {
  EXPECT_EQ(outcome(GetParam().text), GetParam().expected);
}

const auto case_name = [](const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.name);
};

INSTANTIATE_TEST_SUITE_P(
    Good, Parse,
    testing::Values(
        Case{"Empty", "", "nothing@1:1"}, Case{"OnlyComment", "# x\n", "nothing@1:1"},
        Case{"Map", "a: 1\nb:\n  - x\n  - \"1\"\n", "{a=1@1:4 b=['x'@3:5 '1'@4:5 ]@3:3 }@1:1"},
        Case{"Json", R"({"a": [1, true, null, "x"], "b": {}})",
             "{a=[1@1:8 true@1:11 nothing@1:17 'x'@1:23 ]@1:7 b={}@1:34 }@1:1"},
        Case{"JsonWithoutSpaces", R"({"a":1,"b":"x"})", "{a=1@1:6 b='x'@1:12 }@1:1"},
        Case{"JsonOverLines", "{\n  \"a\": 1\n}\n", "{a=1@2:8 }@1:1"},
        Case{"DocumentMarker", "---\na: 1\n...\n", "{a=1@2:4 }@2:1"},
        Case{"CarriageReturns", "a: 1\r\nb: x\r\n", "{a=1@1:4 b='x'@2:4 }@1:1"},
        Case{"Quotes", "['it''s', '', \"\", \"\\\\\", \"a\\\"b\"]",
             "['it's'@1:2 ''@1:11 ''@1:15 '\\'@1:19 'a\"b'@1:25 ]@1:1"},
        Case{"BlockText", "a: |\n  x\n  y\n", "{a='x\ny\n'@1:4 }@1:1"},
        Case{"PlainTextWithBang", "a: x!y\n", "{a='x!y'@1:4 }@1:1"},
        Case{"KeyWithoutValue", "a:\nb: 1\n", "{a=nothing@1:1 b=1@2:4 }@1:1"},
        Case{"ColumnsAreBytes", "é: [ü, x]\n", "{é=['ü'@1:6 'x'@1:10 ]@1:5 }@1:1"},
        Case{"MergeKeyIsJustAKey", "<<: {a: 1}\n", "{<<={a=1@1:9 }@1:5 }@1:1"},
        Case{"Types",
             "[yes, on, 2026-08-04, 1.0, -7, +7, 007, 0x1f, 0o7, .inf, 1e3, True, ~, '~', 1.2.3]",
             "['yes'@1:2 'on'@1:7 '2026-08-04'@1:11 the number \"1.0\"@1:23 -7@1:28 7@1:32 7@1:36 "
             "the number \"0x1f\"@1:41 the number \"0o7\"@1:47 the number \".inf\"@1:52 "
             "the number \"1e3\"@1:58 true@1:63 nothing@1:69 '~'@1:72 '1.2.3'@1:77 ]@1:1"},
        Case{"IntegerBeyond64Bits", "9223372036854775808",
             "the number \"9223372036854775808\"@1:1"},
        Case{"SmallestInteger", "-9223372036854775808", "-9223372036854775808@1:1"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Bad, Parse,
    testing::Values(
        Case{"DuplicateKey", "a: 1\nb: 2\na: 3\n",
             "invalid_input 3:1: the key \"a\" is given twice"},
        Case{"DuplicateKeyDeep", "x: [{a: 1, \"a\": 2}]\n",
             "invalid_input 1:12: the key \"a\" is given twice"},
        Case{"NumberAsKey", "1: x\n",
             "invalid_input 1:1: a key must be text, not the number \"1\""},
        Case{"NullKey", "? \n: x\n", "invalid_input 2:1: a key must be text"},
        Case{"ListAsKey", "[a]: x\n", "invalid_input 1:1: a key must be text"},
        Case{"Anchor", "a: &x 1\n",
             "unsupported 1:4: anchors are not supported: write the value again"},
        Case{"AnchorOnKey", "&x a: 1\n",
             "unsupported 1:1: anchors are not supported: write the value again"},
        Case{"AliasWithoutAnchor", "a: *x\n",
             "unsupported 1:4: aliases are not supported: write the value again"},
        Case{"Tag", "a: !!str 1\n", "unsupported 1:4: tags are not supported"},
        Case{"NonSpecificTag", "a: ! 1\n", "unsupported 1:4: tags are not supported"},
        Case{"TagOnList", "a: !x [1]\n", "unsupported 1:4: tags are not supported"},
        Case{"VersionDirective", "# c\n%YAML 1.2\n---\na: 1\n",
             "unsupported 2:1: directives are not supported"},
        Case{"SecondDocument", "a: 1\n---\nb: 2\n",
             "invalid_input 2:1: more than one document, or text behind its end"},
        Case{"TextBehindTheEnd", "[a] b\n",
             "invalid_input 1:5: more than one document, or text behind its end"},
        Case{"ByteOrderMark",
             "\xef\xbb\xbf"
             "a: 1",
             "invalid_input 1:1: a byte order mark"},
        Case{"NotUtf8", "a: 1\nb: \xff\n", "invalid_input 2:4: not UTF-8"},
        Case{"Utf16",
             std::string("\xff\xfe"
                         "a\0",
                         4),
             "invalid_input 1:1: not UTF-8"},
        Case{"Nul", std::string("a: \0", 4), "invalid_input 1:4: the control character \\x00"},
        Case{"EndOfTransmissionStopsTheLibrary",
             "a: 1\n\x04"
             "b: 2\n",
             "invalid_input 2:1: the control character \\x04"},
        Case{"LoneCarriageReturn", "a: 1\rb: 2\n",
             "invalid_input 1:5: the control character \\x0d"},
        Case{"EscapedNul", "a: \"x\\0y\"\n", "invalid_input 1:4: a NUL character in a text"},
        Case{"UnknownEscape", "a: \"\\q\"\n",
             "invalid_input 1:7: not YAML: unknown escape character"},
        Case{"EscapeTheLibraryMisreads", "a: \"x\\_y\"\n",
             "invalid_input 1:4: an escape that is not supported: write the character itself"},
        Case{"EscapedSurrogates", "a: \"\\ud83d\\ude00\"\n",
             "invalid_input 1:11: not YAML: invalid unicode"},
        Case{"UnclosedList", "a: [1, 2\n",
             "invalid_input 2:1: not YAML: end of sequence flow not found"},
        Case{"UnclosedText", "a: \"x\n", "invalid_input 1:4: a text without end"},
        Case{"UnclosedSingleQuote", "a: 'x''\n", "invalid_input 1:4: a text without end"},
        Case{"UnclosedEscapedQuote", "\"a\": \"x\\\"",
             "invalid_input 1:10: not YAML: illegal EOF in scalar"},
        Case{"StrayBrace", "a: 1\n}\n", "invalid_input 2:1: not YAML: illegal flow end"},
        Case{"Cut", "{\"a\": {\"b\"", "invalid_input 1:1: not YAML: end of map flow not found"}),
    case_name);

// The harness must be able to fail: another tree shows as another text.
TEST(ParseHarness, TellsTreesApart) {
  EXPECT_NE(outcome("a: 1"), outcome("a: '1'"));
}

TEST(ParseLimits, BytesNodesAndDepth) {
  EXPECT_EQ(outcome("a: 123456", {.max_bytes = 8}), "limit_exceeded larger than 8 bytes");
  EXPECT_EQ(outcome("[a, b, c]", {.max_nodes = 3}), "limit_exceeded 1:8: more than 3 nodes");
  EXPECT_EQ(outcome("[[a]]", {.max_depth = 1}), "limit_exceeded 1:2: nested more than 1 deep");
  EXPECT_EQ(outcome("[a, b, c, d, e]", {.max_nodes = 2}), "limit_exceeded more than 2 nodes");
}

TEST(ParseLimits, DeepNestingOfEachKind) {
  const auto repeated = [](std::string_view part, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += part;
    return out;
  };
  for (const std::string_view part : {"[", "{a: ", "- ", "? ", "[{a: ", "{\"a\":["}) {
    for (const std::size_t times : {40U, 600U, 100'000U}) {
      const Result<Node> node = parse(repeated(part, times));
      ASSERT_FALSE(node) << part << times;
      // Forty open flow collections are not deep to the library, and cut off.
      if (times > 500) {
        EXPECT_EQ(node.error().code, ErrorCode::kLimitExceeded) << part;
      }
    }
  }
  std::string lines;  // block maps, one column deeper each
  for (std::size_t i = 0; i < 600; ++i) lines += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(outcome(lines), "limit_exceeded 33:33: nested more than 32 deep");
}

// Nine levels of nine aliases are 10^9 nodes when expanded.
TEST(ParseLimits, BillionLaughs) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 9; ++k) text += before + ", ";
    text += "]\n";
  }
  EXPECT_EQ(outcome(text), "unsupported 1:5: anchors are not supported: write the value again");
}

// Every prefix and every one-byte change of a document is a tree or an error, never a crash.
TEST(ParseRobustness, PrefixesAndByteChanges) {
  const std::string text =
      "bundle: remit.bundle/1\nroutes:\n  - {name: \"a\\u00e9\", transport: 'x', mode: shadow}\n"
      "text: |\n  one\n  two\nmore: >-\n  folded\n? key\n: value\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    static_cast<void>(parse(std::string_view(text).substr(0, length)));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char byte : std::string_view("\0\x04\x7f\xff:[]{}&*!|>'\"%@`#,?-\n\t ", 26)) {
      std::string changed = text;
      changed[i] = byte;
      static_cast<void>(parse(changed));
    }
  }
}

}  // namespace
}  // namespace remit::yaml
