// In which order a report for people tells findings, and which of them it tells together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grading/grade.h"

namespace remit::report {

/// How soon a finding is told, the soonest first (REQ-RP-007).
enum class Rank : std::uint8_t { kBlocksGate, kFailed, kBlocking, kOther };

/// Indices into `Grade::findings`, and what is known of each of them by its index.
struct ReadingOrder {
  std::vector<std::size_t> single;   ///< told one by one, in this order
  std::vector<std::size_t> of_form;  ///< told together (REQ-RP-008), in the order of the grade
  std::vector<bool> blocking;        ///< of every finding: see `blocking_findings`
  std::vector<Rank> ranks;           ///< of every finding
};
ReadingOrder reading_order(const grading::Grade& grade);

/// Findings of one code that are told together.
struct ToldTogether {
  grading::Code code = grading::Code::kEvidenceLost;
  std::size_t number = 0;
};
/// Those of `order.of_form` by code, in the order of the codes.
std::vector<ToldTogether> told_together(const grading::Grade& grade, const ReadingOrder& order);
/// `1 evidence_lost, 7 missing_decision`.
std::string words_of(const std::vector<ToldTogether>& together);

/// Why they are told together.
inline constexpr std::string_view kOfFormWords =
    "the record has room for requests only, so this accuses nobody";

}  // namespace remit::report
