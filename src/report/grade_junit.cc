// A grade as tests of a continuous integration server.
#include "report/grade_junit.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::Value;
using grading::Verdict;

/// One verdict as a test.
struct Test {
  std::string name;
  Value value;
  std::uint64_t population;
  std::vector<const Finding*> findings;
};

// U+FFFE and U+FFFF are well-formed UTF-8 and no characters of XML.
bool is_xml_character(std::string_view sequence) {
  if (sequence.size() == 1) {
    return static_cast<unsigned char>(sequence[0]) >= 0x20 && sequence[0] != 0x7f;
  }
  return sequence != "\xef\xbf\xbe" && sequence != "\xef\xbf\xbf";
}

// A backslash is doubled, so that `\x01` written out and the byte 1 stay apart.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    if (length == 0 || !is_xml_character(sequence)) {
      for (const char byte : sequence) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (sequence == "&") {
      out += "&amp;";
    } else if (sequence == "<") {
      out += "&lt;";
    } else if (sequence == ">") {
      out += "&gt;";
    } else if (sequence == "\"") {
      out += "&quot;";
    } else if (sequence == "'") {
      out += "&apos;";
    } else if (sequence == "\\") {
      out += "\\\\";
    } else {
      out += sequence;
    }
  }
  return out;
}

std::string details(const Test& test) {
  constexpr std::size_t kMost = 50;
  std::string out;
  for (std::size_t i = 0; i < test.findings.size() && i < kMost; ++i) {
    const Finding& finding = *test.findings[i];
    out += fmt::format("{}{}{}, owner {}: {}\n", finding.known ? "known: " : "",
                       grading::code_info(finding.code).name,
                       finding.invocation_id ? " of " + escaped(*finding.invocation_id) : "",
                       grading::owner_name(finding.owner), escaped(finding.message));
  }
  if (test.findings.size() > kMost) {
    out += fmt::format("and {} more\n", test.findings.size() - kMost);
  }
  return out;
}

void write_test(const Test& test, std::string& out) {
  out += fmt::format("    <testcase classname=\"remit\" name=\"{}\" time=\"0.000\"",
                     escaped(test.name));
  if (test.value == Value::kPassed) {
    // With a baseline a test passes beside findings that are known; they are told all the same.
    out +=
        test.findings.empty()
            ? "/>\n"
            : fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", details(test));
    return;
  }
  const std::string_view element = test.value == Value::kFailed ? "failure" : "error";
  out += fmt::format(">\n      <{} type=\"{}\" message=\"{}, population {}\">{}</{}>\n", element,
                     grading::value_name(test.value), grading::value_name(test.value),
                     test.population, details(test), element);
  out += "    </testcase>\n";
}

std::vector<Test> tests_of(const Grade& grade) {
  std::vector<Test> tests;
  for (const Verdict verdict : grading::kVerdicts) {
    const grading::VerdictResult& result = grade.verdicts[verdict];
    Test& test =
        tests.emplace_back(Test{fmt::format("run: {}", grading::verdict_name(verdict)),
                                grade.baseline ? grade.baseline->verdicts[verdict] : result.value,
                                result.population,
                                {}});
    for (const Finding& finding : grade.findings) {
      if (finding.verdict == verdict) test.findings.push_back(&finding);
    }
  }
  for (std::size_t i = 0; i < grade.cases.size(); ++i) {
    const grading::CaseGrade& one = grade.cases[i];
    for (const Verdict verdict : grading::kVerdicts) {
      const grading::VerdictResult& result = one.verdicts[verdict];
      Test& test = tests.emplace_back(
          Test{fmt::format("case {}: {}", one.case_id, grading::verdict_name(verdict)),
               grade.baseline ? grade.baseline->cases[i][verdict] : result.value,
               result.population,
               {}});
      for (const std::size_t index : one.findings) {
        if (grade.findings[index].verdict == verdict) {
          test.findings.push_back(&grade.findings[index]);
        }
      }
    }
  }
  return tests;
}

}  // namespace

std::string grade_junit(const Grade& grade) {
  const std::vector<Test> tests = tests_of(grade);
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const Test& test : tests) {
    if (test.value == Value::kFailed) {
      ++failures;
    } else if (test.value != Value::kPassed) {
      ++errors;
    }
  }
  const std::string counts = fmt::format(
      "name=\"remit grade\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" "
      "time=\"0.000\"",
      tests.size(), failures, errors);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites {}>\n  <testsuite {}>\n", counts, counts);
  for (const Test& test : tests) write_test(test, out);
  out += "    <system-out>";
  for (const std::string& sentence : grade.scope) out += escaped(sentence) + "\n";
  out += "</system-out>\n  </testsuite>\n</testsuites>\n";
  return out;
}

}  // namespace remit::report
