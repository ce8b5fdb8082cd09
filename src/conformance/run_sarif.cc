// A run for code scanning: the place of a result is the subject's file.
#include <fmt/format.h>

#include "base/digest.h"
#include "conformance/formats.h"
#include "report/json_writer.h"

namespace remit::conformance {
namespace {

using report::JsonWriter;

void write_message(std::string_view name, std::string_view text, JsonWriter& out) {
  out.open_member(name, '{');
  out.member("text", text);
  out.close('}');
}

/// A path as a URI reference (RFC 3986), beside the checkout's root.
std::string uri_of(std::string_view path) {
  std::string out;
  while (path.starts_with("./")) path.remove_prefix(2);
  if (path.starts_with('/')) out = "file://";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~' ||
                          c == '/';
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void write_rule(const Case& one, JsonWriter& out) {
  out.item_on_line("   ");
  out.open('{');
  out.member("id", one.id);
  write_message("shortDescription", one.title, out);
  write_message("fullDescription",
                fmt::format("Proves {}. Does not prove {}.", one.proves, one.does_not_prove), out);
  out.close('}');
}

void write_location(const Run& run, JsonWriter& out) {
  out.open_member("locations", '[');
  out.item();
  out.open('{');
  out.open_member("physicalLocation", '{');
  out.open_member("artifactLocation", '{');
  out.member("uri", run.subject_file.empty() ? "subject" : uri_of(run.subject_file));
  out.close('}');
  out.open_member("region", '{');
  out.plain_member("startLine", 1);
  out.close('}');
  out.close('}');
  out.close('}');
  out.close(']');
}

void write_result(const Run& run, const TrialResult& trial, JsonWriter& out) {
  const bool is_open = trial.verdict == Verdict::kFault || trial.verdict == Verdict::kUnproven;
  std::string text = fmt::format("on the route {}: ", trial.route);
  if (trial.verdict == Verdict::kFault) text += "harness fault: " + trial.fault;
  if (trial.verdict == Verdict::kUnproven) {
    text += "as expected, but the control of the route did not pass";
  }
  for (const Mismatch& each : trial.mismatches) {
    text += mismatch_words(each);
    for (const grading::Finding& finding : each.findings) text += "; " + finding_words(finding);
    text += ". ";
  }
  out.item_on_line("   ");
  out.open('{');
  out.member("ruleId", trial.case_id);
  out.member("kind", is_open ? "open" : "fail");
  out.member("level", is_open ? "none" : trial.verdict == Verdict::kKnown ? "note" : "error");
  write_message("message", text, out);
  write_location(run, out);
  out.open_member("partialFingerprints", '{');
  out.member(
      "remitConform/v1",
      digest_text(sha256(fmt::format("{}\n{}\n{}", run.pack_version, trial.case_id, trial.route))));
  out.close('}');
  out.close('}');
}

}  // namespace

std::string run_sarif(const Run& run) {
  std::string text;
  JsonWriter out(text);
  out.open('{');
  out.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  out.member("version", "2.1.0");
  out.open_member("runs", '[');
  out.item();
  out.open('{');
  out.open_member("tool", '{');
  out.open_member("driver", '{');
  out.member("name", "remit conform");
  out.member("version", run.pack_version);
  out.open_member("rules", '[');
  for (const Case& one : run.cases) write_rule(one, out);
  out.close(']');
  out.close('}');
  out.close('}');
  out.break_line();
  out.open_member("results", '[');
  for (const TrialResult& trial : run.trials) {
    if (trial.verdict != Verdict::kPassed) write_result(run, trial, out);
  }
  out.close(']');
  out.close('}');
  out.close(']');
  out.close('}');
  text += "\n";
  return text;
}

}  // namespace remit::conformance
