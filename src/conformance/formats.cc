// The table of forms.
#include "conformance/formats.h"

#include <algorithm>
#include <array>

namespace remit::conformance {
namespace {

constexpr std::array<Format, 5> kFormats = {{
    {"text", "for people", run_text},
    {"json", "remit.conform/1", run_json},
    {"junit", "JUnit XML, for continuous integration", run_junit},
    {"sarif", "SARIF 2.1.0, for code scanning", run_sarif},
    {"html", "one page", run_html},
}};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto* found = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& each) { return each.name == name; });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace remit::conformance
