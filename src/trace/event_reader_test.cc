// Events, mistakes and losses of an input, each at its byte.
#include "trace/event_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/memory_file.h"
#include "tests/support/test_folder.h"

namespace remit::trace {
namespace {

using event::EventKind;
using event::Field;

/// `OFFSET id` for an event, `OFFSET! MESSAGE` for a mistake, `OFFSET- writer: cause` for a loss,
/// `= name` for a file.
std::vector<std::string> items_of(FileSystem& files, const Input& input,
                                  std::size_t max_line_bytes = 1000) {
  event::Decoder decoder;
  decoder.max_line_bytes = max_line_bytes;
  EventReader reader(files, input, decoder);
  std::vector<std::string> items;
  for (;;) {
    const Result<Item> item = reader.next();
    if (!item) {
      items.push_back(item.error().to_string());
      return items;
    }
    if (*item == Item::kEnd) return items;
    if (*item == Item::kSource) items.push_back("= " + reader.source());
    if (*item == Item::kMalformed) items.push_back(std::to_string(reader.error_offset()) + "!");
    if (*item != Item::kEvent) continue;
    const event::Event& event = reader.event();
    const std::string at = std::to_string(reader.line().offset);
    if (event.kind == EventKind::kEvidenceLost) {
      items.push_back(at + "- " + std::string(event.text(Field::kWriter)) + ": " +
                      std::string(event.text(Field::kCause)));
    } else {
      items.push_back(at + " " + std::string(event.text(Field::kInvocationId)));
    }
  }
}

std::vector<std::string> items_of(const std::string& text, std::size_t max_line_bytes = 1000) {
  PosixFileSystem files;
  std::vector<std::string> items = items_of(
      files, Input::of_stream("-", std::make_unique<testing::MemoryFile>(text)), max_line_bytes);
  items.erase(items.begin());  // the stream's name
  return items;
}

const std::string kRequest = R"({"event":"tool.request","invocation_id":"i1"})";
const std::string kWritten = R"({"event":"tool.request","invocation_id":"i1","writer":"w"})";

TEST(EventReader, YieldsEventsAndMistakesInOrder) {  // REQ-EV-002, REQ-EV-003
  EXPECT_EQ(items_of(kRequest + "\r\n\n \t\n" + kRequest),
            (std::vector<std::string>{"0 i1", std::to_string(kRequest.size() + 6) + " i1"}));
  EXPECT_EQ(
      items_of("[]\n" + kRequest + "\n{\"event\":\"tool.req"),
      (std::vector<std::string>{"0!", "3 i1", std::to_string(kRequest.size() + 4 + 18) + "!"}));
  EXPECT_EQ(items_of(kRequest + "\n" + std::string(60, 'x') + "\n" + kRequest, 50),
            (std::vector<std::string>{"0 i1", std::to_string(kRequest.size() + 1) + "!",
                                      std::to_string(kRequest.size() + 62) + " i1"}));
  EXPECT_TRUE(items_of("").empty());
}

class FilesOfAnInput : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path(name);
    EXPECT_TRUE(files_.replace(path, text).has_value());
    return path;
  }

  testing::TestFolder folder_;
  PosixFileSystem files_;
};

TEST_F(FilesOfAnInput, AreReadOneAfterTheOther) {
  const std::string first = write("a", kRequest);
  const std::string second = write("b", "");
  const std::string third = write("c", kRequest);
  EXPECT_EQ(items_of(files_, Input::of_files("all", {first, second, third})),
            (std::vector<std::string>{"= " + first, "0 i1", "= " + second, "= " + third, "0 i1"}));
}

TEST_F(FilesOfAnInput, AreNamedWhenTheyCannotBeOpened) {
  const std::vector<std::string> items =
      items_of(files_, Input::of_files("all", {folder_.path("none")}));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_NE(items[0].find(folder_.path("none")), std::string::npos) << items[0];
}

