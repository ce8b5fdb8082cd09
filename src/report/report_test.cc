// Reports of grades that no golden case would hold: hostile texts, very many findings, sinks that
// fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "report/finding_words.h"
#include "report/formats.h"
#include "report/grade_github.h"
#include "report/grade_junit.h"

namespace remit::report {
namespace {

using grading::Code;
using grading::Finding;
using grading::Grade;
using grading::Value;
using grading::Verdict;

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> kTexts = {
      "plain",
      "",
      "]]>",
      "</failure><skipped/>",
      "</script><script>alert(1)</script>",
      "a\n::error::b",
      "a\r::error::b%0A",
      "##[error]b",
      "%0a,title=x:y",
      "[click](javascript:x) @all #1 www.example.org | `x`",
      std::string("\x1b[31m\0\x07\x7f", 8),
      "\xe2\x80\xae"
      "abc\xe2\x81\xa6",
      "\xc2\x85\xe2\x80\xa8",
      "\xff\xfe\xc0\x80",
      "\xef\xbf\xbe\xef\xbf\xbf",
      std::string(std::size_t{1} << 20U, 'x'),
      std::string(std::size_t{1} << 20U, 'x') + "y",
      "in\xc2\xadvi\xe2\x80\x8bsi\xef\xbb\xbf"
      "ble",
  };
  return kTexts;
}

Finding finding_of(const std::string& text, Code code) {
  const grading::CodeInfo& info = grading::code_info(code);
  Finding out;
  out.code = code;
  out.invocation_id = text;
  out.case_id = text;
  out.verdict = info.verdict;
  out.owner = info.owner;
  out.value = info.soft ? Value::kUndetermined : Value::kFailed;
  out.expected = text;
  out.recorded = text;
  out.message = info.meaning;
  grading::Position at;
  at.source = text;
  at.at = 3;
  at.by_sequence = true;
  at.offset = 17;
  at.line = 2;
  at.bytes = 5;
  out.events = {at, at};
  return out;
}

/// A failed grade with one case and some findings for each text.
Grade grade_of(const std::vector<std::string>& texts) {
  Grade grade;
  grade.gate = grading::Gate::kFailed;
  grade.exit_code = 1;
  for (const Verdict verdict : grading::kVerdicts) {
    grade.blocking[verdict] = grade.blocks_run[verdict] = true;
    grade.verdicts[verdict] = {Value::kFailed, texts.size()};
  }
  for (const std::string& text : texts) {
    const auto file = static_cast<std::uint32_t>(grade.files.size());
    grade.files.push_back(text);
    grading::CaseGrade& one = grade.cases.emplace_back();
    one.case_id = text;
    one.verdicts = grade.verdicts;
    for (const Code code : {Code::kStartAfterDeny, Code::kOrderUnknown, Code::kForbiddenRequest}) {
      one.findings.push_back(grade.findings.size());
      grade.findings.push_back(finding_of(text, code));
      for (grading::Position& at : grade.findings.back().events) at.file = file;
    }
  }
  return grade;
}

TEST(Reports, LetNoOutsideTextAct) {  // REQ-RP-004
  const Grade grade = grade_of(hostile_texts());
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.name);
    const std::string text = report_text(format.name, grade);
    for (const char control : {'\x1b', '\x07', '\0', '\r'}) {
      EXPECT_EQ(text.find(control), std::string::npos) << static_cast<int>(control);
    }
    EXPECT_EQ(text.find("\xff"), std::string::npos);
    const bool is_exact = format.name == "json" || format.name == "sarif";
    if (is_exact) continue;  // read by programs, which keep texts apart from what they do
    for (const char* unseen : {"\xe2\x80\xae", "\xc2\xad", "\xe2\x80\x8b", "\xef\xbb\xbf"}) {
      EXPECT_EQ(text.find(unseen), std::string::npos);
    }
    EXPECT_LT(text.size(), std::size_t{400'000}) << "long texts are cut";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(format.name != "github" && line.starts_with("::"));
      EXPECT_TRUE(format.name != "github-summary" ||
                  line.find_first_of("<[`@") == std::string::npos)
          << line;
    }
  }
}

