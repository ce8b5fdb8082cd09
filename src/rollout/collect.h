// Evidence in, what it shows of a rollout out: one pass, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/limits.h"
#include "base/result.h"
#include "grading/grading.h"
#include "rollout/criteria.h"
#include "rollout/tally.h"

namespace remit::rollout {

/// How evidence is read. Nothing of it changes what is seen but `examples`.
struct Reading {
  std::size_t examples = 3;     ///< ids that are kept of a kind; at most kMaxExamples
  std::uint64_t hash_seed = 0;  ///< from a Random, see grading::Criteria
  std::size_t memory_bytes = kGraderMemoryBytes;
  std::vector<std::string> scratch_directories = {"/var/tmp", "/tmp"};
  unsigned threads = 1;
};

/// Reads all evidence. Of `criteria` the policy and `refused_as` count. Errors: those of opening
/// and reading a file, `limit_exceeded` where there are too many files, and those of the scratch
/// file.
Result<Seen> collect(FileSystem& files, const grading::Evidence& evidence, const Criteria& criteria,
                     const Reading& reading);

}  // namespace remit::rollout
