// What pages have in common: their head with its security policy, escaped text, marked values.
#pragma once

#include <string>
#include <string_view>

#include "grading/grade.h"

namespace remit::report {

/// Text as it is shown, whatever it holds: control characters and marks of direction written out,
/// cut to `limit` bytes, and marks of HTML as references.
std::string html_text(std::string_view text, std::size_t limit = 4096);
/// Words of ours, in which outside text is quoted already: marks of HTML as references.
std::string html_words(std::string_view words);
/// Outside text without the references, for data that a script writes as text.
std::string shown_text(std::string_view text, std::size_t limit = 4096);

/// A value with its mark: `<span class="value failed">failed</span>`.
std::string html_value(grading::Value value);

/// From the doctype to `<body>`. The policy of the page admits its own style sheet and, if
/// `has_script`, its own script, by their digests, and nothing else: no request leaves the page.
void open_page(std::string_view title, bool has_script, std::string& out);

}  // namespace remit::report
