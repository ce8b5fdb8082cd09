// What the tests of the two graders share: traces in memory, criteria, and the comparison itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "grading/grading.h"
#include "naive_grader.h"
#include "packing.h"

namespace remit::twin {

/// Both graders' criteria from the same contract and manifest. A contract or manifest that the
/// streaming grader refuses is a failed expectation. `manifest_text` is empty for none.
TwinCriteria criteria(std::string name, NaiveContract contract, std::string manifest_text = "",
                      std::optional<std::vector<std::string>> expected_ids = std::nullopt);

/// Which invocations a grade lists.
enum class Listed : std::uint8_t { kAll, kThoseWithFindings };

/// How the streaming grader is made to work; only what is listed may be told in the grade.
struct Way {
  std::size_t piece_bytes = 1U << 20U;            ///< that are read at once
  std::size_t memory_bytes = kGraderMemoryBytes;  ///< beyond them invocations leave memory
  Listed listed = Listed::kAll;
  Packing packing = Packing::kNone;  ///< of every input
  unsigned threads = 1;
  std::uint64_t hash_seed = 0;
};

/// Room for nothing, for an event, for some, for all; the larger ones have patterns as well.
inline constexpr std::size_t kRooms[] = {kGraderMemoryBytes, 1, 400, 1'500, 6'000, 60'000, 600'000};

/// Whether a line, without its end, is an event of the contract.
bool is_event(const std::string& line);

/// Whether a file of the inputs is no evidence at all (REQ-IN-038).
bool is_refused(const std::vector<NaiveInput>& inputs);

/// The streaming grade, or why there is none.
Result<grading::Grade> graded(const std::vector<NaiveInput>& inputs,
                              const grading::Criteria& criteria, const Way& way = {});

/// The streaming grade. The inputs are given in their order.
grading::Grade streamed(const std::vector<NaiveInput>& inputs, const grading::Criteria& criteria,
                        const Way& way = {});

grading::Grade streamed(FileSystem& files, grading::Evidence evidence,
                        const grading::Criteria& criteria, const Way& way = {});

/// True if the two are the same, else a failed expectation with `told` and the difference.
bool same(const Judgement& naive, const Judgement& streaming, const std::string& told);

/// How much of a position is compared where one event stands at different places.
enum class Places : std::uint8_t { kByNumber, kNone };
/// Of an event with a number its writer and number, or nothing of any position.
Judgement without_files(const Judgement& judgement, Places places);

/// Why a grade that passes its gate should not, by what the trace holds and nothing else; empty if
/// it may (REQ-GR-091).
std::string unearned(const std::vector<NaiveInput>& inputs);

/// True if both graders agree, and a gate that passes has earned it; else a failed expectation with
/// the trace and the difference. Counts what was compared; each comparison has another of kRooms,
/// one thread or two, and another seed.
bool agree(const std::vector<NaiveInput>& inputs, const TwinCriteria& under);

/// After so many disagreements a test has told enough.
inline constexpr int kEnough = 5;

/// How many comparisons `agree` made since the last call.
std::size_t take_compared();

/// The codes that `agree` met, with how many findings.
const std::map<std::string_view, std::size_t>& codes_met();

/// How much is compared. A sanitizer makes each comparison some thirty times slower.
enum class Size : std::uint8_t { kSanitized, kDaily, kNightly };
/// Nightly where REMIT_NIGHTLY=1 asks for it.
Size size();
/// How many random runs are compared where there are `daily` by day.
std::uint64_t rounds(std::uint64_t daily);
/// Their seeds, from REMIT_TWIN_SEED on if it is set, so that each night may try others.
std::ranges::iota_view<std::uint64_t, std::uint64_t> seeds(std::uint64_t daily);

}  // namespace remit::twin
