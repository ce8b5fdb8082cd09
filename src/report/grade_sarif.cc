// Rules from the table of codes, results from findings, notifications from verdicts.
#include "report/grade_sarif.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "grading/code_guide.h"
#include "report/finding_words.h"
#include "report/json_writer.h"

namespace remit::report {
namespace {

using grading::CodeInfo;
using grading::Finding;
using grading::Grade;
using grading::Position;
using grading::Value;
using grading::Verdict;

constexpr std::size_t kMaxRelatedLocations = 100;

/// A path as a URI reference (RFC 3986): whatever is not unreserved is escaped, `:` as well, so
/// that no name is taken for a scheme.
std::string uri_of(std::string_view path) {
  std::string out;
  if (path.starts_with('/')) out = "file://";
  while (path.starts_with("./")) path.remove_prefix(2);
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~' ||
                          c == '/';
    if (is_plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

/// Viewers make links of `[text](target)` in messages; outside text must not.
std::string message_text(std::string text) {
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 3)) {
    text.insert(at + 1, " ");
  }
  return text;
}

void write_message(std::string_view name, std::string text, JsonWriter& out) {
  out.open_member(name, '{');
  out.member("text", message_text(std::move(text)));
  out.close('}');
}

void write_rule(const CodeInfo& info, JsonWriter& out) {
  const grading::CodeGuide& guide = grading::code_guide(info.code);
  out.item_on_line("   ");
  out.open('{');
  out.member("id", info.name);
  write_message("shortDescription", sentence(info.meaning), out);
  write_message("fullDescription",
                sentence(info.meaning) + " Usual cause: " + std::string(guide.cause) + ".", out);
  const std::string help = fmt::format("Usual cause: {}.\n\nOwner: {}.\n\nWhat to do: {}.",
                                       guide.cause, grading::owner_name(info.owner), guide.remedy);
  out.open_member("help", '{');
  out.member("text", help);
  out.member("markdown", help);
  out.close('}');
  out.open_member("defaultConfiguration", '{');
  out.member("level", info.soft ? "warning" : "error");
  out.close('}');
  out.open_member("properties", '{');
  out.member("verdict", grading::verdict_name(info.verdict));
  out.member("owner", grading::owner_name(info.owner));
  out.open_member("tags", '[');
  for (const std::string_view tag :
       {grading::verdict_name(info.verdict), grading::owner_name(info.owner)}) {
    out.item();
    out.text(tag);
  }
  out.close(']');
  out.close('}');
  out.close('}');
}

void write_notification_kinds(JsonWriter& out) {
  out.open_member("notifications", '[');
  for (const auto& [value, meaning] :
       {std::pair{Value::kUndetermined, "The evidence cannot support an answer."},
        std::pair{Value::kNotExercised, "There was nothing to judge."}}) {
    out.item_on_line("   ");
    out.open('{');
    out.member("id", grading::value_name(value));
    write_message("shortDescription", meaning, out);
    out.close('}');
  }
  out.close(']');
}

/// The codes that the grade has findings of, in the order of their table, and their indices.
struct Rules {
  std::vector<const CodeInfo*> codes;
  std::array<std::size_t, grading::kCodeCount> indices{};

