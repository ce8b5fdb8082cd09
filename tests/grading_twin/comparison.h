// What the tests of the two graders share: traces in memory, criteria, and the comparison itself.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grading/grading.h"
#include "naive_grader.h"

namespace remit::twin {

struct NamedCriteria {
  std::string_view name;
  grading::Criteria criteria;
};

/// Everything that the comparisons are made under.
const std::vector<NamedCriteria>& all_criteria();

/// The streaming grade of all invocations. The inputs are given in their order and read by pieces
/// of at most `piece_bytes`.
grading::Grade streamed(const std::vector<NaiveInput>& inputs, const grading::Criteria& criteria,
                        std::size_t piece_bytes = 1U << 20U);

/// Why a grade that passes its gate should not, by what the trace holds and nothing else; empty if
/// it may (REQ-GR-091).
std::string unearned(const std::vector<NaiveInput>& inputs);

/// True if both graders agree, and a gate that passes has earned it; else a failed expectation with
/// the trace and the difference. Counts what was compared.
bool agree(const std::vector<NaiveInput>& inputs, const NamedCriteria& under);

/// How many comparisons `agree` made since the last call.
std::size_t take_compared();

/// The codes that `agree` met in any grade.
const std::set<std::string_view>& codes_met();

/// Whether REMIT_NIGHTLY asks for the long comparisons.
bool is_nightly();

/// Lines of one invocation; `@` stands for its id, `#` for further fields (writer, seq).
inline constexpr std::size_t kCoreForms = 6;
extern const std::array<std::string_view, kCoreForms> kCore;
extern const std::vector<std::string_view> kFurther;  ///< what changes a judgement
extern const std::vector<std::string_view> kRare;     ///< what rarely does

std::string line_of(std::string_view form, std::string_view id, std::string_view fields = "");

}  // namespace remit::twin
