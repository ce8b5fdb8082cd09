// Recorded agent runs: every call a request, and nothing besides.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/support/read_events.h"

namespace remit::trace {
namespace {

using Strings = std::vector<std::string>;
using testing::read_events;

const std::string kLost =
    R"({"event":"evidence.lost","cause":"a record of requests only","events":-1})";

/// The requests as `ID RUN CASE TOOL`, mistakes as they are; the loss behind the last is checked.
Strings requests_of(const std::string& text, Form form = Form::kAuto,
                    const std::string& name = "some/runs.json") {
  PosixFileSystem files;
  Input input = Input::of_stream(name, std::make_unique<testing::MemoryFile>(text));
  input.form = form;
  event::Decoder decoder;
  EventReader reader(files, input, decoder);
  Strings out;
  bool has_loss = false;
  for (;;) {
    const Result<Item> next = reader.next();
    if (!next) {
      out.push_back("refused: " + next.error().message);
      break;
    }
    const Item item = *next;
    if (item == Item::kEnd) break;
    if (item == Item::kMalformed) {
      out.push_back(std::to_string(reader.error_offset()) + "! " + reader.error().message);
    }
    if (item != Item::kEvent) continue;
    EXPECT_FALSE(has_loss);
    has_loss = reader.event().kind == event::EventKind::kEvidenceLost;
    if (has_loss) continue;
    EXPECT_EQ(reader.event().kind, event::EventKind::kToolRequest);
    std::string one;
    for (const event::Field field : {event::Field::kInvocationId, event::Field::kRunId,
                                     event::Field::kCaseId, event::Field::kTool}) {
      one += (one.empty() ? "" : " ") + std::string(reader.event().text(field));
    }
    out.push_back(one);
  }
  EXPECT_EQ(has_loss, reader.files_of_requests() == 1);
  return out;
}

const std::string kMessages =
    R"([{"role":"system","content":"{\"tool_calls\":[]}"},)"
    R"({"role":"assistant","content":null,"tool_calls":[)"
    R"({"id":"c1","type":"function","function":{"name":"a","arguments":"{\"x\":1}"}},)"
    R"({"function":{"arguments":"{}","name":"b"}}]},)"
    R"({"role":"tool","tool_call_id":"c1","content":"tool_calls"},)"
    R"({"role":"assistant","function_call":{"name":"c","arguments":"{}"}},)"
    R"({"role":"assistant","content":"done","tool_calls":null}])";

TEST(AgentRuns, ReadsTheOpenAiChatForm) {  // REQ-IN-050, REQ-IN-051
  const Strings unnamed = {"runs/run-1/1 runs/run-1  a", "runs/run-1/2 runs/run-1  b",
                           "runs/run-1/3 runs/run-1  c"};
  EXPECT_EQ(requests_of(kMessages), unnamed);
  EXPECT_EQ(requests_of("{\"messages\":" + kMessages + "}"), unnamed);
  EXPECT_EQ(requests_of("[{\"messages\":" + kMessages + "}]"), unnamed);
  const std::string line = "{\"messages\":" + kMessages + ",\"run_id\":\"r\",\"case_id\":\"k\"}";
  EXPECT_EQ(requests_of(line + "\n{\"id\":\"chat-7\",\"messages\":" + kMessages + "}"),
            (Strings{"runs/r/1 runs/r k a", "runs/r/2 runs/r k b", "runs/r/3 runs/r k c",
                     "runs/chat-7/1 runs/chat-7  a", "runs/chat-7/2 runs/chat-7  b",
                     "runs/chat-7/3 runs/chat-7  c"}));
  EXPECT_EQ(requests_of(R"([{"role":"user","content":"x"}])"), Strings{});
}

TEST(AgentRuns, NamesRunsAfterTheirFile) {  // REQ-IN-051
  EXPECT_EQ(requests_of(kMessages, Form::kAuto, "a/b c.jsonl.gz")[0], "b_c/run-1/1 b_c/run-1  a");
  EXPECT_EQ(requests_of(kMessages, Form::kAuto, "-")[0], "-/run-1/1 -/run-1  a");
}

