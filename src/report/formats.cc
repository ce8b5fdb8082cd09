// The table of forms.
#include "report/formats.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "report/grade_github.h"
#include "report/grade_html.h"
#include "report/grade_json.h"
#include "report/grade_junit.h"
#include "report/grade_sarif.h"

namespace remit::report {
namespace {

using grading::Grade;

constexpr std::array kFormats = {
    Format{"text", "for people at a terminal",
           [](const Grade& grade, const Style& style, Outlet& outlet) {
             write_grade_text(grade, style.colour, outlet);
           }},
    Format{
        "json", "everything, remit.grade/1",
        [](const Grade& grade, const Style&, Outlet& outlet) { write_grade_json(grade, outlet); }},
    Format{
        "junit", "for the test pages of Jenkins and GitLab",
        [](const Grade& grade, const Style&, Outlet& outlet) { write_grade_junit(grade, outlet); }},
    Format{"sarif", "for code scanning and editors, SARIF 2.1.0",
           [](const Grade& grade, const Style& style, Outlet& outlet) {
             write_grade_sarif(grade, style.version, outlet);
           }},
    Format{"html", "one page for a browser, with filters and timelines",
           [](const Grade& grade, const Style& style, Outlet& outlet) {
             write_grade_html(grade, style.version, outlet);
           }},
    Format{"github", "annotations of a GitHub workflow, totals first",
           [](const Grade& grade, const Style&, Outlet& outlet) {
             write_github_annotations(grade, outlet);
           }},
    Format{"github-summary", "Markdown for GITHUB_STEP_SUMMARY",
           [](const Grade& grade, const Style&, Outlet& outlet) {
             write_github_summary(grade, outlet);
           }},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const Format& one) { return one.name == name; });
  return found == kFormats.end() ? nullptr : &*found;
}

Status write_report(const Format& format, const Grade& grade, const Style& style, Sink& sink) {
  Outlet outlet(sink);
  format.write(grade, style, outlet);
  return outlet.finish();
}

std::string report_text(std::string_view name, const Grade& grade, const Style& style) {
  const Format* format = find_format(name);
  REMIT_CHECK(format != nullptr);
  StringSink sink;
  const Status written = write_report(*format, grade, style, sink);
  REMIT_CHECK(written.has_value());
  return std::move(sink.text);
}

}  // namespace remit::report