  explicit Rules(const Grade& grade) {
    std::array<bool, grading::kCodeCount> is_used{};
    for (const Finding& finding : grade.findings) {
      is_used[static_cast<std::size_t>(finding.code)] = true;
    }
    for (const CodeInfo& info : grading::code_table()) {
      if (!is_used[static_cast<std::size_t>(info.code)]) continue;
      indices[static_cast<std::size_t>(info.code)] = codes.size();
      codes.push_back(&info);
    }
  }
};

void write_tool(const Rules& rules, std::string_view version, JsonWriter& out) {
  out.open_member("tool", '{');
  out.open_member("driver", '{');
  out.member("name", "remit");
  out.member("version", version);
  out.member("semanticVersion", version);
  out.open_member("rules", '[');
  for (const CodeInfo* info : rules.codes) write_rule(*info, out);
  out.close(']');
  write_notification_kinds(out);
  out.close('}');
  out.close('}');
}

// How the run of the tool ended. What could not be said is told here, since a viewer that shows
// problems alone would show nothing of it.
void write_invocation(const Grade& grade, JsonWriter& out) {
  out.open_member("invocations", '[');
  out.open('{');
  out.plain_member("executionSuccessful", true);
  out.plain_member("exitCode", grade.exit_code);
  out.member("exitCodeDescription", fmt::format("gate {}{}", grading::gate_name(grade.gate),
                                                grade.advisory ? ", advisory" : ""));
  out.open_member("toolExecutionNotifications", '[');
  for (const Verdict verdict : grading::kVerdicts) {
    const grading::VerdictResult& result = grade.verdicts[verdict];
    const bool is_undetermined = result.value == Value::kUndetermined;
    if (!is_undetermined && result.value != Value::kNotExercised) continue;
    out.item_on_line("   ");
    out.open('{');
    out.open_member("descriptor", '{');
    out.member("id", grading::value_name(result.value));
    out.plain_member("index", is_undetermined ? 0 : 1);
    out.close('}');
    out.member("level", grade.blocking[verdict] ? "error" : "warning");
    write_message("message",
                  fmt::format("{} is {} over {}", grading::verdict_name(verdict),
                              grading::value_name(result.value),
                              counted(result.population, "invocation", "invocations")),
                  out);
    out.close('}');
  }
  out.close(']');
  out.close('}');
  out.close(']');
}

void write_physical_location(const Grade& grade, const Position& at, JsonWriter& out) {
  out.open_member("physicalLocation", '{');
  out.open_member("artifactLocation", '{');
  out.member("uri", uri_of(grade.files[at.file]));
  out.plain_member("index", at.file);
  out.close('}');
  out.open_member("region", '{');
  out.plain_member("startLine", at.line);
  out.plain_member("byteOffset", at.offset);
  out.plain_member("byteLength", at.bytes);
  out.close('}');
  out.close('}');
}

void write_logical_location(const Finding& finding, JsonWriter& out) {
  if (!finding.invocation_id && !finding.case_id) return;
  out.open_member("logicalLocations", '[');
  out.open('{');
  const bool is_invocation = finding.invocation_id.has_value();
  out.member("name", is_invocation ? *finding.invocation_id : *finding.case_id);
  if (is_invocation && finding.case_id) {
    out.member("fullyQualifiedName", *finding.case_id + "/" + *finding.invocation_id);
  }
  out.member("kind", is_invocation ? "invocation" : "case");
  out.close('}');
  out.close(']');
}

// What is absent stands nowhere: the first line of the run stands for it (REQ-RP-022).
void write_locations(const Grade& grade, const Finding& finding, JsonWriter& out) {
  if (grade.files.empty()) return;
  Position beginning;
  beginning.line = 1;
  const Position* main = first_line(finding);
  const Position& at = main == nullptr ? beginning : *main;
  out.open_member("locations", '[');
  out.open('{');
  write_physical_location(grade, at, out);
  write_logical_location(finding, out);
  write_message("message",
                main == nullptr ? "the beginning of the run, for what is absent from it"
                                : place_words(grade, at),
                out);
  out.close('}');
  out.close(']');
  if (finding.events.size() < 2) return;
  out.open_member("relatedLocations", '[');
  std::size_t listed = 0;
  for (const Position& other : finding.events) {
    if (&other == main || other.line == 0) continue;
    if (listed == kMaxRelatedLocations) break;
    out.item();
    out.open('{');
    out.plain_member("id", ++listed);
    write_physical_location(grade, other, out);
    write_message("message", place_words(grade, other), out);
    out.close('}');
  }
  out.close(']');
}

/// Names findings the same way in every run of the same cases: the ids of invocations, which are
/// minted anew, count only outside cases. Equal findings are told apart by their number.
class Fingerprints {
 public:
  std::string next(const Finding& finding) {
    std::string facts;
    JsonWriter out(facts);
    out.open('[');
    const auto add = [&](const std::optional<std::string>& text) {
      out.item();
      out.text_or_null(text);
    };
    add(std::string(grading::code_info(finding.code).name));
    add(finding.case_id);
    if (!finding.case_id) add(finding.invocation_id);
    add(finding.expected);
    add(finding.recorded);
    out.close(']');
    const Sha256Digest digest = sha256(facts);
    std::uint64_t key = 0;
    std::memcpy(&key, digest.data(), sizeof key);
    constexpr std::size_t kScheme = std::string_view("sha256:").size();
    constexpr std::size_t kDigits = 32;
    return fmt::format("{}:{}", digest_text(digest).substr(kScheme, kDigits), ++seen_[key]);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;
};

std::string_view level_of(const Finding& finding, bool blocks) {
  if (finding.value != Value::kFailed) return "none";
  return blocks && !finding.consequence ? "error" : "warning";
}

void write_suppression(const grading::KnownFinding& known, JsonWriter& out) {
  out.open_member("suppressions", '[');
  out.open('{');
  out.member("kind", "external");
  out.member("status", "accepted");
  out.member("justification", fmt::format("{}; {} answers for it until {}", known.reason,
                                          known.owner, known.expires));
  out.close('}');
  out.close(']');
}

void write_result(const Grade& grade, const Finding& finding, bool blocks, const Rules& rules,
                  Fingerprints& fingerprints, JsonWriter& out) {
  out.open('{');
  out.member("ruleId", grading::code_info(finding.code).name);
  out.plain_member("ruleIndex", rules.indices[static_cast<std::size_t>(finding.code)]);
  out.member("kind", finding.value == Value::kFailed ? "fail" : "open");
  out.member("level", level_of(finding, blocks));
  write_message("message", sentence(finding_sentence(finding)), out);
  write_locations(grade, finding, out);
  out.open_member("partialFingerprints", '{');
  out.member("remitFinding/v1", fingerprints.next(finding));
  out.close('}');
  if (finding.known) write_suppression(grade.baseline->entries[*finding.known], out);
  out.open_member("properties", '{');
  out.member("verdict", grading::verdict_name(finding.verdict));
  out.member("value", grading::value_name(finding.value));
  out.member("owner", grading::owner_name(finding.owner));
  out.plain_member("consequence", finding.consequence);
  for (const auto& [name, text] :
       {std::pair{"invocation_id", &finding.invocation_id}, std::pair{"case_id", &finding.case_id},
        std::pair{"expected", &finding.expected}, std::pair{"recorded", &finding.recorded}}) {
    if (*text) out.member(name, **text);
  }
  out.close('}');
  out.close('}');
}

void write_summary(const Grade& grade, JsonWriter& out) {
  out.open_member("properties", '{');
  out.member("gate", grading::gate_name(grade.gate));
  out.open_member("verdicts", '{');
  for (const Verdict verdict : grading::kVerdicts) {
    out.open_member(grading::verdict_name(verdict), '{');
    out.member("value", grading::value_name(grade.verdicts[verdict].value));
    out.plain_member("population", grade.verdicts[verdict].population);
    out.close('}');
  }
  out.close('}');
  out.open_member("scope", '[');
  for (const std::string& one : grade.scope) {
    out.item();
    out.text(one);
  }
  out.close(']');
  out.close('}');
}

}  // namespace

void write_grade_sarif(const Grade& grade, std::string_view version, Outlet& outlet) {
  const Rules rules(grade);
  JsonWriter out(outlet.text());
  out.open('{');
  out.member("$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
             "sarif-schema-2.1.0.json");
  out.member("version", "2.1.0");
  out.open_member("runs", '[');
  out.open('{');
  out.break_line();
  write_tool(rules, version, out);
  out.break_line();
  write_invocation(grade, out);
  out.break_line();
  out.open_member("artifacts", '[');
  for (const std::string& file : grade.files) {
    out.item();
    out.open('{');
    out.open_member("location", '{');
    out.member("uri", uri_of(file));
    out.close('}');
    out.close('}');
  }
  out.close(']');
  out.break_line();
  out.open_member("results", '[');
  Fingerprints fingerprints;
  const std::vector<bool> blocking = blocking_findings(grade);
  for (std::size_t i = 0; i < grade.findings.size(); ++i) {
    out.item_on_line("  ");
    write_result(grade, grade.findings[i], blocking[i], rules, fingerprints, out);
    outlet.drain();
  }
  out.close(']');
  out.break_line();
  write_summary(grade, out);
  out.close('}');
  out.close(']');
  out.close('}');
  outlet.text() += '\n';
}

}  // namespace remit::report
