// No report shows a canary: each encoding, planted in each place where outside text gets in, and
// every format searched for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "grading/grading.h"
#include "grading/sightings.h"
#include "redaction/control.h"
#include "report/formats.h"
#include "tests/support/memory_file.h"

namespace remit::report {
namespace {

using redaction::Canary;
using redaction::Planted;
using redaction::Scanner;

const std::vector<Canary> kCanaries = {{"db", R"(s3cr3t-Canary/7f+Q?>"x)", 1},
                                       {"short", "k9-Zq!4w", 2},
                                       {"city", "Z\xc3\xbcrich-Schl\xc3\xbcssel-4711", 3}};

/// A trace with `%` where the planted members stand, and the keys that they get.
struct Place {
  std::string_view what;
  std::string_view trace;
  std::string_view first_key, second_key;
};
constexpr Place kPlaces[] = {
    {"tool of a call that is decided for another one",
     R"({"event":"tool.request","invocation_id":"i1",%}
{"event":"authorization.decision","invocation_id":"i1","tool":"t","decision":"allow","policy_version":"v"})",
     "tool", "route"},
    {"invocation id of an unfinished call", R"({"event":"tool.request",%})", "invocation_id",
     "case_id"},
    {"case id", R"({"event":"tool.request","invocation_id":"i1",%})", "case_id", "run_id"},
    {"writer with a gap", R"({"event":"tool.request","invocation_id":"i1","seq":7,%})", "writer",
     "run_id"},
    {"decision word and reason",
     R"({"event":"authorization.decision","invocation_id":"i1","tool":"t",%})", "decision",
     "reason"},
    {"reason of an allow",
     R"({"event":"authorization.decision","invocation_id":"i1","decision":"allow",%})", "reason",
     "policy_version"},
    {"policy version", R"({"event":"policy.published","policy_version":"v"}
{"event":"authorization.decision","invocation_id":"i1","decision":"allow","reason":"allowed",%})",
     "policy_version", "policy_digest"},
    {"decision id of a start", R"({"event":"executor.start","invocation_id":"i1",%})",
     "decision_id", "worker"},
    {"resource of a start",
     R"({"event":"authorization.decision","invocation_id":"i1","resource_id":"r","decision":"allow","reason":"allowed","policy_version":"v"}
{"event":"executor.start","invocation_id":"i1",%})",
     "resource_id", "resource_type"},
    {"outcome", R"({"event":"executor.finish","invocation_id":"i1",%})", "outcome", "error_type"},
    {"cause of a loss", R"({"event":"evidence.lost","events":3,%})", "cause", "writer"},
    {"route that was seen", R"({"event":"tool.request","invocation_id":"i1",%})", "route", "tool"},
    {"name of an event", R"({"invocation_id":"i1",%})", "event", "tool"},
    {"time that is none", R"({"event":"tool.request","invocation_id":"i1",%})", "time", "tool"},
    {"unknown fields", R"({"event":"tool.request","invocation_id":"i1",%})", "x_a", "x_b"},
    {"no JSON", R"({"event":"tool.request" %)", "a", "b"},
};

std::string filled(const Place& place, std::string members) {
  const auto rename = [&](std::string_view from, std::string_view to) {
    const std::size_t at = members.find(from);
    if (at != std::string::npos) {
      members.replace(at, from.size(), "\"" + std::string(to) + "\":");
    }
  };
  rename(R"("b":)", place.second_key);
  rename(R"("a":)", place.first_key);
  std::string out(place.trace);
  out.replace(out.find('%'), 1, members);
  return out;
}

grading::Grade grade_of(const std::string& trace, const std::string& name,
                        std::shared_ptr<const redaction::Redaction> redaction) {
  PosixFileSystem files;
  grading::Evidence evidence;
  evidence.inputs.push_back(
      trace::Input::of_stream(name, std::make_unique<testing::MemoryFile>(trace, SIZE_MAX)));
  grading::Criteria criteria;
  criteria.redaction = std::move(redaction);
  criteria.list_all = true;
  criteria.keep_records = true;
  Result<grading::Grade> grade = grading::grade(files, std::move(evidence), std::move(criteria));
  EXPECT_TRUE(grade.has_value()) << grade.error().to_string();
  return std::move(grade).value();
}

