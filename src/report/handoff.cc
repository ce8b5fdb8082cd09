// A directory of documents and pages, one of each for each invocation.
#include "report/handoff.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "grading/code_guide.h"
#include "report/finding_words.h"
#include "report/html_writer.h"
#include "report/json_writer.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::InvocationGrade;
using grading::InvocationRecord;
using grading::RecordedEvent;
using grading::Value;
using grading::Verdict;

/// One invocation with its findings: the first contradicted fact and others of its owner before
/// what follows from them.
struct Bundle {
  const InvocationGrade* of = nullptr;
  std::vector<const Finding*> findings;
  std::string name;  ///< of its files, without the ending; no outside text
};

/// What is written, and how many more there are.
struct Bundles {
  std::vector<Bundle> all;
  std::size_t left_out = 0;
};

/// At most so many invocations (REQ-RP-057).
constexpr std::size_t kMaxBundles = 10'000;

bool has_failed(const InvocationGrade& one) {
  return std::any_of(std::begin(grading::kVerdicts), std::end(grading::kVerdicts),
                     [&](Verdict v) { return one.verdicts[v] == Value::kFailed; });
}

/// The invocations of which there is a bundle, in order: where there are too many, those that
/// failed go before those that are undetermined.
std::vector<const InvocationGrade*> chosen_of(const Grade& grade, std::size_t& left_out) {
  std::vector<const InvocationGrade*> wanted;
  for (const InvocationGrade& one : grade.invocations) {
    const bool is_wanted =
        std::any_of(std::begin(grading::kVerdicts), std::end(grading::kVerdicts), [&](Verdict v) {
          return one.verdicts[v] == Value::kFailed || one.verdicts[v] == Value::kUndetermined;
        });
    if (is_wanted && !one.findings.empty()) wanted.push_back(&one);
  }
  const auto failed = static_cast<std::size_t>(std::count_if(
      wanted.begin(), wanted.end(), [](const InvocationGrade* one) { return has_failed(*one); }));
  std::size_t room_of_failed = std::min(failed, kMaxBundles);
  std::size_t room_of_others = kMaxBundles - room_of_failed;
  std::vector<const InvocationGrade*> chosen;
  for (const InvocationGrade* one : wanted) {
    std::size_t& room = has_failed(*one) ? room_of_failed : room_of_others;
    if (room == 0) continue;
    --room;
    chosen.push_back(one);
  }
  left_out = wanted.size() - chosen.size();
  return chosen;
}

Bundles bundles_of(const Grade& grade) {
  Bundles out;
  for (const InvocationGrade* one : chosen_of(grade, out.left_out)) {
    Bundle& bundle = out.all.emplace_back();
    bundle.of = one;
    for (const bool is_consequence : {false, true}) {  // what came first stands first
      for (const std::size_t index : one->findings) {
        const Finding& finding = grade.findings[index];
        if (finding.consequence == is_consequence) bundle.findings.push_back(&finding);
      }
    }
    bundle.name = fmt::format("{:06}-{}", out.all.size(),
                              grading::code_info(bundle.findings.front()->code).name);
  }
  return out;
}

/// The fact of the last event of a kind that records it, or of any event where `kind` is none.
const std::string* fact_of(const InvocationRecord& record, std::optional<event::EventKind> kind,
                           std::string_view name) {
  for (auto event = record.events.rbegin(); event != record.events.rend(); ++event) {
    if (kind && event->kind != *kind) continue;
    for (const grading::RecordedFact& fact : event->facts) {
      if (fact.name == name) return &fact.text;
    }
  }
  return nullptr;
}

/// A part of a bundle: members with the event that each is taken from.
struct Part {
  std::string_view name;
  std::optional<event::EventKind> kind;
  std::vector<std::string_view> facts;
};