// A contract whose rules say that one invocation does not block though others do, and that another
// blocks though the run does not.
TEST(Reports, GiveEachFindingTheLevelThatItsOwnInvocationHas) {  // REQ-RP-021, REQ-RP-031
  Grade grade = grade_of({"strict", "lenient", "none"});
  const Verdict verdict = grading::code_info(Code::kStartAfterDeny).verdict;
  grade.findings.clear();
  grade.cases.clear();
  for (const char* id : {"strict", "lenient", "none"}) {
    if (id != std::string_view("none")) {
      grading::InvocationGrade& one = grade.invocations.emplace_back();
      one.invocation_id = id;
      one.blocking[verdict] = id == std::string_view("strict");
      one.findings = {grade.findings.size()};
    }
    grade.findings.push_back(finding_of(id, Code::kStartAfterDeny));
  }
  for (const bool blocks_run : {true, false}) {
    grade.blocks_run[verdict] = blocks_run;
    EXPECT_EQ(blocking_findings(grade), (std::vector<bool>{true, false, blocks_run}));
    const json::Value sarif = json::parse(report_text("sarif", grade)).value();
    const std::string_view levels[] = {"error", "warning", blocks_run ? "error" : "warning"};
    for (std::size_t i = 0; i < std::size(levels); ++i) {
      const auto* level = sarif.at_pointer(fmt::format("/runs/0/results/{}/level", i));
      ASSERT_NE(level, nullptr);
      EXPECT_EQ(*level->if_string(), levels[i]) << i;
    }
    const std::string github = report_text("github", grade);
    std::size_t errors = 0;  // the first line is that of the gate
    for (std::size_t at = github.find("\n::error "); at != std::string::npos;
         at = github.find("\n::error ", at + 1)) {
      ++errors;
    }
    EXPECT_EQ(errors, blocks_run ? 2U : 1U) << github;
  }
}

TEST(Reports, AreJsonWhereTheySayThatTheyAre) {
  for (const std::string_view format : {"json", "sarif"}) {
    const Grade grade = grade_of({hostile_texts().begin(), hostile_texts().begin() + 13});
    const Result<json::Value> value = json::parse(report_text(format, grade));
    EXPECT_TRUE(value.has_value()) << format << ": " << value.error().to_string();
  }
}

TEST(Reports, StopAtTheFirstErrorOfTheirSink) {  // REQ-RP-002
  class FullSink final : public Sink {
   public:
    Status write(std::string_view piece) override {
      EXPECT_LT(piece.size(), std::size_t{256} * 1024) << "written in pieces";
      if (++pieces > 2) return Error{ErrorCode::kUnavailable, "no space left", {}};
      return {};
    }
    int pieces = 0;
  };
  const Grade grade = grade_of(std::vector<std::string>(2000, "id"));
  for (const std::string_view name : {"json", "sarif", "junit"}) {
    FullSink sink;
    const Status written = write_report(*find_format(name), grade, {}, sink);
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().message, "no space left");
    EXPECT_EQ(sink.pieces, 3) << "nothing is written behind an error";
  }
}

TEST(Html, HoldsNoMarkupOfOutsideText) {  // REQ-RP-040, REQ-RP-046
  const std::string text = report_text("html", grade_of(hostile_texts()));
  const std::size_t data = text.find("id=\"data\">");
  const std::size_t end = text.find("</script>", data);
  EXPECT_EQ(text.substr(data, end - data).find('<'), std::string::npos);
  const std::string_view json = std::string_view(text).substr(data, end - data).substr(10);
  const Result<json::Value> value = json::parse(json);
  ASSERT_TRUE(value) << value.error().to_string();
  EXPECT_EQ(value->find("items")->if_array()->size(), 3 * hostile_texts().size());
  EXPECT_EQ(text.find("<script>alert"), std::string::npos);
  EXPECT_EQ(text.find("http"), text.find("http-equiv")) << "no address is in the page";
  EXPECT_EQ(text.find("http", text.find("http-equiv") + 1), std::string::npos);
}

TEST(Html, CountsWhatItLeavesOff) {  // REQ-RP-046
  Grade grade;
  grade.findings.assign(10'003, finding_of("i", Code::kStartAfterDeny));
  grade.files = {"t"};
  const std::string text = report_text("html", grade);
  EXPECT_NE(text.find("and 3 more, all of which"), std::string::npos);
}

TEST(Junit, HasUniqueNamesOfBoundedLength) {  // REQ-RP-010, REQ-RP-012
  const std::string text = report_text("junit", grade_of(hostile_texts()));
  std::set<std::string> names;
  constexpr std::string_view kName = "<testcase classname=\"remit\" name=\"";
  for (std::size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1)) {
    const std::size_t from = at + kName.size();
    const std::string name = text.substr(from, text.find('"', from) - from);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_LT(name.size(), kMaxTestNameBytes * 6);  // as references to characters
    EXPECT_EQ(text.find(" time=\"0.000\"", from), from + name.size() + 1);
  }
  EXPECT_EQ(names.size(), 4 + 4 * hostile_texts().size());
}