class RedactedReports : public ::testing::Test {
 protected:
  RedactedReports()
      : redaction_(redaction::Redaction::make(kCanaries, {}).value()),
        scratch_(redaction_->scanner()->make_scratch().value()) {}

  bool shows_any(const std::string& text) {
    std::vector<redaction::Leak> leaks;
    redaction_->scanner()->scan_line(text, scratch_, leaks);
    return !leaks.empty();
  }

  std::shared_ptr<const redaction::Redaction> redaction_;
  Scanner::Scratch scratch_;
};

TEST_F(RedactedReports, ShowNoCanaryInAnyFormat) {  // REQ-RD-050, REQ-GR-085
  std::size_t unmasked_shows = 0;
  for (std::size_t i = 0; i < kCanaries.size(); ++i) {
    for (const Planted& planted :
         redaction::plant(kCanaries[i].value, redaction_->scanner()->reports_halves(i))) {
      for (const Place& place : kPlaces) {
        const std::string trace = filled(place, planted.members);
        SCOPED_TRACE(std::string(place.what) + ": " + std::string(planted.encoding) + ": " + trace);
        const grading::Grade grade = grade_of(trace, "trace.jsonl", redaction_);
        EXPECT_EQ(grade.gate, grading::Gate::kFailed);
        for (const grading::InvocationGrade& one : grade.invocations) {
          EXPECT_FALSE(shows_any(one.tool.value_or("") + "\n" + one.route.value_or("")));
        }
        const grading::Grade plain = grade_of(trace, "trace.jsonl", nullptr);
        for (const Format& format : formats()) {
          EXPECT_FALSE(shows_any(report_text(format.name, grade)))
              << format.name << ": " << report_text(format.name, grade);
          unmasked_shows += shows_any(report_text(format.name, plain)) ? 1U : 0U;
        }
      }
    }
  }
  EXPECT_GT(unmasked_shows, 500U);  // what would be shown without masks: the test can fail
}

TEST_F(RedactedReports, ShowNoCanaryOfAFileName) {  // REQ-RD-050
  for (const Canary& canary : kCanaries) {
    const grading::Grade grade = grade_of("no event\n", "/runs/" + canary.value, redaction_);
    ASSERT_FALSE(grade.findings.empty());
    for (const Format& format : formats()) {
      EXPECT_FALSE(shows_any(report_text(format.name, grade))) << format.name;
    }
  }
}

TEST_F(RedactedReports, ShowNoCanaryOfAManifest) {  // REQ-RD-050
  const auto told = [&](std::shared_ptr<const redaction::Redaction> redaction) {
    PosixFileSystem files;
    grading::Criteria criteria;
    criteria.redaction = std::move(redaction);
    criteria.manifest.emplace();
    criteria.manifest->digest = "sha256:k9-Zq!4w";
    criteria.manifest->environment = "in k9-Zq!4w";
    criteria.manifest->fixture_revision = "of k9-Zq!4w";
    const grading::Grade grade = std::move(grading::grade(files, {}, std::move(criteria))).value();
    return *grade.manifest_digest + "\n" + *grade.environment + "\n" + *grade.fixture_revision;
  };
  EXPECT_EQ(told(redaction_), "[canary short #3]\n[canary short #1]\n[canary short #2]");
  EXPECT_TRUE(shows_any(told(nullptr)));  // the test can fail
}

