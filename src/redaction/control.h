// The positive control: canaries planted in lines made for it, all of which the scanner must find.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "redaction/scanner.h"

namespace remit::redaction {

/// One way in which a value is planted: its name in kEncodingNames, and the members of a line.
struct Planted {
  std::string_view encoding;
  std::string members;  ///< JSON, without the braces
};

/// The value in every encoding that is looked for, most of them in several spellings, written by
/// other code than that which looks for them. `half` only where `with_halves`.
std::vector<Planted> plant(std::string_view value, bool with_halves);

/// Plants each canary in each encoding and searches with `scanner` (REQ-RD-040). Errors:
/// `internal`, naming the canary and the encoding, where one is not found, and where a line without
/// any is said to hold one.
Status run_control(const Scanner& scanner, const std::vector<Canary>& canaries);

}  // namespace remit::redaction
