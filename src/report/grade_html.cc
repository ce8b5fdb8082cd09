// The page: what stands still as HTML, invocations as data for the script.
#include "report/grade_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/finding_words.h"
#include "report/html_writer.h"
#include "report/json_writer.h"
#include "report/page_text.h"
#include "report/reading_order.h"

namespace remit::report {
namespace {

using grading::Finding;
using grading::Grade;
using grading::Value;
using grading::Verdict;

constexpr std::size_t kMaxShownId = 200;

void write_header(const Grade& grade, std::string& out) {
  out += "<a class=\"skip\" href=\"#invocations\">To the findings</a>\n<header>\n";
  out += fmt::format("<h1>Grade: {}</h1>\n", html_value(value_of(grade.gate)));
  if (grade.advisory) {
    out += fmt::format(
        "<p><strong>Advisory:</strong> the exit code is 0; otherwise it would be "
        "{}.</p>\n",
        grading::exit_code_of(grade.gate));
  }
  const grading::Population& seen = grade.population;
  out += fmt::format(
      "<p class=\"quiet\">{}, {}: {} allowed, {} denied, {} started, {} finished. {}.</p>\n",
      counted(seen.events, "event", "events"),
      counted(seen.invocations, "invocation", "invocations"), seen.allowed, seen.denied,
      seen.started, seen.finished, counted(grade.findings.size(), "finding", "findings"));
  const std::pair<std::string_view, const std::optional<std::string>*> pins[] = {
      {"environment", &grade.environment},
      {"fixture revision", &grade.fixture_revision},
      {"manifest", &grade.manifest_digest}};
  for (const auto& [name, text] : pins) {
    if (*text) out += fmt::format("<p class=\"quiet\">{}: {}</p>\n", name, html_text(**text));
  }
  out += "</header>\n<main>\n";
}

void write_verdicts(const Grade& grade, std::string& out) {
  constexpr std::array<std::string_view, grading::kVerdictCount> kQuestions = {
      "Did the agent ask for what the case expects, and for nothing outside it?",
      "Was every request decided, rightly, on true facts, by the policy in force?",
      "Did exactly what was allowed run, as often as allowed, with a known outcome?",
      "Is the record good enough to answer the other three?"};
  out += "<section aria-labelledby=\"verdicts\">\n<h2 id=\"verdicts\">Verdicts</h2>\n";
  out += "<div class=\"cards\">\n";
  for (const Verdict verdict : grading::kVerdicts) {
    const grading::VerdictResult& result = grade.verdicts[verdict];
    out += fmt::format(
        "<div class=\"card\"><h3>{}</h3><p>{} over {}{}</p><p class=\"quiet\">{}</p></div>\n",
        grading::verdict_name(verdict), html_value(result.value),
        counted(result.population, "invocation", "invocations"),
        grade.blocking[verdict] ? "" : "; does not block",
        kQuestions[static_cast<std::size_t>(verdict)]);
  }
  out += "</div>\n</section>\n";
}

void write_matrix(const Grade& grade, Outlet& outlet) {
  std::string& out = outlet.text();
  out += "<section aria-labelledby=\"cases\">\n<h2 id=\"cases\">Cases</h2>\n";
  if (grade.cases.empty()) {
    out += "<p>There is no manifest with cases.</p>\n</section>\n";
    return;
  }
  out +=
      "<p class=\"hint quiet\">Arrow keys move between the verdicts; Enter lists what is behind "
      "one.</p>\n<div class=\"wide\"><table id=\"matrix\" role=\"grid\" "
      "aria-labelledby=\"cases\">\n"
      "<thead><tr role=\"row\"><th scope=\"col\">case</th>";
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format("<th scope=\"col\">{}</th>", grading::verdict_name(verdict));
  }
  out += "</tr></thead>\n<tbody>\n";
  const std::size_t listed = std::min(grade.cases.size(), kMaxPageCases);
  for (std::size_t i = 0; i < listed; ++i) {
    const grading::CaseGrade& one = grade.cases[i];
    const std::string id = html_text(one.case_id, kMaxShownId);
    out += fmt::format(
        "<tr role=\"row\" data-case=\"{}\"><th scope=\"row\">{} <span "
        "class=\"quiet\">{}</span></th>",
        id, id, one.is_security ? "security" : "task");
    for (const Verdict verdict : grading::kVerdicts) {
      const bool is_entry = i == 0 && verdict == Verdict::kPlanning;
      out += fmt::format("<td role=\"gridcell\" tabindex=\"{}\">{}</td>", is_entry ? 0 : -1,
                         html_value(one.verdicts[verdict].value));
    }
    out += "</tr>\n";
    outlet.drain();
  }
  out += "</tbody></table></div>\n";
  if (listed < grade.cases.size()) {
    out += fmt::format("<p>and {} more cases, all of which the JSON report lists</p>\n",
                       grade.cases.size() - listed);
  }
  out += "</section>\n";
}

void write_filters(std::string& out) {
  out +=
      "<section aria-labelledby=\"invocations\">\n"
      "<h2 id=\"invocations\" tabindex=\"-1\">Invocations and other findings</h2>\n"
      "<form id=\"filters\" class=\"filters\">\n";
  for (const std::string_view name : {"case", "verdict", "value", "owner", "code"}) {
    out += fmt::format(
        "<label>{}<select name=\"{}\"><option value=\"\">all</option></select></label>\n", name,
        name);
  }
  out +=
      "<label>text<input type=\"search\" name=\"text\"></label>\n"
      "<button type=\"reset\">Show all</button>\n</form>\n"
      "<p id=\"count\" role=\"status\"></p>\n<ul id=\"list\" class=\"list\"></ul>\n"
      "<button id=\"more\" class=\"more\" type=\"button\" hidden>Show more</button>\n"
      "<noscript><p>Invocations are listed by the script of this page. The text and JSON reports "
      "list them without one.</p></noscript>\n";
}

void write_optional(std::string_view name, const std::optional<std::string>& text, JsonWriter& out,
                    std::size_t limit = kMaxShownId) {
  if (text) out.member(name, shown_text(*text, limit));
}

void write_finding(const Grade& grade, const Finding& finding, JsonWriter& out) {
  constexpr std::size_t kMaxFact = 500;
  constexpr std::size_t kMaxPlaces = 8;
  out.item();
  out.open('{');
  out.member("code", grading::code_info(finding.code).name);
  out.member("verdict", grading::verdict_name(finding.verdict));
  out.member("value", grading::value_name(finding.value));
  out.member("owner", grading::owner_name(finding.owner));
  out.plain_member("consequence", finding.consequence);
  out.plain_member("known", finding.known.has_value());
  write_optional("expected", finding.expected, out, kMaxFact);
  write_optional("recorded", finding.recorded, out, kMaxFact);
  out.member("message", finding.message);
  out.open_member("places", '[');
  for (std::size_t i = 0; i < std::min(finding.events.size(), kMaxPlaces); ++i) {
    out.item();
    out.text(place_words(grade, finding.events[i]));
  }
  out.close(']');
  out.close('}');
}

void write_timeline(const Grade& grade, const grading::InvocationRecord& record, JsonWriter& out) {
  constexpr std::size_t kMaxFact = 200;
  const std::size_t listed = std::min(record.events.size(), kMaxPageEvents);
  out.open_member("timeline", '[');
  for (std::size_t i = 0; i < listed; ++i) {
    const grading::RecordedEvent& event = record.events[i];
    out.item();
    out.open('{');
    out.member("kind", event::event_kind_name(event.kind));
    out.member("place", place_words(grade, event.position));
    out.open_member("facts", '[');
    for (const grading::RecordedFact& fact : event.facts) {
      out.item();
      out.open('[');
      out.item();
      out.text(fact.name);
      out.item();
      out.text(shown_text(fact.text, kMaxFact));
      out.close(']');
    }
    out.close(']');
    out.close('}');
  }
  out.close(']');
  out.plain_member("left_out", record.event_count - listed);
}

/// Items of the list, whose JSON may hold nothing that ends the element around it.
class Items {
 public:
  Items(const Grade& grade, Outlet& outlet) : grade_(grade), outlet_(outlet) {}

