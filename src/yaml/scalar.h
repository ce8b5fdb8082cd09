// Text as a YAML value, for files that Remit writes and people go on with.
#pragma once

#include <string>
#include <string_view>

namespace remit::yaml {

/// `text` as it is where YAML, version 1.1 or 1.2, reads that as the same text; else in double
/// quotes with escapes. One line in any case, and printable. What is not UTF-8 becomes U+FFFD.
std::string scalar(std::string_view text);

}  // namespace remit::yaml
