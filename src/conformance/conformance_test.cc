// The pack's own order, the words of drivers, and drivers that misbehave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "conformance/case_manifest.h"
#include "conformance/driver.h"
#include "conformance/fault_table.h"
#include "conformance/formats.h"
#include "conformance/known_failures.h"
#include "conformance/pack.h"
#include "conformance/run.h"
#include "conformance/subject.h"
#include "grading/manifest.h"

namespace remit::conformance {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using PackRun = Run;  // within a test, Run is a member of its base class

std::string source_directory() {
  const char* directory = std::getenv("REMIT_SOURCE_DIR");
  return directory == nullptr ? "." : directory;
}

const Pack& built_in() {
  static const Pack pack = [] {
    PackParse parsed = parse_pack(built_in_pack_files());
    for (const Error& error : parsed.errors) ADD_FAILURE() << error.to_string();
    return parsed.pack ? std::move(*parsed.pack) : Pack{};
  }();
  return pack;
}

Result<PackRun> run_with(const Subject& subject, const RunOptions& options) {
  PosixFileSystem files;
  const SystemClock clock;
  SystemRandom random;
  return run_pack(built_in(), subject, options, {files, clock, random, "/tmp"});
}

Subject hostile(const std::string& mode) {
  Subject subject = subject_of_command(
      {"python3", "-B", source_directory() + "/tests/conformance/hostile_driver.py", mode});
  subject.deadline = std::chrono::milliseconds{2000};
  return subject;
}

// REQ-CF-001, REQ-CF-002, REQ-CF-003, REQ-CF-004, REQ-CF-007
TEST(Pack, IsWhole) {
  EXPECT_EQ(built_in().cases.size(), 40U);
  EXPECT_THAT(built_in().digest, HasSubstr("sha256:"));
  for (const Case& one : built_in().cases) {
    for (const std::string& sentence : {one.proves, one.does_not_prove}) {
      EXPECT_FALSE(sentence.empty()) << one.id;
      EXPECT_EQ(sentence.find_first_of(".\n"), std::string::npos) << one.id << ": one sentence";
    }
    EXPECT_NE(one.fixture.find("tools"), nullptr) << one.id;
  }
}

// REQ-CF-008: a case that nothing was ever caught by proves nothing.
TEST(Pack, EveryCaseHasAFaultMadeForIt) {
  std::set<std::string> made_for;
  for (const Fault& fault : built_in().faults) made_for.insert(fault.case_id);
  for (const Case& one : built_in().cases) EXPECT_TRUE(made_for.contains(one.id)) << one.id;
  EXPECT_GE(built_in().faults.size(), 20U);
}

// REQ-CF-033: a route without a control could never show anything.
TEST(Pack, EveryRouteHasAControl) {
  for (const std::string_view route : kRoutes) {
    EXPECT_TRUE(std::any_of(built_in().cases.begin(), built_in().cases.end(), [&](const Case& one) {
      return one.is_control &&
             std::find(one.routes.begin(), one.routes.end(), route) != one.routes.end();
    })) << route;
  }
}

std::vector<PackFile> with(const std::string& name, const std::string& from,
                           const std::string& to) {
  std::vector<PackFile> files = built_in_pack_files();
  for (PackFile& file : files) {
    const std::size_t at = file.name == name ? file.text.find(from) : std::string::npos;
    if (at != std::string::npos) file.text.replace(at, from.size(), to);
  }
  return files;
}

// REQ-CF-002: what is asked of an executor changes under another version only.
TEST(Pack, IsTheOneThatWasReleased) {
  PosixFileSystem files;
  const Result<std::string> released =
      files.read(source_directory() + "/conformance/released", 4096);
  ASSERT_TRUE(released.has_value());
  EXPECT_THAT(*released, HasSubstr("v" + built_in().version + " " + built_in().digest + "\n"))
      << "conformance/v" << built_in().version << " was changed; a change is another version";
  const PackParse other = parse_pack(with("pack.yaml", "used once", "used at most once"));
  ASSERT_TRUE(other.pack.has_value());
  EXPECT_THAT(*released, Not(HasSubstr(other.pack->digest))) << "a word more is another digest";
}

// REQ-CF-001, REQ-CF-002, REQ-CF-005, REQ-CF-006
TEST(Pack, RefusesWhatIsWrong) {
  const struct {
    const char* file;
    const char* from;
    const char* to;
    const char* message;
  } kRows[] = {
      {"cases/allowed.yaml", "tool: invoice.read,", "tool: invoice.read, colour: red,", "colour"},
      {"cases/allowed.yaml", "as: alice", "as: nobody", "not in 'principals'"},
      {"cases/allowed.yaml", "[direct,", "[sideways,", "is none of"},
      {"cases/allowed.yaml", "sees: [result]", "sees: [joy]", "is none of"},
      {"cases/allowed.yaml", "- call:", "- dance:", "the step does nothing"},
      {"cases/allowed.yaml", "id: allowed", "id: other", "the file's case is"},
      {"cases/lost-reply.yaml", "execution: [failed]", "execution: [fine]",
       "no value of a verdict"},
      {"cases/policy-changed.yaml", "run: {call: c1}", "run: {call: c9}", "no earlier step"},
      {"pack.yaml", "cases: [allowed, merge-own]", "cases: [allowed]", "no requirement names"},
      {"pack.yaml", "cases: [legacy-row]", "cases: [legacy-row, gone]", "not in the pack"},
      {"faults.yaml", "case: not-permitted", "case: nowhere", "there is no case"},
  };
  for (const auto& row : kRows) {
    const PackParse parsed = parse_pack(with(row.file, row.from, row.to));
    EXPECT_FALSE(parsed.pack.has_value()) << row.message;
    std::string all;
    for (const Error& error : parsed.errors) all += error.to_string() + "\n";
    EXPECT_THAT(all, HasSubstr(row.message)) << row.file;
  }
}

// REQ-CF-020, REQ-CF-021, REQ-CF-023
TEST(Subject, ReadsAndRefuses) {
  const char* const kGood =
      "subject: remit.subject/1\nname: desk\ndriver: {command: [a, b], deadline_ms: 50}\n"
      "routes: [direct]\nwithout: [keys]\n";
  const SubjectParse good = parse_subject(kGood, "s.yaml", "place", built_in());
  ASSERT_TRUE(good.subject.has_value());
  EXPECT_EQ(good.subject->working_directory, "place");
  EXPECT_EQ(good.subject->deadline.count(), 50);
  for (const char* wrong :
       {"subject: remit.subject/2\n", "subject: remit.subject/1\nname: a\n",
        "subject: remit.subject/1\nname: a\ndriver: {command: []}\n",
        "subject: remit.subject/1\nname: a\ndriver: {command: [x]}\nroutes: [moon]\n",
        "subject: remit.subject/1\nname: a\ndriver: {command: [x]}\nwithout: [care]\n"}) {
    EXPECT_FALSE(parse_subject(wrong, "s.yaml", "", built_in()).subject.has_value()) << wrong;
  }
}

TEST(Subject, IsNoProgram) {
  for (const char* text :
       {"import json\n", "\"\"\"doc\"\"\"\nimport json\n", "#!/bin/sh\ntrue\n"}) {
    const SubjectParse parsed = parse_subject(text, "driver.py", "", built_in());
    ASSERT_EQ(parsed.errors.size(), 1U) << text;
    EXPECT_THAT(parsed.errors.front().message, HasSubstr("goes behind --"));
    const SubjectParse yaml = parse_subject(text, "s.yaml", "", built_in());
    ASSERT_EQ(yaml.errors.size(), 1U) << text;
    EXPECT_THAT(yaml.errors.front().message, ::testing::Not(HasSubstr("--")));
  }
}

// REQ-DR-001, REQ-DR-002, REQ-DR-003, REQ-DR-004
TEST(DriverAnswers, AreReadStrictly) {
  EXPECT_TRUE(read_answer(R"({"id":3,"ok":{},"later":1})", 3).has_value());
  for (const char* wrong : {"", "no", "[]", "{}", R"({"id":"3","ok":{}})", R"({"id":2,"ok":{}})",
                            R"({"id":3})", R"({"id":3,"ok":{},"error":{}})", R"({"id":3,"ok":[]})",
                            R"({"id":3,"error":{}})", R"({"id":3,"id":3,"ok":{}})"}) {
    EXPECT_FALSE(read_answer(wrong, 3).has_value()) << wrong;
  }
}

struct HostileRow {
  const char* mode;
  const char* fault;
};

// REQ-CF-030, REQ-DR-003, REQ-DR-005, REQ-DR-010, REQ-DR-021, REQ-DR-022
TEST(HostileDrivers, AreFaultsOfTheHarness) {
  const HostileRow kRows[] = {
      {"hang", "did not answer \"step call\" within 2000 ms; does it write"},
      {"deaf", "did not answer \"step call\" within 2000 ms"},
      {"die", "exited with status 3 where \"step call\" was asked"},
      {"nonsense", "which is no JSON"},
      {"flood", "a line of more than"},
      {"wrong-id", "answered request"},
      {"twice", "answered request"},
      {"error", "the driver says \"cannot\""},
      {"strange-word", "a caller saw \"perhaps\""},
      {"silent", "a caller saw nothing"},
      {"events-number", "event 1 of what was collected is no text; give"},
      {"protocol", "the driver speaks \"remit.driver/9\""},
  };
  RunOptions options;
  options.cases = {"allowed"};
  options.routes = {"direct"};
  for (const HostileRow& row : kRows) {
    const Result<PackRun> run = run_with(hostile(row.mode), options);
    ASSERT_TRUE(run.has_value()) << row.mode;
    ASSERT_EQ(run->trials.size(), 1U) << row.mode;
    EXPECT_EQ(run->trials.front().verdict, Verdict::kFault) << row.mode;
    EXPECT_THAT(run->trials.front().fault, HasSubstr(row.fault)) << row.mode;
    EXPECT_EQ(run->exit_code, 2) << row.mode;
    EXPECT_THAT(run_text(*run), HasSubstr("0 unproven, 1 harness fault\n")) << row.mode;
    EXPECT_THAT(run_html(*run), HasSubstr("0 unproven, 1 harness fault<")) << row.mode;
  }
}

// REQ-DR-003: what is broken does not cost its deadline two hundred times.
TEST(HostileDrivers, AreGivenUpAfterThree) {
  RunOptions options;
  options.cases = {"allowed", "wrong-tenant"};
  const Result<PackRun> run = run_with(hostile("die"), options);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->count(Verdict::kFault), run->trials.size());
  EXPECT_THAT(run->trials.back().fault, HasSubstr("not run"));
}

