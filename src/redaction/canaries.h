// Canary files: secrets planted on purpose, whose appearance in a record proves a leak.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace remit::redaction {

/// One planted secret. The name may be told to anyone; the value is written nowhere.
struct Canary {
  std::string name;
  std::string value;
  std::size_t line = 0;  ///< in its file, from 1
};

/// The canaries of a file, or everything that is wrong with it.
struct CanaryParse {
  std::vector<Canary> canaries;  ///< empty where there are errors
  std::vector<Error> errors;
};

/// Reads `name<TAB>value` lines (REQ-RD-001 to 003); `file` names the text in errors. An error has
/// the place as `file:line` and holds nothing of the text: who swaps name and value must not see
/// the value on a screen. Limits: kMaxCanaries, kMaxCanaryBytes, kMaxConfigBytes.
CanaryParse parse_canaries(std::string_view text, std::string_view file);

}  // namespace remit::redaction
