// What blocks the gate, what failed, what is open.
#include "report/reading_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/finding_words.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::Value;

Rank rank_of(const Grade& grade, const Finding& finding, bool blocks) {
  const bool counts = blocks && !finding.known;
  if (counts && finding.value == value_of(grade.gate)) return Rank::kBlocksGate;
  if (finding.value == Value::kFailed) return Rank::kFailed;
  return counts ? Rank::kBlocking : Rank::kOther;
}

}  // namespace

ReadingOrder reading_order(const Grade& grade) {
  ReadingOrder out;
  out.blocking = blocking_findings(grade);
  out.ranks.reserve(grade.findings.size());
  for (std::size_t i = 0; i < grade.findings.size(); ++i) {
    const Finding& finding = grade.findings[i];
    out.ranks.push_back(rank_of(grade, finding, out.blocking[i]));
    (finding.is_of_form ? out.of_form : out.single).push_back(i);
  }
  std::ranges::sort(out.single, {}, [&](std::size_t i) { return std::pair(out.ranks[i], i); });
  return out;
}

std::vector<ToldTogether> told_together(const Grade& grade, const ReadingOrder& order) {
  std::map<grading::Code, std::size_t> numbers;
  for (const std::size_t i : order.of_form) ++numbers[grade.findings[i].code];
  std::vector<ToldTogether> out;
  for (const auto& [code, number] : numbers) out.push_back({code, number});
  return out;
}

std::string words_of(const std::vector<ToldTogether>& together) {
  std::string out;
  for (const auto& [code, number] : together) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", number, grading::code_info(code).name);
  }
  return out;
}

}  // namespace remit::report
