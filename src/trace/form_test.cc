// Forms told by what a file begins with.
#include "trace/form.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/memory_file.h"

namespace remit::trace {
namespace {

std::string form_of(const std::string& text, std::size_t piece) {
  testing::MemoryFile file(text, piece);
  PeekedFile peeked(file);
  const Result<Form> form = peeked.recognise();
  std::string all(text.size() + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const std::size_t count =
        peeked.read(std::as_writable_bytes(std::span{all}.subspan(size))).value();
    if (count == 0) break;
    size += count;
  }
  EXPECT_EQ(all.substr(0, size), text) << "what was looked at is read all the same";
  return form ? std::string(form_name(*form)) : form.error().message;
}

struct FormCase {
  std::string text;
  const char* form;
};

TEST(Form, IsToldByTheFirstKeys) {  // REQ-IN-030, REQ-IN-031
  const FormCase cases[] = {
      {"", "jsonl"},
      {"\n \n", "jsonl"},
      {"{}", "jsonl"},
      {"nonsense", "jsonl"},
      {"\xef\xbb\xbf{\"resourceSpans\":[]}", "jsonl"},
      {R"({"event":"tool.request","invocation_id":"i1"})", "jsonl"},
      {R"({"invocation_id":"i1","event":"tool.request"})", "jsonl"},
      {R"({"event":"tool.request","messages":[],"resourceSpans":[]})", "jsonl"},
      {R"({"event":"tool.request","invocation_)", "jsonl"},
      {R"({"resourceSpans":[]})", "otlp"},
      {R"( { "resourceLogs" : [ )", "otlp"},
      {R"({"batches":[{"a":1}]})", "otlp"},
      {R"({"trace":{"resourceSpans":[]}})", "otlp"},
      {R"({"data":[{"spans":[]}],"total":0})", "otlp"},
      {R"([{"resourceSpans":[]}])", "otlp"},
      {R"({"data":"text"})", "jsonl"},
      {R"({"messages":[]})", "openai-chat"},
      {R"({"model":"m","messages":[],"tools":[]})", "openai-chat"},
      {R"([{"role":"user","content":"hello"}])", "openai-chat"},
      {R"([{"messages":[]}])", "openai-chat"},
      {R"({"suite_name":"s","messages":[]})", "agentdojo"},
      {R"({"messages":[],"user_task_id":"u"})", "agentdojo"},
      {R"([{"task_id":0,"traj":[]}])", "tau-bench"},
      {R"({"traj":[]})", "tau-bench"},
      {R"({"invocation_id":"i","event":"x.y","resourceSpans":[]})",
       "may be jsonl or otlp: say which with --input-format"},
      {R"({"resourceSpans":[],"messages":[]})",
       "may be otlp or openai-chat: say which with --input-format"},
  };
  for (const FormCase& one : cases) {
    for (const std::size_t piece : {std::size_t{1000}, one.text.size() + 1}) {
      EXPECT_EQ(form_of(one.text, piece), one.form) << one.text;
    }
  }
}

TEST(Form, IsLookedForNoFurtherThanItMust) {
  const std::string far = "{\"a\":\"" + std::string(200'000, 'x') + "\",\"resourceSpans\":[]}";
  EXPECT_EQ(form_of(far, 4096), "jsonl");
  EXPECT_EQ(form_of(std::string(5000, ' ') + R"({"resourceSpans":[]})", 1), "otlp");
}

TEST(Form, HasNames) {
  for (const Form form : {Form::kAuto, Form::kJsonLines, Form::kOtlp, Form::kOpenAiChat,
                          Form::kAgentDojo, Form::kTauBench}) {
    EXPECT_EQ(parse_form(form_name(form)), form);
  }
  EXPECT_FALSE(parse_form("xml"));
}

}  // namespace
}  // namespace remit::trace
