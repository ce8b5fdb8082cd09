// Whether a test may take long.
#pragma once

#include <cstdlib>
#include <string_view>

namespace remit::testing {

/// REMIT_NIGHTLY=1 asks for the long form of a test.
inline bool is_nightly() {
  const char* const asked = std::getenv("REMIT_NIGHTLY");
  return asked != nullptr && std::string_view{asked} == "1";
}

}  // namespace remit::testing
