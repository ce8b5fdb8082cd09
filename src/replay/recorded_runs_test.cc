// Recorded runs with their arguments: the three forms, the ids that the grader gives, and files
// that are refused.
#include "replay/recorded_runs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "event/event.h"
#include "tests/support/shared_data.h"
#include "tests/support/test_folder.h"

namespace remit::replay {
namespace {

using trace::Form;
using Strings = std::vector<std::string>;

/// The calls as `RUN CASE TOOL ARGUMENTS`, or what is wrong without the folder's name.
Strings calls_of(const std::string& text, Form form = Form::kAuto) {
  const testing::TestFolder folder;
  folder.put("runs.json", text);
  PosixFileSystem files;
  trace::Input input = trace::Input::of_file(folder.path("runs.json"));
  input.form = form;
  const auto runs = read_runs(files, input);
  if (!runs) {
    std::string where = runs.error().where;
    if (where.starts_with(folder.path())) where.erase(0, folder.path().size() + 1);
    return {where + ": " + runs.error().message};
  }
  Strings out;
  for (const RecordedRun& run : *runs) {
    if (run.calls.empty()) out.push_back(run.id + " " + run.case_id);
    for (const RecordedCall& call : run.calls) {
      out.push_back(run.id + " " + run.case_id + " " + call.tool + " " + call.arguments_json);
    }
  }
  return out;
}

const std::string kMessages =
    R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[)"
    R"({"id":"c1","type":"function","function":{"name":"a","arguments":"{\"x\":1}"}},)"
    R"({"function":{"name":"b","arguments":{"y":[2,null]}}},{"function":{"name":"c"}}]},)"
    R"({"role":"assistant","function_call":{"name":"d","arguments":"no JSON"}},)"
    R"({"role":"assistant","tool_calls":null,"function_call":null}])";

TEST(RecordedRuns, AreReadInThreeForms) {  // REQ-RY-001
  const struct {
    std::string text;
    Strings calls;
  } cases[] = {
      {"{\"run_id\":\"r\",\"case_id\":\"k\",\"messages\":" + kMessages + "}",
       {"runs/r k a {\"x\":1}", "runs/r k b {\"y\":[2,null]}", "runs/r k c ",
        "runs/r k d no JSON"}},
      {kMessages,
       {"runs/run-1  a {\"x\":1}", "runs/run-1  b {\"y\":[2,null]}", "runs/run-1  c ",
        "runs/run-1  d no JSON"}},
      {R"({"suite_name":"bank","user_task_id":"u0","injection_task_id":"i3","messages":[)"
       R"({"role":"assistant","tool_calls":[{"function":"send","args":{"to":"x"},)"
       R"("placeholder_args":null}]}]})",
       {"runs/run-1 bank/u0/i3 send {\"to\":\"x\"}"}},
      {R"([{"task_id":3,"trial":1,"traj":[{"role":"assistant","tool_calls":[)"
       R"({"function":{"name":"t","arguments":"{}"}}]}]},{"task_id":4,"traj":[]}])",
       {"runs/task-3/trial-1 task-3 t {}", "runs/task-4 task-4"}},
  };
  for (const auto& one : cases) EXPECT_EQ(calls_of(one.text), one.calls) << one.text;
}

TEST(RecordedRuns, AreRefusedWhole) {  // REQ-RY-001
  const auto chat = [](const std::string& messages) {
    return R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a"}}]},)" +
           messages + "]}";
  };
  const struct {
    std::string text;
    std::string problem;
  } cases[] = {
      {"{\"event\":\"tool.request\",\"invocation_id\":\"i\"}",
       "runs.json: is in the form jsonl, which holds no arguments that could be sent again; want "
       "recorded agent runs"},
      {chat("7"), "runs.json: line 1: /messages/1: a message is an object"},
      {chat(R"({"tool_calls":{}})"),
       "runs.json: line 1: /messages/1/tool_calls: want a list of calls"},
      {chat(R"({"tool_calls":[{}]})"),
       "runs.json: line 1: /messages/1/tool_calls/0: a call without its `function`"},
      {chat(R"({"tool_calls":[{"function":{"name":1}}]})"),
       "runs.json: line 1: /messages/1/tool_calls/0/function: a call without the name of its tool"},
      {chat(R"({"function_call":"a"})"),
       "runs.json: line 1: /messages/1/function_call: want an object"},
      {chat(R"({"function_call":{"name":""}})"),
       "runs.json: line 1: /messages/1/function_call: a call without the name of its tool"},
      {R"([{"task_id":1,"traj":[]},{"task_id":2}])",
       "runs.json: line 1: /1: a run without its messages: they are an object's member `traj`"},
      {R"({"messages":[],"id":"a","id":"b"})", "runs.json: line 1: byte 24: duplicate key \"id\""},
  };
  for (const auto& one : cases) EXPECT_EQ(calls_of(one.text), Strings{one.problem}) << one.text;
}

/// The tools of each run, as the grader's reader has them.
std::map<std::string, Strings> requests_of(const trace::Input& input) {
  PosixFileSystem files;
  event::Decoder decoder;
  trace::EventReader reader(files, input, decoder);
  std::map<std::string, Strings> out;
  while (true) {
    const Result<trace::Item> item = reader.next();
    EXPECT_TRUE(item) << item.error().to_string();
    if (!item || *item == trace::Item::kEnd) return out;
    if (*item != trace::Item::kEvent) continue;
    if (reader.event().kind != event::EventKind::kToolRequest) continue;
    const std::string run(reader.event().text(event::Field::kRunId));
    out[run].emplace_back(reader.event().text(event::Field::kTool));
  }
}

TEST(RecordedRuns, HaveTheIdsAndToolsThatTheGraderSees) {  // REQ-RY-001
  const auto data = testing::shared_data();
  if (!data) GTEST_SKIP() << "not run, no shared data";
  PosixFileSystem files;
  const trace::Input input =
      trace::Input::of_file((*data / "tau-bench-airline/trajectories.json").string());
  const auto runs = read_runs(files, input);
  ASSERT_TRUE(runs) << runs.error().to_string();
  std::map<std::string, Strings> tools;
  std::size_t calls = 0;
  for (const RecordedRun& run : *runs) {
    calls += run.calls.size();
    for (const RecordedCall& call : run.calls) tools[run.id].push_back(call.tool);
  }
  EXPECT_EQ(runs->size(), 200U);
  EXPECT_EQ(calls, 1164U);
  EXPECT_EQ(tools, requests_of(input));
}

}  // namespace
}  // namespace remit::replay
