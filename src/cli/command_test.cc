// The command line: what is read, what is refused and how, and that everything said of it comes of
// one table.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <set>
#include <thread>

#include "cli/command.h"
#include "cli/world.h"

namespace remit::cli {
namespace {

using ::testing::HasSubstr;

using Words = std::vector<std::string>;

Arguments arguments_of(const Words& words) {
  Result<ParsedLine> line = parse_command_line(words);
  EXPECT_TRUE(line.has_value()) << (line ? "" : line.error().to_string());
  return line ? line->arguments : Arguments{};
}

TEST(CommandLine, ReadsFlagsPositionalsAndTrailingWords) {
  const Arguments grade = arguments_of({"grade", "a.jsonl", "--expect", "i1", "--expect=i2",
                                        "--manifest", "m.yaml", "b.jsonl", "--all"});
  EXPECT_EQ(grade.positionals(), (Words{"a.jsonl", "b.jsonl"}));
  EXPECT_EQ(grade.values("--expect"), (Words{"i1", "i2"}));
  EXPECT_EQ(grade.value("--manifest"), "m.yaml");
  EXPECT_TRUE(grade.has("--all"));
  EXPECT_FALSE(grade.has("--advisory"));
  EXPECT_EQ(grade.value("--format", "text"), "text");

  const Arguments init =
      arguments_of({"init", "--server", "x", "--", "npx", "-y", "--", "--tools"});
  EXPECT_EQ(init.trailing(), (Words{"npx", "-y", "--", "--tools"}));
  EXPECT_FALSE(init.has("--tools"));

  EXPECT_EQ(arguments_of({"grade", "-"}).positionals(), Words{"-"});
  EXPECT_EQ(arguments_of({"grade", "--manifest", "", "x"}).value("--manifest", "unset"), "");
  EXPECT_EQ(arguments_of({"explain", "--from", "e"}).positionals(), Words{});
}

// Text that has a meaning to some parsers of command lines, and none to this one.
TEST(CommandLine, TakesEveryWordAsItStands) {
  for (const char* word : {"[]", "[a,b]", "{}", "{a}", "++", "%%", "a,b", "a=b", "=", "@file", "/x",
                           "true", "\"q\"", "'q'", " ", "a\nb", ""}) {
    const Words one{word};
    EXPECT_EQ(arguments_of({"grade", word}).positionals(), one) << word;
    EXPECT_EQ(arguments_of({"grade", "x", "--expect", word}).values("--expect"), one) << word;
    const Arguments joined = arguments_of({"grade", std::string("--expect=") + word, "x"});
    EXPECT_EQ(joined.values("--expect"), one) << word;
    EXPECT_EQ(joined.positionals(), Words{"x"}) << word;
    EXPECT_EQ(arguments_of({"init", "--", word}).trailing(), one) << word;
  }
  EXPECT_EQ(arguments_of({"grade", "x", "--expect", "-1"}).values("--expect"), Words{"-1"});
}

TEST(CommandLine, AsksForHelpAndVersionAnywhereBeforeDashes) {
  for (const Words& words : std::vector<Words>{{},
                                               {"--help"},
                                               {"help"},
                                               {"policy"},
                                               {"policy", "--help"},
                                               {"help", "policy"},
                                               {"help", "grade"},
                                               {"help", "policy", "check"},
                                               {"grade", "x", "--help"},
                                               {"grade", "-h"}}) {
    const Result<ParsedLine> line = parse_command_line(words);
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->kind, ParsedLine::Kind::kHelp);
    const bool is_asked_for =
        words.size() > 1 || words == Words{"--help"} || words == Words{"help"};
    EXPECT_EQ(line->is_incomplete, !is_asked_for);
  }
  EXPECT_FALSE(parse_command_line({"help", "nonsense"}));
  EXPECT_STREQ(parse_command_line({"help", "grade"})->command->path.data(), "grade");
  EXPECT_EQ(parse_command_line({"--version"})->kind, ParsedLine::Kind::kVersion);
  EXPECT_EQ(parse_command_line({"-V"})->kind, ParsedLine::Kind::kVersion);
  EXPECT_EQ(parse_command_line({"init", "--", "x", "--help"})->kind, ParsedLine::Kind::kRun);
}

TEST(CommandLine, RefusesWithWhatToDo) {
  const struct {
    Words words;
    std::string_view message;
  } cases[] = {
      {{"gread"}, "unknown command \"gread\"; did you mean grade?; see remit --help"},
      {{"policy", "chek", "b"}, "did you mean policy check?"},
      {{"zzzzzzzz"}, "unknown command \"zzzzzzzz\"; see remit --help"},
      {{"grade", "--expct", "x"}, "has no option \"--expct\"; did you mean --expect?"},
      {{"grade", "-x"}, "has no option \"-x\""},
      {{"grade"}, "needs INPUT"},
      {{"grade", "x", "--format", "yaml"},
       "it is one of text, json, junit, sarif, html, github, github-summary"},
      {{"grade", "x", "--manifest", "a", "--manifest", "b"}, "given 2 times"},
      {{"stdio"}, "needs --config FILE"},
      {{"version", "x"}, "takes no argument, and 1 was given"},
      {{"policy", "check", "a", "b"}, "takes at most 1 argument, and 2 were given"},
      {{"version", "--", "x"}, "takes nothing behind --"},
      {{"grade", "x", "--manifest"}, "--manifest needs a value: FILE"},
      {{"grade", "--manifest", "--all", "x"}, "--manifest needs a value: FILE"},
      {{"queue", "list", "--config=c", "--queue="}, "--queue is empty: is a variable unset?"},
      {{"queue", "enqueue", "--config=c", "--tool=t", "--key", ""}, "--key is empty"},
      {{"queue", "enqueue", "--config=c", "--tool=t", "--principal", ""}, "--principal is empty"},
      {{"grade", "x", "--all=maybe"}, "--all takes no value"},
  };
  for (const auto& each : cases) {
    const Result<ParsedLine> line = parse_command_line(each.words);
    ASSERT_FALSE(line.has_value()) << each.message;
    EXPECT_THAT(line.error().message, HasSubstr(each.message));
    EXPECT_EQ(line.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(CommandTable, IsWholeAndSaysItselfEverywhere) {
  const std::string man = man_page();
  std::set<std::string_view> paths;
  for (const Command& command : all_commands()) {
    EXPECT_TRUE(paths.insert(command.path).second) << command.path;
    EXPECT_NE(command.run, nullptr) << command.path;
    EXPECT_FALSE(command.summary.ends_with('.')) << command.path;
    ParsedLine line;
    line.command = &command;
    const std::string help = help_text(line);
    EXPECT_THAT(help_text(ParsedLine{}), HasSubstr(std::string(command.summary)));
    std::set<std::string_view> names;
    for (const Flag& flag : command.flags) {
      EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
      EXPECT_TRUE(flag.name.starts_with("--")) << flag.name;
      EXPECT_THAT(help, HasSubstr(std::string(flag.name)));
      std::string in_man;
      for (const char c : flag.name) in_man += c == '-' ? std::string("\\-") : std::string(1, c);
      EXPECT_THAT(man, HasSubstr(in_man));
      for (const std::string_view shell : {"bash", "zsh", "fish"}) {
        const std::string_view name = shell == "fish" ? flag.name.substr(2) : flag.name;
        EXPECT_THAT(completion_script(shell).value(), HasSubstr(std::string(name)));
      }
    }
    for (std::size_t at = 0, end = 0; at < help.size(); at = end + 1) {
      end = help.find('\n', at);
      EXPECT_LE(end - at, 100U) << help.substr(at, end - at);
    }
  }
}

// What bash completes for a line, by its own machinery.
std::string completed_by_bash(const std::string& words, int index) {
  const std::string script = completion_script("bash").value() + "COMP_WORDS=(" + words +
                             ")\nCOMP_CWORD=" + std::to_string(index) +
                             "\n_remit\necho \"${COMPREPLY[*]}\"\n";
  const std::string file = ::testing::TempDir() + "/remit_completion.bash";
  std::FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(script.c_str(), out);
  std::fclose(out);
  std::FILE* pipe = ::popen(("bash " + file).c_str(), "r");
  std::string seen;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) seen += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  return seen;
}

TEST(Completion, WorksInBash) {
  EXPECT_EQ(completed_by_bash("remit gr", 1), "grade\n");
  EXPECT_EQ(completed_by_bash("remit evidence ''", 2),
            "verify show key checkpoint prove verify-proof prune\n");
  EXPECT_EQ(completed_by_bash("remit grade --ma", 2), "--manifest\n");
  EXPECT_EQ(completed_by_bash("remit evidence show --in", 3), "--invocation\n");
  EXPECT_EQ(completed_by_bash("remit grade --format j", 3), "json junit\n");
}

// A terminal or a pipe that someone else made non-blocking is full at times, and that is no
// failure.
TEST(Output, WritesAllToAPipeThatDoesNotBlock) {
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const std::string text(1'000'000, 'x');  // more than any pipe holds
  std::string seen;
  std::thread reader([&] {
    std::string chunk(4096, '\0');
    while (seen.size() < text.size()) {
      const ssize_t got = ::read(ends[0], chunk.data(), chunk.size());
      if (got > 0) seen.append(chunk, 0, static_cast<std::size_t>(got));
    }
  });
  EXPECT_TRUE(FdOutput(ends[1]).write(text));
  reader.join();
  EXPECT_EQ(seen, text);

  std::signal(SIGPIPE, SIG_IGN);
  ::close(ends[0]);
  EXPECT_EQ(FdOutput(ends[1]).write(text).error().code, ErrorCode::kUnavailable);
  ::close(ends[1]);
}

TEST(Completion, KnowsThreeShells) {
  EXPECT_FALSE(completion_script("tcsh").has_value());
}

}  // namespace
}  // namespace remit::cli