TEST_F(FilesOfAnInput, EndTornOnlyInALogAndThereOnlyAtItsEnd) {  // REQ-IN-010, REQ-IN-011
  const std::string torn = kWritten + "\n{\"event\":\"exec";
  const std::string lost = std::to_string(kWritten.size() + 1) + "- w: cut last line";
  const std::string wrong = std::to_string(torn.size()) + "!";
  const std::string first = write("a", torn);
  const std::string second = write("b", torn);
  EXPECT_EQ(items_of(files_, Input::of_log("log", {first, second})),
            (std::vector<std::string>{"= " + first, "0 i1", wrong, "= " + second, "0 i1", lost}));
  EXPECT_EQ(items_of(files_, Input::of_files("files", {first})),
            (std::vector<std::string>{"= " + first, "0 i1", wrong}));
  const std::string whole = write("c", kWritten + "\n" + kWritten);
  EXPECT_EQ(items_of(files_, Input::of_log("log", {whole})),
            (std::vector<std::string>{"= " + whole, "0 i1",
                                      std::to_string(kWritten.size() + 1) + " i1"}));
  const std::string ended = write("d", torn + "\n");
  EXPECT_EQ(items_of(files_, Input::of_log("log", {ended})),
            (std::vector<std::string>{"= " + ended, "0 i1", wrong}));
  const std::string alone = write("e", "{");
  EXPECT_EQ(items_of(files_, Input::of_log("log", {whole, alone})).back(), "0- w: cut last line");
}

TEST_F(FilesOfAnInput, EndWithALossInALogThatIsNotClosed) {  // REQ-IN-010
  const std::string whole = write("a", kWritten + "\n" + kWritten + "\n");
  const std::string none = write("b", "");
  const std::string torn = write("c", kWritten + "\n{\"ev");
  const std::string at_end = std::to_string(2 * (kWritten.size() + 1));
  const std::string cut = std::to_string(kWritten.size() + 1);
  const struct {
    std::vector<std::string> segments;
    std::vector<std::string> last;
  } cases[] = {
      {{whole}, {cut + " i1", at_end + "- w: the log is not closed"}},
      {{whole, none}, {"= " + none, "0- w: the log is not closed"}},
      {{torn}, {"0 i1", cut + "- w: cut last line"}},
      {{none}, {"= " + none, "0- : the log is not closed"}},
      {{}, {"= log", "0- : the log is not closed"}},
  };
  for (const auto& one : cases) {
    Input log = Input::of_log("log", one.segments);
    log.is_unclosed = true;
    std::vector<std::string> items = items_of(files_, log);
    ASSERT_GE(items.size(), 2U);
    items.erase(items.begin(), items.end() - 2);
    EXPECT_EQ(items, one.last);
  }
}

TEST_F(FilesOfAnInput, EndWithALossOfWhatRetentionRemoved) {  // REQ-IN-014, REQ-EL-074
  const std::string whole = write("a", kWritten + "\n" + kWritten + "\n");
  const std::string at_end = std::to_string(2 * (kWritten.size() + 1));
  for (const bool is_unclosed : {false, true}) {
    Input log = Input::of_log("log", {whole});
    log.removed_events = 12;
    log.removed_of = "w";
    log.is_unclosed = is_unclosed;
    std::vector<std::string> last{at_end + "- w: removed by retention"};
    if (is_unclosed) last.push_back(at_end + "- w: the log is not closed");
    const std::vector<std::string> items = items_of(files_, log);
    ASSERT_EQ(items.size(), 3 + last.size());
    EXPECT_EQ(std::vector<std::string>(items.begin() + 3, items.end()), last);
    log = Input::of_log("log", {});
    log.removed_events = 12;
    log.removed_of = "w";
    EXPECT_EQ(items_of(files_, log),
              (std::vector<std::string>{"= log", "0- w: removed by retention"}));
  }
}

TEST(EventReader, ShowsDocumentsAsTheyWereWritten) {  // REQ-RD-013
  const std::string first = R"({"resourceSpans":[],"x":"\u0073ecret"})";
  const std::string second = R"({"resourceLogs":[{]})";
  PosixFileSystem files;
  const Input input =
      Input::of_stream("-", std::make_unique<testing::MemoryFile>(first + "\n" + second + "\n"));
  event::Decoder decoder;
  std::vector<std::string> seen;
  EventReader reader(files, input, decoder, [&](const Document& document) {
    seen.push_back(std::to_string(document.number) + "@" + std::to_string(document.offset) + ":" +
                   std::string(document.text));
  });
  Item item = Item::kSource;
  while (item != Item::kEnd) item = reader.next().value();
  EXPECT_TRUE(reader.is_translated());
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "1@0:" + first, "2@" + std::to_string(first.size() + 1) + ":" + second}));
}