const std::vector<Part>& parts() {
  using event::EventKind;
  static const std::vector<Part> kParts = {
      {"request", EventKind::kToolRequest, {"tool", "route", "requested_ref", "principal_state"}},
      {"principal",
       EventKind::kAuthorizationDecision,
       {"principal_class", "principal_ref", "principal_tenant", "principal_revision",
        "principal_state"}},
      {"resource",
       EventKind::kAuthorizationDecision,
       {"resource_type", "resource_id", "resource_tenant", "further_resources", "resolution_source",
        "resolution_revision"}},
      {"resolution",
       EventKind::kResourceResolved,
       {"resource_type", "resource_id", "resource_tenant", "resolution_source",
        "resolution_revision", "outcome"}},
      {"approval", std::nullopt, {"approval_id", "approval_state"}},
      {"decision",
       EventKind::kAuthorizationDecision,
       {"decision", "reason", "policy_version", "policy_digest", "decision_id", "mode"}},
  };
  return kParts;
}

void write_finding(const Grade& grade, const Finding& finding, JsonWriter& out) {
  out.open('{');
  out.member("code", grading::code_info(finding.code).name);
  out.member("verdict", grading::verdict_name(finding.verdict));
  out.member("value", grading::value_name(finding.value));
  out.member("owner", grading::owner_name(finding.owner));
  out.key("expected");
  out.text_or_null(finding.expected);
  out.key("recorded");
  out.text_or_null(finding.recorded);
  out.member("message", finding.message);
  out.member("cause", grading::code_guide(finding.code).cause);
  out.member("remedy", grading::code_guide(finding.code).remedy);
  out.open_member("places", '[');
  for (const grading::Position& at : finding.events) {
    out.item();
    out.text(place_words(grade, at));
  }
  out.close(']');
  out.close('}');
}

void write_event(const Grade& grade, const RecordedEvent& event, JsonWriter& out) {
  out.open('{');
  out.member("event", event::event_kind_name(event.kind));
  out.member("file", grade.files[event.position.file]);
  out.plain_member("line", event.position.line);
  out.plain_member("byte", event.position.offset);
  if (event.position.by_sequence) {
    out.member("writer", event.position.source);
    out.plain_member("seq", event.position.at);
  }
  out.open_member("fields", '{');
  for (const grading::RecordedFact& fact : event.facts) out.member(fact.name, fact.text);
  out.close('}');
  out.close('}');
}

void write_manifest(const Grade& grade, JsonWriter& out) {
  out.open_member("manifest", '{');
  out.key("digest");
  out.text_or_null(grade.manifest_digest);
  out.key("environment");
  out.text_or_null(grade.environment);
  out.key("fixture_revision");
  out.text_or_null(grade.fixture_revision);
  out.close('}');
}

void write_record(const Grade& grade, const InvocationRecord& record, JsonWriter& out) {
  for (const Part& part : parts()) {
    out.break_line();
    out.open_member(part.name, '{');
    for (const std::string_view name : part.facts) {
      out.key(name);
      const std::string* text = fact_of(record, part.kind, name);
      out.text_or_null(text == nullptr ? std::nullopt : std::optional(*text));
    }
    out.close('}');
  }
  out.break_line();
  out.open_member("counts", '{');
  out.plain_member("requests", record.requests);
  out.plain_member("decisions", record.decisions);
  out.plain_member("starts", record.starts);
  out.plain_member("finishes", record.finishes);
  out.plain_member("effects_observed", record.is_observed);
  out.plain_member("effects", record.effects);
  out.close('}');
  out.break_line();
  out.open_member("events", '[');
  for (const RecordedEvent& event : record.events) {
    out.item_on_line("  ");
    write_event(grade, event, out);
  }
  out.close(']');
  out.plain_member("events_left_out", record.event_count - record.events.size());
}

std::string document_of(const Grade& grade, const Bundle& bundle) {
  std::string text;
  JsonWriter out(text);
  out.open('{');
  out.member("schema", "remit.handoff/1");
  out.member("invocation_id", bundle.of->invocation_id);
  out.key("case_id");
  out.text_or_null(bundle.of->case_id);
  out.member("owner", grading::owner_name(bundle.findings.front()->owner));
  out.break_line();
  out.open_member("verdicts", '{');
  for (const Verdict verdict : grading::kVerdicts) {
    out.member(grading::verdict_name(verdict), grading::value_name(bundle.of->verdicts[verdict]));
  }
  out.close('}');
  out.break_line();
  write_manifest(grade, out);
  for (const bool is_consequence : {false, true}) {
    out.break_line();
    out.open_member(is_consequence ? "consequences" : "first_contradicted", '[');
    for (const Finding* finding : bundle.findings) {
      if (finding->consequence != is_consequence) continue;
      out.item_on_line("  ");
      write_finding(grade, *finding, out);
    }
    out.close(']');
  }
  if (bundle.of->record) write_record(grade, *bundle.of->record, out);
  out.close('}');
  text += '\n';
  return text;
}