TEST(GithubAnnotations, AreAtMostWhatIsShownAndSayWhatIsNot) {  // REQ-RP-030, REQ-RP-031
  Grade grade = grade_of(std::vector<std::string>(30, "id"));
  const auto count = [](const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  const std::string text = report_text("github", grade);
  EXPECT_EQ(count(text, "::error "), kMaxAnnotationsPerLevel);
  EXPECT_EQ(count(text, "::warning "), kMaxAnnotationsPerLevel);
  EXPECT_TRUE(text.starts_with("::error title=remit grade%3A failed::"));
  const std::string totals = text.substr(0, text.find('\n'));
  EXPECT_NE(totals.find("90 findings, 19 of them shown as annotations; 51 errors left off; 20 "
                        "warnings left off"),
            std::string::npos)
      << totals;
  grade.advisory = true;  // REQ-RP-033
  const std::string advisory = report_text("github", grade);
  EXPECT_EQ(count(advisory, "::error "), 0U);
  EXPECT_TRUE(advisory.starts_with("::warning title=remit grade%3A failed::"));
  EXPECT_NE(advisory.find("without --advisory it would be 1"), std::string::npos);
}

TEST(GithubAnnotations, AreOneCommandALine) {  // REQ-RP-032
  const std::string text = report_text("github", grade_of(hostile_texts()));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("::error ") || line.starts_with("::warning ")) << line;
  }
}

// REQ-RP-025: what tells findings apart does not change with the ids of a run, and is not shared.
TEST(Sarif, KnowsFindingsAgain) {
  const auto fingerprints = [](const Grade& grade) {
    const json::Value log = json::parse(report_text("sarif", grade)).value();
    std::vector<std::string> out;
    for (const json::Value& result : *log.at_pointer("/runs/0/results")->if_array()) {
      out.push_back(*result.at_pointer("/partialFingerprints/remitFinding~1v1")->if_string());
    }
    return out;
  };
  Grade grade = grade_of({"a", "a", "b"});
  const std::vector<std::string> first = fingerprints(grade);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), grade.findings.size());
  for (Finding& finding : grade.findings) finding.invocation_id = "minted anew";
  EXPECT_EQ(fingerprints(grade), first);
  for (Finding& finding : grade.findings) finding.case_id.reset();
  EXPECT_NE(fingerprints(grade), first);
}

// REQ-RP-007: where a report shows so many, it shows those that make the gate what it is.
TEST(Reports, TellFirstWhatBlocksTheGate) {
  Grade grade;
  grade.gate = grading::Gate::kFailed;
  grade.blocks_run[Verdict::kPlanning] = true;
  grade.files = {"f"};
  for (int i = 0; i < 300; ++i) {
    grade.findings.push_back(finding_of(fmt::format("a{:03}", i), Code::kOrderUnknown));
  }
  grade.findings.push_back(finding_of("b", Code::kStartAfterDeny));
  grade.findings.push_back(finding_of("c", Code::kForbiddenRequest));
  for (const std::string_view format : {"text", "github", "github-summary", "html"}) {
    const std::string text = report_text(format, grade);
    // The page names each id twice: as its item and its case.
    const std::size_t blocks = text.find("\"c\"");
    const std::size_t failed = text.find("\"b\"");
    const std::size_t open = text.find("\"a000\"");
    ASSERT_NE(blocks, std::string::npos) << format;
    EXPECT_LT(blocks, failed) << format;
    EXPECT_LT(failed, open) << format;
  }
  // Known by the baseline it is no longer what makes the gate fail.
  grade.findings.back().known = 0;
  grade.baseline.emplace().entries.emplace_back();
  const std::string text = report_text("text", grade);
  EXPECT_LT(text.find("\"b\""), text.find("\"c\""));
}

// REQ-RP-008: what is told together takes one line of those that are shown.
TEST(Reports, TellTogetherWhatTheFormHasNoRoomFor) {
  Grade grade;
  grade.gate = grading::Gate::kUndetermined;
  grade.blocking[Verdict::kCompleteness] = grade.blocks_run[Verdict::kCompleteness] = true;
  grade.files = {"f"};
  for (int i = 0; i < 300; ++i) {
    for (const Code code : {Code::kMissingDecision, Code::kMissingRunFinished}) {
      Finding finding = finding_of(fmt::format("a{:03}", i), code);
      finding.value = Value::kUndetermined;
      finding.is_of_form = true;
      grade.findings.push_back(std::move(finding));
    }
  }
  for (int i = 0; i < 250; ++i) {
    grade.findings.push_back(finding_of(fmt::format("b{:03}", i), Code::kOrderUnknown));
  }
  const std::string text = report_text("text", grade);
  EXPECT_NE(text.find("  300 missing_decision, 300 missing_run_finished\n"), std::string::npos);
  EXPECT_EQ(text.find("a000"), std::string::npos);
  EXPECT_NE(text.find("\"b198\""), std::string::npos);
  EXPECT_EQ(text.find("\"b199\""), std::string::npos);
  EXPECT_NE(text.find("and 51 more"), std::string::npos);
  for (const std::string_view format : {"github", "github-summary", "html"}) {
    EXPECT_EQ(report_text(format, grade).find("a000"), std::string::npos) << format;
  }
  for (const std::string_view format : {"json", "junit", "sarif"}) {
    EXPECT_NE(report_text(format, grade).find("a000"), std::string::npos) << format;
  }
}

}  // namespace
}  // namespace remit::report
