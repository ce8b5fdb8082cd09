// What the reader says of maps that are not as they should be.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "yaml/yaml.h"

namespace remit::yaml {
namespace {

enum class Mode { kEnforce, kShadow };

/// A reader as the product writes them; gives back all problems as lines.
std::string read(std::string_view text) {
  const Result<Node> root = parse(text);
  Problems problems("t.yaml");
  if (!root) {
    problems.add(root.error());
  } else {
    ObjectReader reader(*root, "the test", problems);
    if (reader.format("test", "remit.test/1")) {
      reader.required_string("name");
      reader.optional_string("title");
      reader.required_integer("size", 1, 5);
      reader.optional_integer("count", 0);
      reader.optional_bool("open");
      reader.optional_strings("words");
      reader.optional_choice<Mode>("mode",
                                   {{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}});
      for (const Node& item : reader.optional_list("parts")) {
        ObjectReader part(item, "a part", problems);
        part.required_string("id");
        part.finish();
      }
      EXPECT_EQ(reader.finish() && problems.empty(), problems.empty());
    }
  }
  std::string out;
  for (const Error& error : problems.take()) {
    out += error.to_string() + "\n";
  }
  EXPECT_TRUE(problems.empty());
  return out;
}

struct Case {
  const char* name;
  const char* text;
  const char* expected;
};

class Read : public testing::TestWithParam<Case> {};

TEST_P(Read, NamesEveryMistakeWithItsPlace) {
  EXPECT_EQ(read(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Read,
    testing::Values(
        Case{"Good",
             "test: remit.test/1\nname: x\nsize: 5\ncount: 0\nopen: true\nwords: [a, b]\n"
             "mode: shadow\nparts: [{id: p}]\n",
             ""},
        Case{"Everything",
             "test: remit.test/1\nname: 1\ntitle: ''\nsize: 6\ncount: -1\nopen: yes\n"
             "words: [a, 2, a]\nmode: of\nparts:\n  - {idd: p}\n  - x\nmoode: x\n",
             "t.yaml:2:7: \"name\" must be text, not the number \"1\"; put it in quotes\n"
             "t.yaml:3:8: \"title\" must not be empty\n"
             "t.yaml:4:7: \"size\" must be from 1 to 5, not 6\n"
             "t.yaml:5:8: \"count\" must be at least 0, not -1\n"
             "t.yaml:6:7: \"open\" must be true or false, not the text \"yes\"\n"
             "t.yaml:7:12: \"words\" must be text, not the number \"2\"; put it in quotes\n"
             "t.yaml:7:15: \"a\" stands twice in \"words\"\n"
             "t.yaml:8:7: \"mode\" must be one of enforce, shadow, not the text \"of\"\n"
             "t.yaml:10:5: a part lacks \"id\"\n"
             "t.yaml:10:6: unknown key \"idd\" in a part; known are id; did you mean id?\n"
             "t.yaml:11:5: a part must be a map, not the text \"x\"\n"
             "t.yaml:12:1: unknown key \"moode\" in the test; known are count, mode, name, open, "
             "parts, size, test, title, words; did you mean mode?\n"},
        Case{"Missing", "test: remit.test/1\n",
             "t.yaml:1:1: the test lacks \"name\"\nt.yaml:1:1: the test lacks \"size\"\n"},
        Case{"WrongKinds", "test: remit.test/1\nname: [x]\nsize: 1.5\nparts: {}\nwords: x\n",
             "t.yaml:2:7: \"name\" must be text, not a list\n"
             "t.yaml:3:7: \"size\" must be an integer, not the number \"1.5\"\n"
             "t.yaml:4:8: \"parts\" must be a list, not a map\n"
             "t.yaml:5:8: \"words\" must be a list, not the text \"x\"\n"},
        Case{"FormatNotFirst", "name: x\ntest: remit.test/1\n",
             "t.yaml:1:1: the first line must be \"test: remit.test/1\"\n"},
        Case{"FormatOfLater", "test: remit.test/2\nnew: x\n",
             "t.yaml:1:7: \"remit.test/2\" is not supported; this version reads remit.test/1\n"},
        Case{"NoMap", "- x\n", "t.yaml:1:1: the test must be a map, not a list\n"},
        Case{"Nothing", "", "t.yaml:1:1: the test must be a map, not nothing\n"},
        Case{"NotYaml", "a: [\n", "t.yaml:2:1: not YAML: end of sequence flow not found\n"}),
    [](const testing::TestParamInfo<Case>& each) { return std::string(each.param.name); });

TEST(Problems, KeepsAtMostAHundred) {
  Problems problems("t.yaml");
  for (int i = 0; i < 1000; ++i) problems.add(Place{1, 1}, "x");
  EXPECT_EQ(problems.take().size(), kMaxProblems);
}

TEST(Problems, AnErrorWithoutPositionKeepsItsPlace) {
  Problems problems("t.json");
  problems.add(Error{ErrorCode::kInvalidInput, "x", "/properties/a"});
  problems.add(Error{ErrorCode::kNotFound, "cannot open"});
  const std::vector<Error> errors = problems.take();
  EXPECT_EQ(errors[0].to_string(), "t.json: /properties/a: x");
  EXPECT_EQ(errors[1].to_string(), "t.json: cannot open");
}

}  // namespace
}  // namespace remit::yaml