void write_finding_html(const Grade& grade, const Finding& finding, std::string& out) {
  const auto fact = [](const std::optional<std::string>& text) {
    return text ? html_text(*text) : "nothing";
  };
  const grading::CodeGuide& guide = grading::code_guide(finding.code);
  out += fmt::format("<div class=\"{}\"><p>{} <code>{}</code></p><p>{}</p>\n",
                     finding.consequence ? "consequence" : "first", html_value(finding.value),
                     grading::code_info(finding.code).name, html_words(sentence(finding.message)));
  if (finding.expected || finding.recorded) {
    out += fmt::format(
        "<dl class=\"facts\"><div><dt>expected</dt><dd>{}</dd></div><div><dt>recorded</dt>"
        "<dd>{}</dd></div></dl>\n",
        fact(finding.expected), fact(finding.recorded));
  }
  out += fmt::format("<p class=\"quiet\">verdict {}, owner {}</p>\n",
                     grading::verdict_name(finding.verdict), grading::owner_name(finding.owner));
  constexpr std::size_t kMaxPlaces = 8;
  for (std::size_t i = 0; i < std::min(finding.events.size(), kMaxPlaces); ++i) {
    out += fmt::format("<p class=\"quiet\">at {}</p>\n",
                       html_words(place_words(grade, finding.events[i])));
  }
  out += fmt::format("<p>Usual cause: {}</p><p>What to do: {}</p></div>\n",
                     html_words(sentence(guide.cause)), html_words(sentence(guide.remedy)));
}

void write_record_html(const Grade& grade, const InvocationRecord& record, std::string& out) {
  out += "<h2>What is recorded</h2>\n<table><tbody>\n";
  const auto row = [&](std::string_view name, std::string_view text) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name, html_text(text));
  };
  for (const Part& part : parts()) {
    for (const std::string_view name : part.facts) {
      const std::string* text = fact_of(record, part.kind, name);
      if (text != nullptr) row(fmt::format("{}: {}", part.name, name), *text);
    }
  }
  row("starts, finishes", fmt::format("{}, {}", record.starts, record.finishes));
  row("effects", record.is_observed ? std::to_string(record.effects) : "nothing observed them");
  out += "</tbody></table>\n<h2>Timeline</h2>\n<ol class=\"timeline\">\n";
  for (const RecordedEvent& event : record.events) {
    out += fmt::format("<li><strong>{}</strong><dl class=\"facts\">",
                       event::event_kind_name(event.kind));
    for (const grading::RecordedFact& fact : event.facts) {
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", fact.name, html_text(fact.text));
    }
    out += fmt::format("</dl><p class=\"quiet\">{}</p></li>\n",
                       html_words(place_words(grade, event.position)));
  }
  out += "</ol>\n";
  if (record.event_count > record.events.size()) {
    out += fmt::format("<p>and {} more events</p>\n", record.event_count - record.events.size());
  }
}

void close_page(std::string_view version, std::string& out) {
  out += fmt::format("<footer><p class=\"quiet\">remit {}</p></footer>\n</body>\n</html>\n",
                     html_words(version));
}