TEST(AgentRuns, ReadsAgentDojo) {  // REQ-IN-052
  const std::string messages =
      R"([{"role":"assistant","content":"","tool_calls":[)"
      R"({"function":"send_money","args":{"to":"x"},"id":"c1","placeholder_args":null}]},)"
      R"({"role":"tool","tool_call":{"function":"send_money","args":{}}}])";
  EXPECT_EQ(requests_of(R"({"suite_name":"banking","user_task_id":"user_task_0",)"
                        R"("injection_task_id":"injection_task_3","messages":)" +
                        messages + "}"),
            Strings{"runs/run-1/1 runs/run-1 banking/user_task_0/injection_task_3 send_money"});
  EXPECT_EQ(requests_of(R"({"suite_name":"banking","user_task_id":"user_task_0",)"
                        R"("injection_task_id":null,"messages":)" +
                        messages + "}"),
            Strings{"runs/run-1/1 runs/run-1 banking/user_task_0 send_money"});
}

TEST(AgentRuns, ReadsTauBench) {  // REQ-IN-053
  EXPECT_EQ(requests_of(R"([{"task_id":3,"traj":)" + kMessages + R"(,"trial":1,"info":{}}])"),
            (Strings{"runs/task-3/trial-1/1 runs/task-3/trial-1 task-3 a",
                     "runs/task-3/trial-1/2 runs/task-3/trial-1 task-3 b",
                     "runs/task-3/trial-1/3 runs/task-3/trial-1 task-3 c"}));
}

struct HostileCase {
  const char* text;
  Form form;
  Strings seen;
};

TEST(AgentRuns, ToldWhatIsWrongAndWhere) {  // REQ-IN-002, REQ-IN-050
  const HostileCase cases[] = {
      {R"({"messages":[{"tool_calls":[{"function":{}}]}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  "}},
      {R"({"messages":[{"tool_calls":[{"function":{"name":7}}]}]})",
       Form::kOpenAiChat,
       {"28! tool: is not a string"}},
      {R"({"messages":[{"tool_calls":[7]}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  ", "28! expected an object"}},
      {R"({"messages":[{"tool_calls":[{"function":"a"}]},)",
       Form::kAgentDojo,
       {"runs/run-1/1 runs/run-1  a", "47! the document is cut short"}},
      {R"({"messages":[{"tool_calls":{"function":{"name":"a"}}}]})",
       Form::kOpenAiChat,
       {"27! expected an array"}},
      {R"({"messages":[{"tool_calls":"a"}]})", Form::kOpenAiChat, {"27! expected an array"}},
      {R"({"messages":[{"tool_calls":false}]})", Form::kOpenAiChat, {"27! expected an array"}},
      {R"({"messages":[{"function_call":[{"name":"a"}]}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  ", "30! expected an object"}},
      {R"({"messages":[{"function_call":"a"}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  ", "30! expected an object"}},
      {R"({"messages":[{"function_call":null,"tool_calls":null}]})", Form::kOpenAiChat, {}},
      {R"({"messages":[{"tool\u005fcalls":[{"f\u0075nction":{"n\u0061me":"a"}}]}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  a"}},
      {R"({"messages":[{"tool\xcalls":[]}]})",
       Form::kOpenAiChat,
       {"15! an unknown escape or a lone surrogate"}},
      {R"({"messages":[{"tool_calls":[{"function":{"name":"a","name":"b"}}]}]})",
       Form::kOpenAiChat,
       {"28! tool: is not a string"}},
      {R"({"messages":[{"tool_calls":[{"function":{"name":"a"},"function":"b"}]}]})",
       Form::kOpenAiChat,
       {"28! tool: is not a string"}},
      {R"({"messages":[{"tool_calls":[{"function":["a"]}]}]})",
       Form::kOpenAiChat,
       {"28! tool: is not a string"}},
      {R"({"messages":[{"tool_calls":[]}],"messages":[{"tool_calls":[{"function":"b"}]}]})",
       Form::kOpenAiChat,
       {"runs/run-1/1 runs/run-1  b"}},
      {R"({"messages":{}})", Form::kOpenAiChat, {"12! expected an array"}},
      {R"({"traj":[]})",
       Form::kOpenAiChat,
       {"0! a run without its messages: they are an object's member `messages`",
        "refused: is not in the form openai-chat, which --input-format names: it is tau-bench"}},
      {R"({"messages":[]})",
       Form::kTauBench,
       {"0! a run without its messages: they are an object's member `traj`",
        "refused: is not in the form tau-bench, which --input-format names: it is openai-chat"}},
      {R"([{"traj":[]},{}])",
       Form::kTauBench,
       {"13! a run without its messages: they are an object's member `traj`"}},
      {R"([[]])", Form::kTauBench, {"1! expected an object"}},
      {R"({"id":{"a":[]},"messages":[]})", Form::kOpenAiChat, {}},
      {R"({"id":"\q","messages":[{"tool_calls":[{"function":"a"}]}]})",
       Form::kOpenAiChat,
       {"38! an unknown escape"}},
  };
  for (const HostileCase& one : cases) {
    EXPECT_EQ(requests_of(one.text, one.form), one.seen) << one.text;
  }
}

