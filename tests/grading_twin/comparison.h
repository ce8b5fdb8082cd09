// What the tests of the two graders share: traces in memory, criteria, and the comparison itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "grading/grading.h"
#include "naive_grader.h"

namespace remit::twin {

struct NamedCriteria {
  std::string_view name;
  grading::Criteria criteria;
};

/// Everything that the comparisons are made under.
const std::vector<NamedCriteria>& all_criteria();

/// Which invocations a grade lists.
enum class Listed : std::uint8_t { kAll, kThoseWithFindings };

/// How the streaming grader is made to work; only what is listed may be told in the grade.
struct Way {
  std::size_t piece_bytes = 1U << 20U;            ///< that are read at once
  std::size_t memory_bytes = kGraderMemoryBytes;  ///< beyond them invocations leave memory
  Listed listed = Listed::kAll;
};

/// Room for nothing, for an event, for some, for all.
inline constexpr std::size_t kRooms[] = {kGraderMemoryBytes, 1, 400, 1'500, 6'000};

/// The streaming grade. The inputs are given in their order.
grading::Grade streamed(const std::vector<NaiveInput>& inputs, const grading::Criteria& criteria,
                        const Way& way = {});

/// Why a grade that passes its gate should not, by what the trace holds and nothing else; empty if
/// it may (REQ-GR-091).
std::string unearned(const std::vector<NaiveInput>& inputs);

/// True if both graders agree, and a gate that passes has earned it; else a failed expectation with
/// the trace and the difference. Counts what was compared; each comparison has another of kRooms.
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