// REQ-CF-022, REQ-CF-034, REQ-DR-011
TEST(Runs, FailsWhatTheDriverDoesNotOffer) {
  RunOptions options;
  options.routes = {"direct", "queued"};
  options.cases = {"allowed", "policy-changed"};
  const Result<PackRun> run = run_with(hostile("few"), options);
  ASSERT_TRUE(run.has_value());
  std::set<std::string> whats;
  for (const TrialResult& trial : run->trials) {
    for (const Mismatch& each : trial.mismatches) whats.insert(each.what);
  }
  EXPECT_TRUE(whats.contains("missing_route"));
  EXPECT_TRUE(whats.contains("missing_step"));
  EXPECT_EQ(run->exit_code, 1);
}

// The harness must be able to fail: a driver that denies everything and records nothing.
// REQ-CF-031, REQ-CF-032, REQ-CF-033, REQ-CF-040, REQ-CF-060, REQ-CF-061
TEST(Runs, DoesNotPassWhoDoesNothing) {
  RunOptions options;
  options.cases = {"wrong-tenant"};
  options.routes = {"direct"};
  const Result<PackRun> run = run_with(hostile("polite"), options);
  ASSERT_TRUE(run.has_value());
  ASSERT_EQ(run->trials.size(), 2U) << "the control is run besides";
  EXPECT_EQ(run->count(Verdict::kFailed), 2U);
  for (const Format& format : formats()) {
    const std::string text = format.write(*run);
    EXPECT_THAT(text, HasSubstr("wrong-tenant")) << format.name;
    EXPECT_THAT(text, HasSubstr("direct")) << format.name;
  }
  EXPECT_THAT(run_text(*run), HasSubstr("effects: the spy counted 0 of \"invoice.read\""));
  EXPECT_THAT(run_json(*run), HasSubstr("\"schema\":\"remit.conform/1\""));
  EXPECT_THAT(run_junit(*run), HasSubstr("failures=\"2\""));
}

