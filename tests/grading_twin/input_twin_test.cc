// Whatever the form in which a run comes, its grade is the naive one's of its lines: evidence
// directories, OpenTelemetry, recorded agent runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "base/limits.h"
#include "comparison.h"
#include "evidence/file_evidence_log.h"
#include "evidence/verify.h"
#include "families.h"
#include "foreign_forms.h"
#include "random_criteria.h"
#include "random_run.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_file_system.h"

namespace remit::twin {
namespace {

using std::string;
using std::vector;

string told(const TwinCriteria& under, const vector<NaiveInput>& inputs) {
  string out = contract_text(under.contract) + under.manifest_text;
  for (const NaiveInput& input : inputs) out += "== " + input.name + "\n" + input.bytes;
  return out.substr(0, 20'000);
}

// ---- Evidence directories.

constexpr const char* kRoot = "/evidence";

/// Writers of one directory, each a log of its own.
class Directory {
 public:
  explicit Directory(std::size_t writers) {
    for (std::size_t i = 0; i < writers; ++i) {
      logs_.push_back(
          evidence::FileEvidenceLog::open(
              files_, clock_, random_, {.directory = kRoot, .max_segment_bytes = kMinSegmentOfTest})
              .value());
    }
  }

  void write(std::size_t writer, const string& line) {
    event::Decoder decoder;
    event::Event event;
    const string padded = line + string(event::Decoder::kPadding, '\0');
    ASSERT_TRUE(decoder.decode(std::string_view(padded).substr(0, line.size()), event));
    ASSERT_TRUE(logs_.at(writer)->commit({std::span(&event, 1), 0}));
  }

  /// Ends every log, the last one by death if asked for.
  void end(bool last_one_dies) {
    for (std::size_t i = 0; i + (last_one_dies ? 1 : 0) < logs_.size(); ++i) {
      ASSERT_TRUE(logs_[i]->close());
    }
    if (last_one_dies) files_.kill();
    has_dead_ = last_one_dies;
    logs_.clear();
    files_.revive();
  }

  /// Cuts the last segment in its last line, or changes a byte of any.
  void damage(SeededRandom& random, bool only_cuts) {
    const vector<evidence::WriterSegments> all = writers();
    const vector<string>& segments =
        all[only_cuts ? all.size() - 1 : random.number(all.size())].segments;
    const string& path = segments[only_cuts ? segments.size() - 1 : random.number(segments.size())];
    string bytes = files_.read(path, kMaxSegmentBytes).value();
    if (!only_cuts && !bytes.empty()) {
      bytes[random.number(bytes.size())] = '7';
    } else if (const std::size_t end = bytes.rfind('\n', bytes.size() - 2); end != string::npos) {
      bytes.resize(end + 2 + random.number(bytes.size() - end - 2));
    }
    ASSERT_TRUE(files_.replace(path, bytes));
  }

  /// As both graders read it.
  vector<NaiveInput> inputs() {
    vector<NaiveInput> out;
    for (const auto& writer : writers()) {
      for (const string& path : writer.segments) {
        out.push_back({path, files_.read(path, kMaxSegmentBytes).value(),
                       string(kRoot) + "/" + writer.directory, path == writer.segments.back()});
      }
    }
    out.back().is_unclosed = has_dead_;
    return out;
  }
  grading::Evidence evidence() {
    grading::Evidence out;
    const auto report = evidence::verify(files_, kRoot).value();
    if (report.damage) {
      out.alterations.push_back({kRoot, {ErrorCode::kDataLoss, report.damage->to_string()}});
    }
    for (const auto& writer : writers()) {
      out.inputs.push_back(
          trace::Input::of_log(string(kRoot) + "/" + writer.directory, writer.segments));
      out.inputs.back().is_unclosed = report.is_open(writer.directory);
    }
    return out;
  }
  FileSystem& files() { return files_; }

 private:
  vector<evidence::WriterSegments> writers() {
    return evidence::list_segments(files_, kRoot).value();
  }

  static constexpr std::uint64_t kMinSegmentOfTest = 2'000;

  testing::FaultyFileSystem files_;
  testing::FakeClock clock_;
  SeededRandom random_;
  vector<std::unique_ptr<evidence::FileEvidenceLog>> logs_;
  bool has_dead_ = false;  ///< the last writer died
};

// REQ-GR-090, REQ-IN-010: written by the log itself, by several writers, in several segments;
// closed, left open, cut or altered.
TEST(InputTwin, AgreesOnEvidenceDirectories) {
  std::map<string, std::size_t> seen;
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(300)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const TwinCriteria under = random_criteria(random);
    const vector<Planned> plan = told_plan(random, 1 + random.number(8), under.manifest_text);
    Directory directory(3);
    for (const Planned& planned : plan) {
      string line = line_of(planned.form, planned.id);
      line.pop_back();
      if (is_event(line)) directory.write(planned.writer, line);
    }
    const std::uint64_t fate = random.number(5);
    directory.end(fate == 1 || fate == 4);
    if (fate == 1 || fate == 2) directory.damage(random, fate == 1);
    const vector<NaiveInput> inputs = directory.inputs();
    grading::Evidence evidence = directory.evidence();
    const Judgement naive = naive_judgement(inputs, under, evidence.alterations);
    const grading::Grade grade = streamed(directory.files(), std::move(evidence), under.criteria,
                                          {.memory_bytes = kRooms[seed % std::size(kRooms)],
                                           .threads = 1 + static_cast<unsigned>(seed % 2)});
    for (const grading::Finding& one : grade.findings) {
      ++seen[string(grading::code_info(one.code).name)];
    }
    if (!same(naive, reduced(grade), told(under, inputs))) ++disagreements;
  }
  EXPECT_GT(seen["evidence_altered"], 0U);
  EXPECT_GT(seen["evidence_lost"], 0U);
}

// ---- OpenTelemetry.

// REQ-IN-041: an event is the same by whatever way it came.
TEST(InputTwin, AgreesOnTelemetry) {
  int disagreements = 0;
  for (const std::uint64_t seed : seeds(1200)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const TwinCriteria under = random_criteria(random);
    const vector<Planned> plan = told_plan(random, 1 + random.number(8), under.manifest_text);
    vector<string> lines = with_accidents(plan, random, Numbering::kAll);
    std::erase_if(lines, [](const string& line) {
      return line.ends_with("\r\n") || !is_event(line.substr(0, line.size() - 1));
    });
    vector<NaiveInput> files = dealt_to_files(lines, random);
    std::erase_if(files, [](const NaiveInput& file) { return file.bytes.empty(); });
    vector<NaiveInput> documents;
    for (const NaiveInput& file : files) {
      Telemetry form = kTelemetries[random.number(std::size(kTelemetries))];
      const bool has_null = file.bytes.find(":null") != string::npos;
      if (form == Telemetry::kJaeger && has_null) form = Telemetry::kSpans;
      documents.push_back(as_telemetry(file, form, random));
    }
    const Judgement naive = naive_judgement(files, under);
    const Judgement streaming =
        reduced(streamed(documents, under.criteria, {.piece_bytes = 1 + random.number(300)}));
    if (!same(without_files(naive, Places::kByNumber), without_files(streaming, Places::kByNumber),
              told(under, documents))) {
      ++disagreements;
    }
  }
}

// ---- Recorded agent runs.

string with_case_names(string manifest, Recording form) {
  for (const std::size_t number : {1U, 2U}) {
    const string name = fmt::format("id: c{},", number);
    const std::size_t at = manifest.find(name);
    if (at == string::npos) continue;
    manifest.replace(at, name.size(), fmt::format("id: {},", case_name(form, number)));
  }
  return manifest;
}

// REQ-IN-033, REQ-IN-050 to REQ-IN-053.
TEST(InputTwin, AgreesOnRecordedRuns) {
  int disagreements = 0;
  std::map<string, std::size_t> seen;
  for (const std::uint64_t seed : seeds(1200)) {
    if (disagreements == kEnough) break;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SeededRandom random(seed);
    const Recording form = kRecordings[seed % std::size(kRecordings)];
    const TwinCriteria random_one = random_criteria(random);
    const TwinCriteria under =
        criteria("recorded runs", random_one.contract,
                 with_case_names(random_one.manifest_text, form), random_one.criteria.expected_ids);
    vector<NaiveInput> recordings;
    vector<NaiveInput> lines;
    for (std::uint64_t files = 1 + random.number(2); files > 0; --files) {
      Recorded one = random_recording(random, form, fmt::format("runs{}", files));
      recordings.push_back(std::move(one.recording));
      lines.push_back(std::move(one.lines));
    }
    const grading::Grade grade = streamed(recordings, under.criteria);
    for (const grading::Finding& one : grade.findings) {
      if (!one.consequence) ++seen[string(grading::code_info(one.code).name)];
    }
    if (!same(without_files(naive_judgement(lines, under), Places::kNone),
              without_files(reduced(grade), Places::kNone), told(under, recordings))) {
      ++disagreements;
    }
  }
  EXPECT_GT(seen["forbidden_request"], 0U);  // REQ-GR-019
}

TEST(InputTwin, SeesAnotherRun) {  // the comparisons above can fail
  SeededRandom random(1);
  Recorded one = random_recording(random, Recording::kOpenAiChat, "runs");
  const TwinCriteria under = criteria("nothing", {});
  const Judgement streaming =
      without_files(reduced(streamed({one.recording}, under.criteria)), Places::kNone);
  EXPECT_EQ(without_files(naive_judgement({one.lines}, under), Places::kNone), streaming);
  one.lines.bytes.erase(0, one.lines.bytes.find('\n') + 1);
  EXPECT_NE(without_files(naive_judgement({one.lines}, under), Places::kNone), streaming);
}

}  // namespace
}  // namespace remit::twin