std::vector<std::string> items_in_form(const std::string& text, Form form) {
  PosixFileSystem files;
  Input input = Input::of_stream("f", std::make_unique<testing::MemoryFile>(text));
  input.form = form;
  return items_of(files, input);
}

TEST(EventReader, RefusesAFileInWhichNothingIsAnEvent) {  // REQ-IN-038
  const std::string no_event =
      "f: no line of this file is an event: give a trace, one event a line (line 1, byte 0: not a "
      "JSON object)";
  const std::string no_key =
      "f: no line of this file is an event: give a trace, one event a line (line 2, byte 2: event: "
      "is missing; is it meant by \"Event\"?)";
  const std::string as_chat = "f: is not in the form openai-chat, which --input-format names: ";
  const std::string chat = R"({"messages":[{"role":"user","content":"hello"}]})";
  const std::string spans = R"({"resourceSpans":[]})";
  const struct {
    std::string text;
    Form form;
    std::string last;  ///< what is said last
  } cases[] = {
      {"time,tool\n1,read\n", Form::kAuto, no_event},
      {"# A page\n\ntext\n", Form::kAuto, no_event},
      {"time,tool\n1,read\n", Form::kJsonLines, no_event},
      {"[1]\n[2]\n", Form::kAuto, no_event},
      {"one line\n", Form::kAuto, "0!"},
      {"\n\n", Form::kAuto, "= f"},
      {"text\n{\n", Form::kAuto, no_event},
      {"\n{\"Event\":\"tool.request\"}\n{}\n", Form::kAuto, no_key},
      {"text\ntext\n" + kRequest + "\n", Form::kAuto, "10 i1"},
      {kRequest + "\n", Form::kOpenAiChat, as_chat + "it is jsonl"},
      {spans, Form::kOpenAiChat, as_chat + "it is otlp"},
      {chat, Form::kJsonLines,
       "f: is not in the form jsonl, which --input-format names: it is "
       "openai-chat"},
      {"{\n \"a\": 1\n}\n", Form::kJsonLines,
       "f: line 1: is a JSON document over several lines that shows no form of evidence: write its "
       "events as JSON, one a line"},
      {chat, Form::kOpenAiChat, "= f"},
      {R"({"resourceSpans":[],"messages":[]})", Form::kOtlp, "= f"},
      {R"({"event":"tool.request"})", Form::kJsonLines, "0!"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(items_in_form(one.text, one.form).back(), one.last) << one.text;
  }
}

TEST(EventReader, NeverRefusesASegmentOfALog) {  // REQ-IN-038
  testing::TestFolder folder;
  folder.put("1.jsonl", "text\ntext\n");
  PosixFileSystem files;
  EXPECT_EQ(items_of(files, Input::of_log("log", {folder.path("1.jsonl")})).back(), "5!");
}

TEST(EventReader, TellsWhichFilesGaveNothing) {  // REQ-IN-039
  const auto silent = [](const std::string& text) {
    PosixFileSystem files;
    const Input input = Input::of_stream("f", std::make_unique<testing::MemoryFile>(text));
    event::Decoder decoder;
    EventReader reader(files, input, decoder);
    while (reader.next().value() != Item::kEnd) {
    }
    return reader.silent_files();
  };
  const std::vector<SilentFile> spans =
      silent(R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"},{"name":"b"}]}]}]})");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans.front().source, "f");
  EXPECT_EQ(spans.front().form, Form::kOtlp);
  EXPECT_EQ(spans.front().records, 2U);
  const std::vector<SilentFile> runs = silent(R"([{"messages":[]},{"messages":[]}])");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().records, 2U);
  EXPECT_TRUE(silent("").empty());
  EXPECT_TRUE(silent(kRequest).empty());
  EXPECT_TRUE(silent(R"({"messages":[{"tool_calls":[{"function":{"name":"a"}}]}]})").empty());
}

}  // namespace
}  // namespace remit::trace