// REQ-CF-050
TEST(KnownFailures, AreReadAndRefused) {
  const std::string start = "known_failures: remit.known-failures/1\nknown:\n";
  const auto good = parse_known_failures(
      start + "  - {case: allowed, routes: [direct], owner: me, reason: soon}\n", "k", built_in());
  ASSERT_TRUE(good.known.has_value());
  for (const char* entry :
       {"  - {case: nowhere, routes: [direct], owner: me, reason: soon}\n",
        "  - {case: fan-out, routes: [legacy], owner: me, reason: soon}\n",
        "  - {case: allowed, routes: [direct, direct], owner: me, reason: soon}\n",
        "  - {case: allowed, routes: [direct], reason: soon}\n"}) {
    EXPECT_FALSE(parse_known_failures(start + entry, "k", built_in()).known.has_value()) << entry;
  }
}

Subject python_executor(std::vector<std::string> words) {
  std::vector<std::string> command = {"python3", "-B",
                                      source_directory() + "/examples/python_executor/driver.py"};
  command.insert(command.end(), words.begin(), words.end());
  return subject_of_command(std::move(command));
}

// REQ-DR-012, REQ-DR-013, REQ-DR-020, REQ-DR-023, REQ-DR-030, REQ-DR-031
TEST(PythonExecutor, PassesInItsGoodForm) {
  const Result<PackRun> run = run_with(python_executor({}), {});
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->exit_code, 0) << run_text(*run);
  EXPECT_GT(run->count(Verdict::kPassed), 200U);
}