std::string page_of(const Grade& grade, const Bundle& bundle, std::string_view version) {
  std::string out;
  const std::string id = html_text(bundle.of->invocation_id, 200);
  open_page(fmt::format("{} of {}", grading::code_info(bundle.findings.front()->code).name,
                        bundle.of->invocation_id),
            false, out);
  out += fmt::format("<p><a href=\"index.html\">All invocations</a></p>\n<h1>Invocation {}</h1>\n",
                     id);
  out += fmt::format("<p>For <strong>{}</strong>, the owner of the first contradicted fact.</p>\n",
                     grading::owner_name(bundle.findings.front()->owner));
  out += "<p>";
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format("{} {} ", grading::verdict_name(verdict),
                       html_value(bundle.of->verdicts[verdict]));
  }
  out += "</p>\n";
  const std::pair<std::string_view, const std::optional<std::string>*> facts[] = {
      {"case", &bundle.of->case_id},
      {"manifest", &grade.manifest_digest},
      {"environment", &grade.environment},
      {"fixture revision", &grade.fixture_revision}};
  for (const auto& [name, text] : facts) {
    if (*text) out += fmt::format("<p class=\"quiet\">{}: {}</p>\n", name, html_text(**text));
  }
  out += "<h2>First contradicted fact</h2>\n";
  bool is_below = false;
  for (const Finding* finding : bundle.findings) {
    if (finding->consequence && !is_below) out += "<h2>Consequences</h2>\n";
    is_below |= finding->consequence;
    write_finding_html(grade, *finding, out);
  }
  if (bundle.of->record) write_record_html(grade, *bundle.of->record, out);
  close_page(version, out);
  return out;
}

/// Findings that no bundle tells, since they belong to no recorded invocation.
std::vector<const Finding*> others_of(const Grade& grade) {
  std::vector<bool> is_told(grade.findings.size());
  for (const InvocationGrade& one : grade.invocations) {
    for (const std::size_t index : one.findings) is_told[index] = true;
  }
  std::vector<const Finding*> out;
  for (std::size_t i = 0; i < grade.findings.size(); ++i) {
    if (!is_told[i]) out.push_back(&grade.findings[i]);
  }
  return out;
}

std::string index_document(const Grade& grade, const Bundles& bundles) {
  std::string text;
  JsonWriter out(text);
  out.open('{');
  out.member("schema", "remit.handoff-index/1");
  out.member("gate", grading::gate_name(grade.gate));
  out.break_line();
  write_manifest(grade, out);
  out.break_line();
  out.open_member("bundles", '[');
  for (const Bundle& one : bundles.all) {
    out.item_on_line("  ");
    out.open('{');
    out.member("invocation_id", one.of->invocation_id);
    out.member("owner", grading::owner_name(one.findings.front()->owner));
    out.member("code", grading::code_info(one.findings.front()->code).name);
    out.member("document", one.name + ".json");
    out.member("page", one.name + ".html");
    out.close('}');
  }
  out.close(']');
  out.break_line();
  out.plain_member("bundles_left_out", bundles.left_out);
  out.break_line();
  out.open_member("other_findings", '[');
  for (const Finding* finding : others_of(grade)) {
    out.item_on_line("  ");
    write_finding(grade, *finding, out);
  }
  out.close(']');
  out.close('}');
  text += '\n';
  return text;
}

std::string index_page(const Grade& grade, const Bundles& bundles, std::string_view version) {
  std::string out;
  open_page("Handoff", false, out);
  out += fmt::format(
      "<h1>Handoff: {}</h1>\n<table><thead><tr><th scope=\"col\">owner</th>"
      "<th scope=\"col\">first contradicted fact</th><th scope=\"col\">invocation"
      "</th></tr></thead>\n<tbody>\n",
      counted(bundles.all.size(), "invocation", "invocations"));
  for (const Bundle& one : bundles.all) {
    out += fmt::format(
        "<tr><td>{}</td><td>{} <code>{}</code></td><td><a href=\"{}.html\">{}</a>"
        "</td></tr>\n",
        grading::owner_name(one.findings.front()->owner), html_value(one.findings.front()->value),
        grading::code_info(one.findings.front()->code).name, one.name,
        html_text(one.of->invocation_id, 200));
  }
  out += "</tbody></table>\n";
  if (bundles.left_out > 0) {
    out += fmt::format("<p>and {}, left out</p>\n",
                       counted(bundles.left_out, "more invocation", "more invocations"));
  }
  const std::vector<const Finding*> others = others_of(grade);
  if (!others.empty()) out += "<h2>Findings of no recorded invocation</h2>\n";
  for (const Finding* finding : others) write_finding_html(grade, *finding, out);
  out += "<h2>Scope</h2>\n<ul>\n";
  for (const std::string& one : grade.scope) {
    out += fmt::format("<li>{}</li>\n", html_words(sentence(one)));
  }
  out += "</ul>\n";
  close_page(version, out);
  return out;
}

