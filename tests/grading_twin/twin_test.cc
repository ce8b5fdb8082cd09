// The streaming grader against its naive twin (REQ-GR-090): exhaustively over all small traces, and
// over large random ones, split and interleaved at will.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "base/file_system.h"
#include "naive_grader.h"

namespace remit::twin {
namespace {

using grading::Criteria;

/// Bytes in memory, handed out in pieces.
class MemoryFile final : public ReadFile {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - at_);
    std::memcpy(out.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

grading::Grade streamed(const std::vector<NaiveInput>& inputs, Criteria criteria) {
  criteria.list_all = true;
  PosixFileSystem files;
  grading::Evidence evidence;
  for (const NaiveInput& input : inputs) {
    evidence.inputs.push_back(
        trace::Input::of_stream(input.name, std::make_unique<MemoryFile>(input.bytes)));
  }
  return grading::grade(files, std::move(evidence), std::move(criteria)).value();
}

std::string all_lines(const std::vector<NaiveInput>& inputs) {
  std::string out;
  for (const NaiveInput& input : inputs) out += "== " + input.name + "\n" + input.bytes;
  return out;
}

/// True when both agree; prints the trace and the difference otherwise.
bool agree(const std::vector<NaiveInput>& inputs, const Criteria& criteria,
           std::string_view criteria_name) {
  const Judgement naive = naive_judgement(inputs, criteria);
  const Judgement streaming = reduced(streamed(inputs, criteria));
  if (naive == streaming) return true;
  ADD_FAILURE() << "under " << criteria_name << "\n"
                << all_lines(inputs) << difference(naive, streaming);
  return false;
}

grading::Manifest manifest_of(std::string_view text) {
  grading::ManifestParse parsed = grading::parse_manifest(text, "manifest.yaml");
  for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
  return parsed.manifest.value();
}

struct NamedCriteria {
  std::string_view name;
  Criteria criteria;
};

std::vector<NamedCriteria> all_criteria() {
  std::vector<NamedCriteria> out;
  out.push_back({"nothing", {}});
  Criteria expected;
  expected.expected_ids = std::vector<std::string>{"i1", "i3"};
  out.push_back({"expected ids", std::move(expected)});
  Criteria security;
  security.manifest = manifest_of(
      "manifest: remit.manifest/1\npolicies: [{version: v1}]\ncases:\n"
      "  - {id: c1, kind: security, expect: [{invocation_id: i1, tool: a, decision: deny,"
      " reason: forbidden, effects: 0}]}\n");
  out.push_back({"security by id", std::move(security)});
  Criteria task;
  task.manifest = manifest_of(
      "manifest: remit.manifest/1\npolicies: [{version: v1}, {version: v2}]\n"
      "effects_source: required\ncases:\n"
      "  - {id: c1, kind: task, allowed_requests: [a], forbidden_requests: [b],"
      " required_requests: [a], expect: [{tool: a, decision: allow, effects: 1}]}\n"
      "  - {id: c2, kind: security, expect: [{tool: a, route: agent}, {tool: b}]}\n");
  out.push_back({"task by case", std::move(task)});
  Criteria run;
  run.manifest = manifest_of(
      "manifest: remit.manifest/1\ncases:\n"
      "  - {id: c9, kind: task, run_id: r1, allowed_requests: [a, b]}\n");
  out.push_back({"task by run", std::move(run)});
  return out;
}

// Lines of one invocation; `@` stands for its id, `#` for further fields (writer, seq).
constexpr std::string_view kCore[] = {
    R"({"event":"tool.request","invocation_id":"@","tool":"a","case_id":"c1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"allow","reason":"allowed","policy_version":"v1"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"a","decision":"deny","reason":"forbidden","policy_version":"v1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a"#})",
    R"({"event":"executor.finish","invocation_id":"@","tool":"a","outcome":"succeeded"#})",
    R"({"event":"run.finished"#})",
};
constexpr std::string_view kFurther[] = {
    R"({"event":"tool.request","invocation_id":"@","tool":"b","route":"agent","case_id":"c2","args_digest":"sha256:00"#})",
    R"({"event":"tool.request","invocation_id":"@","run_id":"r1","tool":"b"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"allow","policy_version":"v2","decision_id":"d1","resource_id":"x"#})",
    R"({"event":"authorization.decision","invocation_id":"@","tool":"b","decision":"allow","reason":"forbidden","policy_version":"v1","args_digest":"sha256:01"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"allowed"#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"maybe","reason":"nonsense","policy_version":""#})",
    R"({"event":"authorization.decision","invocation_id":"@","decision":"deny","reason":"forbidden","policy_version":"v1","mode":"shadow","enforced":false#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"a","decision_id":"d1","resource_id":"y"#})",
    R"({"event":"executor.start","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"executor.start","invocation_id":"@","tool":"b","args_digest":"sha256:01"#})",
    R"({"event":"executor.finish","invocation_id":"@","outcome":"unknown"#})",
    R"({"event":"executor.finish","invocation_id":"@"#})",
    R"({"event":"permit.unspent","invocation_id":"@","decision_id":"d1"#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":1#})",
    R"({"event":"effect.observed","invocation_id":"@","source":"spy","effects":0#})",
    R"({"event":"resource.resolved","invocation_id":"@","outcome":"found"#})",
    R"({"event":"run.finished","source":"spy","invocations":1,"events":1#})",
    R"({"event":"run.finished","run_id":"r1","events":9#})",
    R"({"event":"evidence.lost","events":-1,"cause":"test"#})",
    R"({"event":"policy.published","policy_version":"v1"#})",
    R"({"event":"policy.published","policy_version":"v2"#})",
    R"({"event":"x.other","invocation_id":"@"#})",
    R"({"event":"tool.request","invocation_id":"@","tool":7#})",
};

std::string line_of(std::string_view form, std::string_view id, std::string_view fields) {
  std::string out(form);
  if (const std::size_t at = out.find('@'); at != std::string::npos) out.replace(at, 1, id);
  if (const std::size_t at = out.find('#'); at != std::string::npos) out.replace(at, 1, fields);
  return out + "\n";
}

// All sequences of `forms` up to `length`, each as one input.
template <class Forms>
void exhaust(const Forms& forms, std::size_t length) {
  const std::vector<NamedCriteria> all = all_criteria();
  std::vector<std::size_t> chosen;
  std::size_t traces = 0;
  int disagreements = 0;
  while (true) {
    std::string bytes;
    for (const std::size_t form : chosen) bytes += line_of(forms[form], "i1", "");
    for (const NamedCriteria& each : all) {
      if (!agree({{"trace", bytes}}, each.criteria, each.name) && ++disagreements == 5) return;
    }
    ++traces;
    // Counting in base |forms|, with lengths growing.
    std::size_t at = 0;
    while (at < chosen.size() && ++chosen[at] == std::size(forms)) chosen[at++] = 0;
    if (at == chosen.size()) {
      if (chosen.size() == length) break;
      chosen.assign(chosen.size() + 1, 0);
    }
  }
  std::printf("%zu traces under %zu criteria\n", traces, all.size());
}

TEST(GradingTwin, AgreesOnAllTracesOfTheCoreEventsUpToFiveLines) {
  exhaust(kCore, 5);
}

TEST(GradingTwin, AgreesOnAllTracesOfAllFormsUpToThreeLines) {
  std::vector<std::string_view> forms(std::begin(kCore), std::end(kCore));
  forms.insert(forms.end(), std::begin(kFurther), std::end(kFurther));
  exhaust(forms, 3);
}

/// A line of a random run, before it is dealt to files.
struct Dealt {
  std::string writer;
  std::string line;
};

// A run of several writers with sequence numbers, in which lines are now and then lost, said twice,
// changed or cut.
std::vector<Dealt> random_run(std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  std::vector<std::string_view> forms(std::begin(kCore), std::end(kCore));
  forms.insert(forms.end(), std::begin(kFurther), std::end(kFurther));
  std::vector<Dealt> out;
  std::vector<int> next(1 + below(3), 1);
  const std::size_t invocations = 1 + below(12);
  const std::size_t lines = 5 + below(60);
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t writer = below(next.size());
    const std::string id = fmt::format("i{}", 1 + below(invocations));
    const bool core = below(3) != 0;
    const std::string_view form =
        core ? kCore[below(std::size(kCore) - (below(8) != 0))] : forms[below(forms.size())];
    if (below(40) == 0) ++next[writer];  // a hole
    const std::string fields = fmt::format(R"(,"writer":"w{}","seq":{})", writer, next[writer]++);
    const Dealt dealt{fmt::format("w{}", writer), line_of(form, id, fields)};
    out.push_back(dealt);
    if (below(30) == 0) out.push_back(dealt);  // said twice
  }
  return out;
}

// Deals lines to files: each keeps the order of its lines, and any line may go to any file.
std::vector<NaiveInput> dealt_to_files(const std::vector<Dealt>& lines, std::mt19937_64& random) {
  std::vector<NaiveInput> out(1 + random() % 4);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].name = fmt::format("f{}", i);
  for (const Dealt& each : lines) out[random() % out.size()].bytes += each.line;
  return out;
}

TEST(GradingTwin, AgreesOnRandomRunsHoweverTheyAreSplit) {
  const std::vector<NamedCriteria> all = all_criteria();
  int disagreements = 0;
  for (std::uint64_t seed = 1; seed <= 600 && disagreements < 5; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Dealt> lines = random_run(random);
    for (const NamedCriteria& each : all) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      const std::vector<NaiveInput> files = dealt_to_files(lines, random);
      if (!agree(files, each.criteria, each.name)) ++disagreements;
    }
  }
}

// A comparison that could not fail would prove nothing: a grade of another trace must be seen as
// different.
TEST(GradingTwin, SeesADifference) {
  const std::string denied = line_of(kCore[0], "i1", "") + line_of(kCore[2], "i1", "");
  const std::string started = denied + line_of(kCore[3], "i1", "");
  EXPECT_NE(naive_judgement({{"t", denied}}, {}), reduced(streamed({{"t", started}}, {})));
}

}  // namespace
}  // namespace remit::twin