Subject forgetful_executor(const std::string& event, const std::string& field) {
  return subject_of_command({"python3", "-B",
                             source_directory() + "/tests/conformance/forgetful_driver.py", event,
                             field});
}

// REQ-CF-040, REQ-CF-060: whoever writes a driver must learn which fact it does not record.
TEST(Findings, KeepWhatWasExpectedInEveryForm) {
  RunOptions options;
  options.cases = {"allowed"};
  options.routes = {"direct"};
  const Result<PackRun> run =
      run_with(forgetful_executor("authorization.decision", "resolution_revision"), options);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->exit_code, 1);
  for (const Format& format : formats()) {
    EXPECT_THAT(format.write(*run), HasSubstr("resolution_revision")) << format.name;
  }
  EXPECT_THAT(run_json(*run), HasSubstr(R"("code":"unrecorded_fact","value":"undetermined")"));
  EXPECT_THAT(run_json(*run), HasSubstr(R"("expected":"resolution_revision","recorded":null)"));
}

// REQ-CF-062: what is kept is what was graded, as a manifest that the grader takes.
TEST(Records, AreKeptWithTheManifestsOfTheirTrials) {
  RunOptions options;
  options.routes = {"queued"};
  std::size_t kept = 0;
  options.keep = [&](const TrialRecord& record) {
    ++kept;
    const grading::ManifestParse parse =
        grading::parse_manifest(record.manifest, std::string(record.case_id));
    EXPECT_TRUE(parse.errors.empty()) << parse.errors.front().to_string();
    EXPECT_EQ(manifest_json(parse.manifest.value_or(grading::Manifest{})), record.manifest);
    EXPECT_THAT(std::string(record.spy_events), HasSubstr("run.finished"));
    return std::string("kept/") + std::string(record.case_id);
  };
  const Result<PackRun> run = run_with(python_executor({}), options);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(kept, run->trials.size());
  EXPECT_EQ(run->trials.front().kept, "kept/allowed");
  EXPECT_THAT(run_json(*run), HasSubstr(R"("kept":"kept/allowed")"));
}