  /// What is told first stands first (REQ-RP-007); of equals what belongs to no invocation, which
  /// may explain the rest.
  void write() {
    const ReadingOrder order = reading_order(grade_);
    std::vector<Entry> entries;
    std::vector<bool> is_told(grade_.findings.size());
    for (const grading::InvocationGrade& one : grade_.invocations) {
      bool is_of_form = !one.findings.empty();
      Entry entry{Rank::kOther, nullptr, &one, 0};
      for (const std::size_t index : one.findings) {
        is_told[index] = true;
        is_of_form = is_of_form && grade_.findings[index].is_of_form;
        entry.rank = std::min(entry.rank, order.ranks[index]);
      }
      if (!is_of_form) entries.push_back(entry);
    }
    std::vector<Entry> others;
    for (const std::size_t i : order.single) {
      if (!is_told[i]) others.push_back({order.ranks[i], &grade_.findings[i], nullptr, 0});
    }
    entries.insert(entries.begin(), others.begin(), others.end());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].place = i;
    std::ranges::sort(entries, {}, [](const Entry& one) { return std::pair(one.rank, one.place); });
    for (const Entry& one : entries) {
      one.finding != nullptr ? write_other(*one.finding) : write_invocation(*one.invocation);
    }
    write_together(told_together(grade_, order));
  }
  [[nodiscard]] std::size_t left_off() const { return total_ - listed_; }

 private:
  struct Entry {
    Rank rank = Rank::kOther;
    const Finding* finding = nullptr;  ///< of no invocation; else null
    const grading::InvocationGrade* invocation = nullptr;
    std::size_t place = 0;  ///< among those of its rank
  };

