// A run as tests of a continuous integration server.
#include <fmt/format.h>

#include "base/utf8.h"
#include "conformance/formats.h"

namespace remit::conformance {
namespace {

// Outside text is quoted by whoever made a message, so that only marks of XML are left; what XML
// has no way to write is written out all the same, since faults show what a driver wrote.
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(one.size());
    const auto byte = static_cast<unsigned char>(one[0]);
    const bool is_written = length > 1
                                ? one != "\xef\xbf\xbe" && one != "\xef\xbf\xbf"
                                : length == 1 && (byte >= 0x20 || byte == '\n') && byte != 0x7f;
    if (!is_written) {
      for (const char each : one) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
    } else if (one == "&") {
      out += "&amp;";
    } else if (one == "<") {
      out += "&lt;";
    } else if (one == ">") {
      out += "&gt;";
    } else if (one == "\"") {
      out += "&quot;";
    } else {
      out += one;
    }
  }
  return out;
}

std::string lines_of(const TrialResult& trial) {
  std::string out;
  for (const Mismatch& each : trial.mismatches) {
    out += fmt::format("{}: {}\n", each.what, mismatch_words(each));
    for (const grading::Finding& finding : each.findings) {
      out += fmt::format("  {}\n", finding_words(finding));
    }
  }
  return out;
}

void write_trial(const Run& run, const TrialResult& trial, std::string& out) {
  const Case& one = run.case_of(trial);
  out += fmt::format("    <testcase classname=\"conformance.v{}\" name=\"{} on {}\">",
                     escaped(run.pack_version), escaped(trial.case_id), trial.route);
  const std::string proves = "proves " + one.proves;
  switch (trial.verdict) {
    case Verdict::kPassed:
      break;
    case Verdict::kFailed:
      out += fmt::format("<failure message=\"{}\">{}</failure>", escaped(proves),
                         escaped(lines_of(trial)));
      break;
    case Verdict::kKnown:
      out += fmt::format("<system-out>a known failure:\n{}</system-out>", escaped(lines_of(trial)));
      break;
    case Verdict::kUnproven:
      out += "<error message=\"unproven: the control of the route did not pass\"/>";
      break;
    case Verdict::kFault:
      out += fmt::format("<error message=\"harness fault\">{}</error>", escaped(trial.fault));
      break;
  }
  out += "</testcase>\n";
}

}  // namespace

std::string run_junit(const Run& run) {
  const std::string counts = fmt::format(
      "name=\"remit conform\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
      run.trials.size() + run.stale.size(), run.count(Verdict::kFailed) + run.stale.size(),
      run.count(Verdict::kFault) + run.count(Verdict::kUnproven));
  std::string out =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite {}>\n",
                  counts, counts);
  out += fmt::format(
      "    <properties><property name=\"subject\" value=\"{}\"/><property name=\"pack\" "
      "value=\"{}\"/></properties>\n",
      escaped(subject_words(run)), escaped(run.pack_digest));
  for (const TrialResult& trial : run.trials) write_trial(run, trial, out);
  for (const KnownFailure& known : run.stale) {
    out += fmt::format(
        "    <testcase classname=\"conformance.known_failures\" name=\"{} on {}\"><failure "
        "message=\"passes: take it off the list\"/></testcase>\n",
        escaped(known.case_id), known.route);
  }
  out += "    <system-out>";
  for (const std::string& sentence : run.scope) out += escaped(sentence) + "\n";
  out += "</system-out>\n  </testsuite>\n</testsuites>\n";
  return out;
}

}  // namespace remit::conformance
