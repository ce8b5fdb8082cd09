// Failures that people know of: `remit.known-failures/1`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "conformance/pack.h"

namespace remit::conformance {

/// One case on one route that is known to fail.
struct KnownFailure {
  std::string case_id, route;
  std::string owner, reason;
  std::uint32_t line = 0;  ///< in the file
};

struct KnownFailures {
  std::string file;
  std::vector<KnownFailure> entries;
};

/// Known failures, or everything that is wrong with their file, each with `FILE:LINE:COLUMN`.
struct KnownFailuresParse {
  std::optional<KnownFailures> known;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Reads the file. Errors: those of `yaml::parse`, and `invalid_input` for an unknown key, a case
/// or route that `pack` does not have, a pair given twice, a missing owner or reason.
KnownFailuresParse parse_known_failures(std::string_view text, const std::string& file,
                                        const Pack& pack);

}  // namespace remit::conformance