/// A directory filled beside its place. It makes every name in it and removes those alone.
class DirectoryBeside {
 public:
  DirectoryBeside(FileSystem& files, Random& random, const std::string& place)
      : files_(files), path_(name_beside(place, random)) {}
  ~DirectoryBeside() {
    if (!is_ours_) return;
    for (const std::string& file : made_) (void)files_.remove(file);
    (void)files_.remove(path_);
  }
  DirectoryBeside(const DirectoryBeside&) = delete;
  DirectoryBeside& operator=(const DirectoryBeside&) = delete;

  Status make() {
    // Nobody guesses the name; whoever did must not get anything of theirs into its place.
    if (files_.info(path_)) return taken();
    REMIT_TRY(files_.make_directory(path_));
    is_ours_ = true;  // if not, it holds something and is not removed
    REMIT_TRY_ASSIGN(const FileInfo info, files_.info(path_));
    REMIT_TRY_ASSIGN(const std::vector<std::string> names, files_.list(path_));
    const bool is_new = info.kind == FileInfo::Kind::kDirectory && info.owned_by_us &&
                        !info.writable_by_others && names.empty();
    return is_new ? Status{} : taken();
  }

  Status write(const std::string& name, std::string_view text) {
    std::string path = path_ + "/" + name;
    REMIT_TRY_ASSIGN(const std::unique_ptr<AppendFile> file,
                     files_.open_append(path, OpenMode::kMustCreate));
    made_.push_back(std::move(path));
    return file->append(std::as_bytes(std::span{text.data(), text.size()}));
  }

  /// Makes everything durable at once: a sync of each file would take most of the time.
  Status put_in_place(const std::string& place) {
    REMIT_TRY(files_.sync_file_system(path_));
    REMIT_TRY(files_.rename(path_, place));
    is_ours_ = false;
    return {};
  }

 private:
  [[nodiscard]] Status taken() const {
    return Error{ErrorCode::kAlreadyExists, "is there already, and is not ours", path_};
  }

  FileSystem& files_;
  std::string path_;
  bool is_ours_ = false;  // made, and not yet in place
  std::vector<std::string> made_;
};

Status fill(DirectoryBeside& out, const Grade& grade, std::string_view version) {
  REMIT_TRY(out.make());
  const Bundles bundles = bundles_of(grade);
  for (const Bundle& one : bundles.all) {
    REMIT_TRY(out.write(one.name + ".json", document_of(grade, one)));
    REMIT_TRY(out.write(one.name + ".html", page_of(grade, one, version)));
  }
  REMIT_TRY(out.write("index.json", index_document(grade, bundles)));
  return out.write("index.html", index_page(grade, bundles, version));
}

}  // namespace

Status write_handoff(FileSystem& files, Random& random, const std::string& directory,
                     const Grade& grade, std::string_view version) {
  const Result<FileInfo> found = files.info(directory);
  if (found && found->kind != FileInfo::Kind::kDirectory) {
    return Error{ErrorCode::kAlreadyExists, "is there and is not a directory", directory};
  }
  if (found) {
    REMIT_TRY_ASSIGN(const std::vector<std::string> names, files.list(directory));
    if (!names.empty()) {
      return Error{ErrorCode::kAlreadyExists, "is not empty; name a new directory", directory};
    }
  }
  std::string place = directory;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  DirectoryBeside beside(files, random, place);
  Status placed = fill(beside, grade, version);
  if (placed) placed = beside.put_in_place(place);
  // The name beside tells people nothing.
  if (!placed) return Error{placed.error().code, placed.error().message, directory};
  return files.sync_directory(directory_of(place));
}

}  // namespace remit::report