// An entry names what was recorded: it covers also where the report masks the names.
TEST_F(RedactedReports, ApplyABaselineToWhatWasRecorded) {  // REQ-RD-053, REQ-BL-006
  const std::string trace =
      "{\"event\":\"executor.finish\",\"invocation_id\":\"b k9-Zq!4w\",\"tool\":\"t k9-Zq!4w\"}\n"
      "{\"event\":\"executor.finish\",\"invocation_id\":\"a\",\"tool\":\"t\"}\n"
      "{\"event\":\"executor.finish\",\"invocation_id\":\"z\",\"tool\":\"t\"}\n";
  const std::string rest = ", owner: o, reason: r, expires: 2027-01-31}\n";
  const grading::BaselineParse parsed = grading::parse_baseline(
      "baseline: remit.baseline/1\nknown:\n"
      "  - {code: unknown_outcome, tool: \"t k9-Zq!4w\", invocation: \"b k9-Zq!4w\"" +
          rest + "  - {code: unknown_outcome, tool: t, count: 2" + rest,
      "b.yaml");
  ASSERT_TRUE(parsed.baseline.has_value());
  PosixFileSystem files;
  grading::Evidence evidence;
  evidence.inputs.push_back(
      trace::Input::of_stream("t", std::make_unique<testing::MemoryFile>(trace, SIZE_MAX)));
  grading::Criteria criteria;
  criteria.redaction = redaction_;
  criteria.known = {*parsed.baseline, *grading::parse_day("2026-11-30")};
  const grading::Grade grade =
      std::move(grading::grade(files, std::move(evidence), criteria)).value();
  EXPECT_EQ(grading::needed_counts(grade, criteria), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_FALSE(shows_any(report_text("json", grade)));
}

TEST_F(RedactedReports, KeepIdsApart) {  // REQ-RD-051
  const grading::Grade grade = grade_of(
      "{\"event\":\"tool.request\",\"invocation_id\":\"b k9-Zq!4w\"}\n"
      "{\"event\":\"tool.request\",\"invocation_id\":\"a k9-Zq!4w\"}\n"
      "{\"event\":\"tool.request\",\"invocation_id\":\"[canary short #1]\"}\n",
      "trace.jsonl", redaction_);
  std::vector<std::string> ids;
  for (const grading::InvocationGrade& one : grade.invocations) ids.push_back(one.invocation_id);
  EXPECT_EQ(ids, (std::vector<std::string>{"[canary short #1]", "[canary short #2]",
                                           "[canary short #3]"}));
  for (const grading::InvocationGrade& one : grade.invocations) {
    for (const std::size_t index : one.findings) {
      EXPECT_EQ(grade.findings[index].invocation_id, one.invocation_id);
    }
  }
}

TEST_F(RedactedReports, CoverEveryLineOnce) {  // REQ-RD-012, REQ-RD-020, REQ-RD-021, REQ-RD-041
  const std::string start = R"({"event":"tool.request","invocation_id":"i1","writer":"w","seq":1)";
  const std::string leak = start + R"(,"x":"k9-Zq!4w k9-Zq!4w"})";
  const std::string too_long = "k9-Zq!4w" + std::string(kMaxEventLineBytes, 'x');
  const std::string trace = leak + "\n\n" + leak + "\n" + too_long + "\n{\"event\":\"x.y\"}\n";
  const grading::Grade grade = grade_of(trace, "trace.jsonl", redaction_);
  std::size_t of_call = 0;
  std::size_t of_run = 0;
  for (const grading::Finding& finding : grade.findings) {
    if (finding.code != grading::Code::kCanaryLeak) continue;
    ++(finding.invocation_id ? of_call : of_run);
    EXPECT_EQ(finding.value, grading::Value::kFailed);
  }
  EXPECT_EQ(of_call, 1U);  // a repeat with the same bytes is the same leak
  EXPECT_EQ(of_run, 1U);   // in the beginning of the line over the limit
  const std::string bytes = std::to_string(2 * leak.size() + kMaxEventLineBytes +
                                           std::string(R"({"event":"x.y"})").size());
  EXPECT_THAT(grade.scope, ::testing::Contains("3 canaries in 10 encodings were looked for in " +
                                               bytes + " bytes; the control found all"));
}

TEST_F(RedactedReports, SearchDocumentsOfOtherForms) {  // REQ-RD-013
  const grading::Grade grade =
      grade_of(R"({"resourceSpans":[],"note":"k9-Zq!4w"})", "trace.json", redaction_);
  ASSERT_FALSE(grade.findings.empty());
  EXPECT_EQ(grade.findings[0].code, grading::Code::kCanaryLeak);
  EXPECT_EQ(grade.verdicts[grading::Verdict::kCompleteness].value, grading::Value::kFailed);
}

TEST_F(RedactedReports, TellErrorsWithoutCanaries) {  // REQ-RD-052
  const Error error{ErrorCode::kNotFound, "no such file", "/runs/k9-zQ!4w"};
  EXPECT_EQ(grading::without_canaries(error, redaction_.get()).to_string(),
            "what went wrong shows canary \"short\"");
  EXPECT_EQ(grading::without_canaries(error, nullptr).to_string(), error.to_string());
  EXPECT_EQ(grading::without_canaries("one\ntwo k9-Zq!4w\nthree\n", redaction_.get()),
            "one\n  a line that shows canary \"short\" is left out\nthree\n");
}

}  // namespace
}  // namespace remit::report
