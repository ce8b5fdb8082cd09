// Random runs: lines of several writers, healthy or not, and ways to deal them to files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "naive_grader.h"
#include "tests/support/seeded_random.h"

namespace remit::twin {

using testing::SeededRandom;

/// How the events of a run say who wrote them.
enum class Numbering { kAll, kNone, kSome };

/// A line before it gets its writer's name and number.
struct Planned {
  std::size_t writer = 0;
  std::string form;
  std::string id;
};

/// Events of any of the common forms in any order.
std::vector<Planned> plan_of_forms(SeededRandom& random, std::size_t count,
                                   std::size_t invocations);

/// What a boundary, an executor and a queue tell of calls: mostly true, whole and in order, with
/// facts, attempts, approvals and shadow decisions, of which some are left out or said otherwise.
std::vector<Planned> told_plan(SeededRandom& random, std::size_t invocations,
                               const std::string& manifest_text);

/// What a boundary (writer 0) and an executor (writer 1, or the same) write of calls that violate
/// nothing, interleaved.
std::vector<Planned> healthy_plan(SeededRandom& random, std::size_t invocations);

/// Numbers the lines of each writer from 1.
std::vector<std::string> numbered(const std::vector<Planned>& plan);

/// Names and numbers the lines, some of which get lost, are said twice, changed under their number
/// or cut.
std::vector<std::string> with_accidents(const std::vector<Planned>& plan, SeededRandom& random,
                                        Numbering numbering);

/// Deals the lines to files: each file keeps their order, and any line may go to any file.
std::vector<NaiveInput> dealt_to_files(const std::vector<std::string>& lines, SeededRandom& random);

}  // namespace remit::twin
