// The forms in which a run of the pack can be written, as one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/run.h"

namespace remit::conformance {

/// One form. Each is a text of a known small size: some trials and their mismatches.
struct Format {
  std::string_view name;  ///< on the command line
  std::string_view what;  ///< a few words for help texts
  std::string (*write)(const Run& run);
};

/// In the order in which help lists them; `text` is the first.
std::span<const Format> formats();
/// Null for a name that no form has.
const Format* find_format(std::string_view name);

/// What the subject says it is, name and version, quoted and cut.
std::string subject_words(const Run& run);
/// For people: the routes as columns, what failed, what was not exercised.
std::string run_text(const Run& run);
/// `remit.conform/1`, one JSON document.
std::string run_json(const Run& run);
/// JUnit XML: a test for each trial; what shows nothing is an error, never skipped.
std::string run_junit(const Run& run);
/// SARIF 2.1.0: a rule for each case, a result for each trial that did not pass.
std::string run_sarif(const Run& run);
/// One page without scripts or anything outside of it.
std::string run_html(const Run& run);

}  // namespace remit::conformance