  bool begin() {
    ++total_;
    if (listed_ == kMaxPageItems) return false;
    text_ = listed_++ == 0 ? "\n" : ",\n";
    return true;
  }
  void end() {
    for (const char c : text_) {
      if (c == '<') {
        outlet_.text() += "\\u003c";
      } else {
        outlet_.text() += c;
      }
    }
    outlet_.drain();
  }
  static void write_values(const grading::ByVerdict<Value>& values, JsonWriter& out) {
    out.open_member("values", '[');
    for (const Verdict verdict : grading::kVerdicts) {
      out.item();
      out.text(grading::value_name(values[verdict]));
    }
    out.close(']');
  }

  void write_other(const Finding& finding) {
    if (!begin()) return;
    JsonWriter out(text_);
    grading::ByVerdict<Value> values;
    for (const Verdict verdict : grading::kVerdicts) values[verdict] = Value::kPassed;
    values[finding.verdict] = finding.value;
    out.open('{');
    if (finding.invocation_id) {
      out.member("name", shown_text(*finding.invocation_id, kMaxShownId));
    } else {
      out.member("name", finding.case_id ? "the case" : "the run");
    }
    write_optional("case", finding.case_id, out);
    write_values(values, out);
    out.open_member("findings", '[');
    write_finding(grade_, finding, out);
    out.close(']');
    out.open_member("timeline", '[');
    out.close(']');
    out.close('}');
    end();
  }

  void write_together(const std::vector<ToldTogether>& together) {
    if (together.empty() || !begin()) return;
    JsonWriter out(text_);
    grading::ByVerdict<Value> values;
    for (const Verdict verdict : grading::kVerdicts) values[verdict] = Value::kUndetermined;
    values[Verdict::kPlanning] = Value::kPassed;
    out.open('{');
    out.member("name", "records of requests only");
    write_values(values, out);
    out.open_member("findings", '[');
    for (const auto& [code, number] : together) {
      Finding finding;
      finding.code = code;
      finding.verdict = grading::code_info(code).verdict;
      finding.owner = grading::code_info(code).owner;
      finding.message = fmt::format("{} of these: {}", number, kOfFormWords);
      write_finding(grade_, finding, out);
    }
    out.close(']');
    out.open_member("timeline", '[');
    out.close(']');
    out.close('}');
    end();
  }

  void write_invocation(const grading::InvocationGrade& one) {
    if (!begin()) return;
    JsonWriter out(text_);
    out.open('{');
    out.member("name", shown_text(one.invocation_id, kMaxShownId));
    write_optional("case", one.case_id, out);
    write_optional("tool", one.tool, out);
    write_optional("route", one.route, out);
    if (one.owner) out.member("owner", grading::owner_name(*one.owner));
    write_values(one.verdicts, out);
    out.open_member("findings", '[');
    std::size_t told = 0;
    for (const std::size_t index : one.findings) {
      if (grade_.findings[index].is_of_form || told++ >= kMaxPageFindings) continue;
      write_finding(grade_, grade_.findings[index], out);
    }
    out.close(']');
    if (one.record) {
      write_timeline(grade_, *one.record, out);
    } else {
      out.open_member("timeline", '[');
      out.close(']');
    }
    out.close('}');
    end();
  }

  const Grade& grade_;
  Outlet& outlet_;
  std::string text_;
  std::size_t listed_ = 0;
  std::size_t total_ = 0;
};

void write_scope(const Grade& grade, std::string_view version, std::string& out) {
  out += "</section>\n<section aria-labelledby=\"scope\">\n<h2 id=\"scope\">Scope</h2>\n<ul>\n";
  for (const std::string& one : grade.scope) {
    out += fmt::format("<li>{}</li>\n", html_words(sentence(one)));
  }
  out +=
      fmt::format("</ul>\n</section>\n</main>\n<footer><p class=\"quiet\">remit {}</p></footer>\n",
                  html_words(version));
}

}  // namespace

void write_grade_html(const Grade& grade, std::string_view version, Outlet& outlet) {
  std::string& out = outlet.text();
  open_page(fmt::format("Grade: {}", grading::gate_name(grade.gate)), true, out);
  write_header(grade, out);
  write_verdicts(grade, out);
  write_matrix(grade, outlet);
  write_filters(out);
  out += "<script type=\"application/json\" id=\"data\">{\"verdicts\":[";
  for (const Verdict verdict : grading::kVerdicts) {
    out += fmt::format("{}\"{}\"", verdict == Verdict::kPlanning ? "" : ",",
                       grading::verdict_name(verdict));
  }
  out += "],\"items\":[";
  Items items(grade, outlet);
  items.write();
  out += "]}</script>\n";
  if (items.left_off() > 0) {
    out +=
        fmt::format("<p>and {} more, all of which the JSON report lists</p>\n", items.left_off());
  }
  write_scope(grade, version, out);
  out += fmt::format("<script>{}</script>\n</body>\n</html>\n", kPageJS);
}

}  // namespace remit::report