// REQ-CF-062: the command that shows a trial can be copied as it stands.
TEST(Records, AreNamedAsAShellTakesThem) {
  RunOptions options;
  options.cases = {"allowed"};
  options.routes = {"direct"};
  options.keep = [](const TrialRecord&) { return std::string("what's kept/allowed"); };
  const Result<PackRun> run = run_with(hostile("polite"), options);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run_text(*run),
              HasSubstr(R"(remit grade 'what'\''s kept/allowed/record' --manifest )"));
  options.keep = [](const TrialRecord&) { return std::string("two\nlines"); };
  const Result<PackRun> odd = run_with(hostile("polite"), options);
  ASSERT_TRUE(odd.has_value());
  EXPECT_THAT(run_text(*odd), HasSubstr("remit grade \"two\\x0alines/record\""));
}

// REQ-CF-061: a control that ran was exercised, and forty names drown what one looks for.
TEST(Scope, CountsCasesThatWereNotRun) {
  RunOptions options;
  options.cases = {"wrong-tenant"};
  options.routes = {"direct"};
  const Result<PackRun> run = run_with(python_executor({}), options);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->unexercised_cases.size(), 38U);
  EXPECT_THAT(run_text(*run), HasSubstr("scope: cases not exercised: 38 of 40, which the JSON"));
  EXPECT_THAT(run->unexercised_cases, Not(Contains("allowed")));
  EXPECT_THAT(run_json(*run), HasSubstr("\"cases\":[\"missing-identity\","));
}

// REQ-CF-050: known failures do not fail the run, and one that passes does.
TEST(PythonExecutor, IsWrongInItsNaiveForm) {
  RunOptions options;
  options.cases = {"wrong-tenant"};
  options.routes = {"direct"};
  const Subject naive = python_executor({"--naive"});
  const Result<PackRun> wrong = run_with(naive, options);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->exit_code, 1);
  options.known = KnownFailures{"known.yaml", {{"wrong-tenant", "direct", "me", "soon", 3}}};
  const Result<PackRun> known = run_with(naive, options);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->exit_code, 0);
  EXPECT_EQ(known->count(Verdict::kKnown), 1U);
  options.known = KnownFailures{"known.yaml", {{"allowed", "direct", "me", "soon", 3}}};
  options.cases = {"allowed"};
  const Result<PackRun> stale = run_with(naive, options);
  ASSERT_TRUE(stale.has_value());
  EXPECT_EQ(stale->exit_code, 1);
  EXPECT_EQ(stale->stale.size(), 1U);
}

// REQ-DR-032, REQ-CF-041 are shown by the faults below; REQ-CF-070.
TEST(FaultTable, NeedsEveryFaultToBeCaught) {
  SelfTest test;
  EXPECT_FALSE(test.passed()) << "nothing was caught";
  test.good_form_passes = true;
  FaultRow row;
  row.fault = &built_in().faults.front();
  row.caught = {"direct"};
  test.rows = {row};
  EXPECT_TRUE(test.passed());
  test.rows.front().missed = {"legacy"};
  EXPECT_FALSE(test.passed());
  EXPECT_THAT(self_test_text(test), HasSubstr("NOT CAUGHT on legacy"));
  test.rows = {row};
  test.absent = {"drops-events"};
  EXPECT_FALSE(test.passed());
}

}  // namespace
}  // namespace remit::conformance