std::filesystem::path shared_data() {
  if (const char* data = std::getenv("REMIT_SHARED_DATA")) return data;
  const char* source = std::getenv("REMIT_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "../shared/data";
}

TEST(AgentRuns, AllCallsOfTheAirlineRunsAreRead) {  // REQ-IN-053
  const std::filesystem::path folder = shared_data();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "not run, no shared data";
  PosixFileSystem files;
  const Input input = Input::of_file((folder / "tau-bench-airline/trajectories.json").string());
  event::Decoder decoder;
  EventReader reader(files, input, decoder);
  std::size_t requests = 0;
  std::size_t losses = 0;
  std::set<std::string, std::less<>> runs;
  std::set<std::string, std::less<>> ids;
  std::set<std::string, std::less<>> cases;
  for (;;) {
    const Result<Item> item = reader.next();
    ASSERT_TRUE(item) << item.error().to_string();
    if (*item == Item::kEnd) break;
    ASSERT_NE(*item, Item::kMalformed) << reader.error().to_string();
    if (*item != Item::kEvent) continue;
    if (reader.event().kind == event::EventKind::kEvidenceLost) {
      ++losses;
      continue;
    }
    ++requests;
    ASSERT_FALSE(reader.event().text(event::Field::kTool).empty());
    runs.emplace(reader.event().text(event::Field::kRunId));
    ids.emplace(reader.event().text(event::Field::kInvocationId));
    cases.emplace(reader.event().text(event::Field::kCaseId));
  }
  EXPECT_EQ(requests, 1164U);
  EXPECT_EQ(ids.size(), 1164U);
  EXPECT_EQ(losses, 1U);
  EXPECT_LE(runs.size(), 200U);
  EXPECT_LE(cases.size(), 50U);
}

TEST(AgentRuns, ToolCallsOfTheAgentTracesAreRead) {  // REQ-IN-043, REQ-IN-044
  const std::filesystem::path folder = shared_data();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "not run, no shared data";
  const struct {
    const char* file;
    std::size_t calls;
  } cases[] = {{"helm.json", 1},
               {"helm_2.json", 0},
               {"helm_3.json", 1},
               {"k8s.json", 0},
               {"tempo_export_with_batches.json", 1}};
  for (const auto& one : cases) {
    PosixFileSystem files;
    const Input input = Input::of_file((folder / "otlp-agent-traces" / one.file).string());
    event::Decoder decoder;
    EventReader reader(files, input, decoder);
    std::size_t calls = 0;
    for (;;) {
      const Result<Item> item = reader.next();
      ASSERT_TRUE(item) << item.error().to_string();
      if (*item == Item::kEnd) break;
      ASSERT_NE(*item, Item::kMalformed) << one.file << " " << reader.error().to_string();
      const bool is_request =
          *item == Item::kEvent && reader.event().kind == event::EventKind::kToolRequest;
      if (!is_request) continue;
      ++calls;
      EXPECT_TRUE(reader.event().text(event::Field::kInvocationId).starts_with("call_"));
    }
    EXPECT_EQ(calls, one.calls) << one.file;
  }
}

}  // namespace
}  // namespace remit::trace
