// Findings and places in words.
#include "report/finding_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace remit::report {

grading::Value value_of(grading::Gate gate) {
  switch (gate) {
    case grading::Gate::kPassed:
      return grading::Value::kPassed;
    case grading::Gate::kFailed:
      return grading::Value::kFailed;
    case grading::Gate::kUndetermined:
      break;
  }
  return grading::Value::kUndetermined;
}

std::string finding_sentence(const grading::Finding& finding) {
  const auto fact = [](const std::optional<std::string>& value) {
    return value ? quoted(*value, 120) : "nothing";
  };
  if (!finding.expected && !finding.recorded) return finding.message;
  return fmt::format("{}; expected {}, recorded {}", finding.message, fact(finding.expected),
                     fact(finding.recorded));
}

std::string place_words(const grading::Grade& grade, const grading::Position& position) {
  std::string out;
  if (position.line == 0) return quoted(position.source, 200);
  out = fmt::format("{} line {}, byte {}", quoted(grade.files[position.file], 200), position.line,
                    position.offset);
  if (position.by_sequence) {
    out += fmt::format(" (writer {}, seq {})", quoted(position.source), position.at);
  }
  return out;
}

const grading::Position* first_line(const grading::Finding& finding) {
  const auto found = std::find_if(finding.events.begin(), finding.events.end(),
                                  [](const grading::Position& one) { return one.line != 0; });
  return found == finding.events.end() ? nullptr : &*found;
}

std::string_view plain_path(const grading::Grade& grade, const grading::Position& position) {
  constexpr std::size_t kLongestPath = 4096;
  std::string_view file = grade.files[position.file];
  while (file.starts_with("./")) file.remove_prefix(2);
  const bool is_plain = file != "-" && quoted(file, kLongestPath).size() == file.size() + 2;
  return is_plain ? file : std::string_view();
}

std::vector<bool> blocking_findings(const grading::Grade& grade) {
  std::vector<bool> out;
  out.reserve(grade.findings.size());
  for (const grading::Finding& finding : grade.findings) {
    out.push_back(grade.blocks_run[finding.verdict]);
  }
  for (const grading::InvocationGrade& one : grade.invocations) {
    for (const std::size_t index : one.findings) {
      out[index] = one.blocking[grade.findings[index].verdict];
    }
  }
  return out;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.front() >= 'a' && out.front() <= 'z') out.front() -= 'a' - 'A';
  return out + ".";
}

}  // namespace remit::report
