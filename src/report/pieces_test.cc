// Every form is handed on in small pieces, however long one invocation, finding or case is.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "report/formats.h"

namespace remit::report {
namespace {

using grading::Code;
using grading::Finding;
using grading::Grade;

/// Keeps sizes only.
class LargestPiece final : public Sink {
 public:
  Status write(std::string_view piece) override {
    largest = std::max(largest, piece.size());
    total += piece.size();
    return {};
  }
  std::size_t largest = 0;
  std::size_t total = 0;
};

Finding finding_of(std::size_t events) {
  const grading::CodeInfo& info = grading::code_info(Code::kMultipleStarts);
  Finding out;
  out.code = Code::kMultipleStarts;
  out.invocation_id = "i1";
  out.case_id = "c";
  out.verdict = info.verdict;
  out.owner = info.owner;
  out.value = grading::Value::kFailed;
  out.message = info.meaning;
  grading::Position at;
  at.source = "trace.jsonl";
  for (std::size_t i = 0; i < events; ++i) {
    at.at = i;
    at.line = i + 1;
    out.events.push_back(at);
  }
  return out;
}

Grade grade_of(std::size_t findings, std::size_t events, std::size_t ids) {
  Grade grade;
  grade.gate = grading::Gate::kFailed;
  grade.exit_code = 1;
  grade.files = {"trace.jsonl"};
  for (const grading::Verdict verdict : grading::kVerdicts) {
    grade.blocking[verdict] = grade.blocks_run[verdict] = true;
    grade.verdicts[verdict] = {grading::Value::kFailed, 1};
  }
  grading::InvocationGrade one;
  one.invocation_id = "i1";
  one.case_id = "c";
  grading::CaseGrade group;
  group.case_id = "c";
  for (std::size_t i = 0; i < findings; ++i) {
    grade.findings.push_back(finding_of(events));
    one.findings.push_back(i);
    group.findings.push_back(i);
  }
  for (std::size_t i = 0; i < ids; ++i) group.invocation_ids.push_back("i" + std::to_string(i));
  grade.invocations.push_back(std::move(one));
  grade.cases.push_back(std::move(group));
  return grade;
}

TEST(Report, IsHandedOnInSmallPiecesHoweverLongOnePartIs) {  // REQ-RP-002
  constexpr std::size_t kMost = std::size_t{192} * 1024;
  const struct {
    const char* what;
    Grade grade;
  } rows[] = {
      {"one finding with many events", grade_of(1, 50'000, 1)},
      {"one invocation with many findings", grade_of(20'000, 1, 1)},
      {"one case with many invocations", grade_of(1, 1, 200'000)},
  };
  for (const auto& row : rows) {
    std::size_t longest = 0;
    for (const Format& format : formats()) {
      SCOPED_TRACE(std::string(row.what) + " as " + std::string(format.name));
      LargestPiece sink;
      ASSERT_TRUE(write_report(format, row.grade, {}, sink));
      EXPECT_LE(sink.largest, kMost);
      longest = std::max(longest, sink.total);
    }
    EXPECT_GT(longest, 4 * kMost) << row.what << ": too short to show anything";
  }
}

}  // namespace
}  // namespace remit::report
