// Runs of two files are not one because the files have one name.
#include "trace/run_sources.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file_system.h"

namespace remit::trace {
namespace {

using Strings = std::vector<std::string>;

struct NamingCase {
  Strings paths;
  Strings sources;  ///< empty for the file's own name
};

TEST(RunSources, AreAsLongAsTellsThemApart) {  // REQ-IN-051
  const NamingCase cases[] = {
      {{"run.json"}, {""}},
      {{"a.json", "b.json"}, {"", ""}},
      {{"sa/run.json", "sb/run.json"}, {"sa/run", "sb/run"}},
      {{"sa/run.json", "sb/run.json", "sb/other.json"}, {"sa/run", "sb/run", ""}},
      {{"run.json", "sb/run.json"}, {"run-2", "sb/run"}},
      {{"./sa//run.json", "/x/sb/./run.json"}, {"sa/run", "sb/run"}},
      {{"a/x/run.json", "b/x/run.json"}, {"a/x/run", "b/x/run"}},
      {{"run.json", "run.jsonl.gz"}, {"run.json", "run.jsonl.gz"}},
      {{"a/run.json", "a/run.jsonl", "b/run.json"}, {"a/run.json", "a/run.jsonl", "b/run.json"}},
      {{"a b/run.json", "a_b/run.json"}, {"a_b/run.json", "a_b/run.json-2"}},
      {{"a b.json", "a_b.json"}, {"a_b.json", "a_b.json-2"}},
      {{"../run.json", "run.json"}, {"../run", "run-2"}},
      {{"a/run.json", "a/b/../run.json"}, {"a/run", "../run"}},
  };
  for (const NamingCase& one : cases) {
    std::vector<Input> inputs;
    for (const std::string& path : one.paths) inputs.push_back(Input::of_file(path));
    tell_runs_apart(inputs);
    Strings seen;
    for (const Input& input : inputs) seen.push_back(input.run_source);
    EXPECT_EQ(seen, one.sources) << one.paths.front();
  }
}

TEST(RunSources, OfLogsAreNotTheirs) {
  std::vector<Input> inputs;
  inputs.push_back(Input::of_log("e/writer-000001", {"e/writer-000001/000001.jsonl"}));
  inputs.push_back(Input::of_log("e/writer-000002", {"e/writer-000002/000001.jsonl"}));
  inputs.push_back(Input::of_stream("-", nullptr));
  tell_runs_apart(inputs);
  for (const Input& input : inputs) EXPECT_EQ(input.run_source, "") << input.name;
}

}  // namespace
}  // namespace remit::trace
