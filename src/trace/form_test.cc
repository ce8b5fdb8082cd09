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

TEST(Form, IsNoneOfWhatIsNoEvidence) {  // REQ-IN-036, REQ-IN-037
  using namespace std::string_literals;
  const std::string blanks(70'000, ' ');
  const FormCase cases[] = {
      {"\xfd"
       "7zXZ\0\0"s,
       "is packed by xz: unpack it, or pack it by gzip or zstd"},
      {"BZh91AY&SY", "is packed by bzip2: unpack it, or pack it by gzip or zstd"},
      {"PK\x03\x04rest", "is a zip archive: unpack it, and give the files in it"},
      {std::string(257, 'n') + "ustar", "is a tar archive: unpack it, and give the files in it"},
      {"PAR1rest", "is a Parquet file: write its events as JSON, one a line"},
      {"SQLite format 3\0"s, "is an SQLite database: write its events as JSON, one a line"},
      {"\xff\xfe{\0"s, "is written in UTF-16: write it as UTF-8 without a byte order mark"},
      {"{\0\"\0"s, "is written in UTF-16: write it as UTF-8 without a byte order mark"},
      {"\xff\xfe\0\0{\0\0\0"s, "is written in UTF-32: write it as UTF-8 without a byte order mark"},
      {"\xef\xbb\xbf{\"resourceSpans\":[]}",
       "begins with a byte order mark: write it as UTF-8 without a byte order mark"},
      {"<?xml version=\"1.0\"?>", "is XML or HTML: write its events as JSON, one a line"},
      {"time,event,tool\n1,tool.request,x\n",
       "is a table (CSV): write its events as JSON, one a line"},
      {"\"event\";\"tool\"\r\n", "is a table (CSV): write its events as JSON, one a line"},
      {"{\"schema\":\"remit.grade/1\",\"gate\":\"failed\",\n \"verdicts\":{}}\n",
       "is a grade (remit.grade/1), no evidence: give the events that it was made of"},
      {"# mine\n---\nmanifest: remit.manifest/1  # v\ncases: []\n",
       "is a manifest (remit.manifest/1), no evidence: give it with --manifest"},
      {"{\"contract\": \"remit.contract/1\"}\n{}",
       "is a contract (remit.contract/1), no evidence: give it with --contract"},
      {"[{\"event\":\"tool.request\"}]",
       "is a JSON array of events: write each event on a line of its own, as `jq -c '.[]'` does"},
      {"[\n  {\n    \"a\": 1\n  }\n]",
       "is a JSON array of objects that show no form of evidence: write its events as JSON, one a "
       "line"},
      {"{\n  \"event\": \"tool.request\"\n}\n{\n  \"event\": \"x\"\n}\n",
       "holds an event over several lines: write each event on one line, as `jq -c .` does"},
      {"{ \"tool\": \"a\",\n\"event\": \"tool.request\" }",
       "holds an event over several lines: write each event on one line, as `jq -c .` does"},
      {"{\"a\":[\n" + blanks + "]}",
       "is a JSON document over several lines that shows no form of evidence: write its events as "
       "JSON, one a line"},
      {"{\n\"a\":",
       "is a JSON document over several lines that shows no form of evidence: write its events as "
       "JSON, one a line"},
      // What may be lines of events, however broken.
      {"\xef\xbb\xbf{\"event\":\"x.y\"}\n", "jsonl"},
      {"\xef\xbb\xbf { \"event\":", "jsonl"},
      {"[1]\n{\"event\":\"x.y\"}\n", "jsonl"},
      {"{\"event\":\"x.y\",\n{\"event\":\"x.y\"}\n", "jsonl"},
      {"{\"event\":\"x.y\"\n\n", "jsonl"},
      {"{\"a\":1}\n" + blanks, "jsonl"},
      {"starting, at once\n{\"event\":\"x.y\"}\n", "jsonl"},
      {"schema: other/1\n", "jsonl"},
      {"event\n", "jsonl"},
  };
  for (const FormCase& one : cases) {
    for (const std::size_t piece : {std::size_t{7}, std::size_t{4096}, one.text.size() + 1}) {
      EXPECT_EQ(form_of(one.text, piece), one.form) << one.text.substr(0, 80);
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
