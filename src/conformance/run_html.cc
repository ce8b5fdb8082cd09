// A run as one page: the requirements, the table, and each trial that did not pass.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/formats.h"
#include "report/finding_words.h"
#include "report/html_writer.h"

namespace remit::conformance {
namespace {

using report::html_text;

// The marks of values that pages of grades have.
std::string_view mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kKnown:
      return "not_exercised";
    case Verdict::kFault:
    case Verdict::kUnproven:
      return "undetermined";
  }
  return "undetermined";
}

std::string cell(Verdict verdict) {
  return fmt::format("<span class=\"value {}\">{}</span>", mark_of(verdict), verdict_name(verdict));
}

void write_table(const Run& run, std::string& out) {
  out += "<table><thead><tr><th>case</th>";
  for (const std::string_view route : kRoutes) out += fmt::format("<th>{}</th>", route);
  out += "<th>proves</th><th>does not prove</th></tr></thead>\n<tbody>\n";
  for (const Case& one : run.cases) {
    std::string row;
    for (const std::string_view route : kRoutes) {
      const auto found =
          std::find_if(run.trials.begin(), run.trials.end(), [&](const TrialResult& trial) {
            return trial.case_id == one.id && trial.route == route;
          });
      row += fmt::format("<td>{}</td>", found == run.trials.end() ? "" : cell(found->verdict));
    }
    out += fmt::format("<tr><td>{}</td>{}<td>{}</td><td>{}</td></tr>\n", html_text(one.id), row,
                       html_text(one.proves), html_text(one.does_not_prove));
  }
  out += "</tbody></table>\n";
}

void write_trial(const TrialResult& trial, std::string& out) {
  out += fmt::format("<h3>{} on {}: {}</h3>\n<ul>\n", html_text(trial.case_id), trial.route,
                     cell(trial.verdict));
  if (!trial.fault.empty()) out += fmt::format("<li>{}</li>\n", html_text(trial.fault));
  for (const Mismatch& each : trial.mismatches) {
    out += fmt::format("<li>{}: {}", html_text(each.what), html_text(mismatch_words(each)));
    if (!each.findings.empty()) {
      out += "<ul>\n";
      for (const grading::Finding& finding : each.findings) {
        out += fmt::format("<li>{}</li>\n", html_text(finding_words(finding)));
      }
      out += "</ul>";
    }
    out += "</li>\n";
  }
  out += "</ul>\n";
}

}  // namespace

std::string run_html(const Run& run) {
  std::string out;
  report::open_page("Conformance of " + subject_words(run), false, out);
  out += fmt::format("<main><h1>Conformance of {}</h1>\n<p>pack v{} {}</p>\n",
                     html_text(subject_words(run)), html_text(run.pack_version),
                     html_text(run.pack_digest));
  out += fmt::format(
      "<p>{}: {} passed, {} failed, {} known, {} unproven, {}</p>\n",
      report::counted(run.trials.size(), "trial", "trials"), run.count(Verdict::kPassed),
      run.count(Verdict::kFailed), run.count(Verdict::kKnown), run.count(Verdict::kUnproven),
      report::counted(run.count(Verdict::kFault), "harness fault", "harness faults"));
  write_table(run, out);
  out += "<h2>What did not pass</h2>\n";
  for (const TrialResult& trial : run.trials) {
    if (trial.verdict != Verdict::kPassed) write_trial(trial, out);
  }
  for (const KnownFailure& known : run.stale) {
    out += fmt::format("<p>{} on {} is listed as known and passes.</p>\n", html_text(known.case_id),
                       known.route);
  }
  out += "<h2>Scope</h2>\n<ul>\n";
  for (const std::string& sentence : run.scope) {
    out += fmt::format("<li>{}</li>\n", html_text(sentence));
  }
  out += "</ul></main></body></html>\n";
  return out;
}

}  // namespace remit::conformance
