// A grade as tests of a continuous integration server.
#include "report/grade_junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/utf8.h"
#include "report/finding_words.h"
#include "report/xml_text.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::Value;
using grading::Verdict;

constexpr std::size_t kMaxListed = 50;  ///< findings of one test

// Servers store names in columns of some 255 characters and take equal names for one test: a long
// one is cut and told by its digest.
std::string case_name(std::string_view id, Verdict verdict) {
  constexpr std::size_t kMaxIdBytesShown = 128;
  constexpr std::size_t kDigestDigits = 16;
  std::string name = fmt::format("case {}", quoted(id, kMaxTestNameBytes));
  if (name.size() > kMaxIdBytesShown || id.size() > kMaxIdBytesShown) {
    std::string_view cut = std::string_view(name).substr(0, kMaxIdBytesShown);
    while (first_invalid_utf8(cut)) cut.remove_suffix(1);
    constexpr std::size_t kScheme = std::string_view("sha256:").size();
    name = fmt::format("{}… {}", cut, digest_text(sha256(id)).substr(kScheme, kDigestDigits));
  }
  return fmt::format("{}: {}", name, grading::verdict_name(verdict));
}

using EachFinding = std::function<void(const std::function<void(const Finding&)>&)>;

class Document {
 public:
  Document(const Grade& grade, Outlet& outlet) : grade_(grade), outlet_(outlet) {}

  void write() {
    std::string& out = outlet_.text();
    out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    const std::string counts = counts_text();
    out += fmt::format("<testsuites {}>\n  <testsuite {}>\n", counts, counts);
    write_properties();
    for (const Verdict verdict : grading::kVerdicts) {
      write_test(fmt::format("run: {}", grading::verdict_name(verdict)), verdict,
                 value_of(std::nullopt, verdict), grade_.verdicts[verdict].population,
                 [&](const auto& take) {
                   for (const Finding& finding : grade_.findings) take(finding);
                 });
    }
    for (std::size_t i = 0; i < grade_.cases.size(); ++i) {
      const grading::CaseGrade& one = grade_.cases[i];
      for (const Verdict verdict : grading::kVerdicts) {
        write_test(case_name(one.case_id, verdict), verdict, value_of(i, verdict),
                   one.verdicts[verdict].population, [&](const auto& take) {
                     for (const std::size_t index : one.findings) take(grade_.findings[index]);
                   });
      }
      outlet_.drain();
    }
    out += "    <system-out>";
    for (const std::string& sentence : grade_.scope) out += xml_escaped(sentence) + "\n";
    out += "</system-out>\n  </testsuite>\n</testsuites>\n";
  }

 private:
  /// Of the run or of a case; with a baseline, what is left without the findings that are known.
  [[nodiscard]] Value value_of(std::optional<std::size_t> of_case, Verdict verdict) const {
    if (grade_.baseline) {
      return of_case ? grade_.baseline->cases[*of_case][verdict]
                     : grade_.baseline->verdicts[verdict];
    }
    return of_case ? grade_.cases[*of_case].verdicts[verdict].value
                   : grade_.verdicts[verdict].value;
  }

  /// Whether the gate hangs on the verdict; nothing does in an advisory run.
  [[nodiscard]] bool is_blocking(Verdict verdict) const {
    return grade_.blocking[verdict] && !grade_.advisory;
  }

  [[nodiscard]] std::string counts_text() const {
    std::size_t tests = 0;
    std::size_t failures = 0;
    std::size_t errors = 0;
    const auto count = [&](std::optional<std::size_t> of_case) {
      for (const Verdict verdict : grading::kVerdicts) {
        const Value value = value_of(of_case, verdict);
        ++tests;
        if (!is_blocking(verdict)) continue;
        if (value == Value::kFailed) {
          ++failures;
        } else if (value != Value::kPassed) {
          ++errors;
        }
      }
    };
    count(std::nullopt);
    for (std::size_t i = 0; i < grade_.cases.size(); ++i) count(i);
    return fmt::format(
        "name=\"remit grade\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" "
        "time=\"0.000\"",
        tests, failures, errors);
  }

  void write_properties() {
    std::string& out = outlet_.text();
    out += "    <properties>\n";
    const auto property = [&](std::string_view name, const auto& value) {
      out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, value);
    };
    property("gate", grading::gate_name(grade_.gate));
    property("exit_code", grade_.exit_code);
    property("events", grade_.population.events);
    property("invocations", grade_.population.invocations);
    out += "    </properties>\n";
  }

  void write_test(const std::string& name, Verdict verdict, Value value, std::uint64_t population,
                  const EachFinding& each_finding) {
    std::string details;
    std::size_t found = 0;
    std::string_view file;
    each_finding([&](const Finding& finding) {
      if (finding.verdict != verdict || ++found > kMaxListed) return;
      const grading::Position* at = first_line(finding);
      if (at != nullptr && file.empty()) file = plain_path(grade_, *at);
      details += line_of(finding, at);
    });
    if (found > kMaxListed) details += fmt::format("and {} more\n", found - kMaxListed);
    std::string& out = outlet_.text();
    out += fmt::format("    <testcase classname=\"remit\" name=\"{}\" time=\"0.000\"",
                       xml_escaped(name));
    if (!file.empty()) out += fmt::format(" file=\"{}\"", xml_escaped(file));
    const std::string_view word = grading::value_name(value);
    if (value != Value::kPassed && !is_blocking(verdict)) {
      details.insert(0, fmt::format("{}, population {}, does not block\n", word, population));
    }
    if (value == Value::kPassed || !is_blocking(verdict)) {
      // A test passes beside findings that a baseline knows or that do not block; they are told.
      out += details.empty()
                 ? "/>\n"
                 : fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                               xml_escaped(details));
      return;
    }
    const std::string_view element = value == Value::kFailed ? "failure" : "error";
    out += fmt::format(">\n      <{} type=\"{}\" message=\"{}, population {}\">{}</{}>\n", element,
                       word, word, population, xml_escaped(details), element);
    out += "    </testcase>\n";
  }

  [[nodiscard]] std::string line_of(const Finding& finding, const grading::Position* at) const {
    return fmt::format("{}{}{}, owner {}: {}{}\n", finding.known ? "known: " : "",
                       grading::code_info(finding.code).name,
                       finding.invocation_id ? " of " + quoted(*finding.invocation_id) : "",
                       grading::owner_name(finding.owner), finding_sentence(finding),
                       at == nullptr ? "" : ", at " + place_words(grade_, *at));
  }

  const Grade& grade_;
  Outlet& outlet_;
};

}  // namespace

void write_grade_junit(const Grade& grade, Outlet& outlet) {
  Document(grade, outlet).write();
}

}  // namespace remit::report
