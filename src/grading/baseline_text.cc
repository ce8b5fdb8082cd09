// Baseline files as text: made smaller, and proposed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "grading/baseline.h"
#include "grading/blank.h"
#include "yaml/scalar.h"
#include "yaml/yaml.h"

namespace remit::grading {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_comment(const std::string& line) {
  return indent_of(line) < line.size() && line[indent_of(line)] == '#';
}

bool is_blank_line(const std::string& line) {
  return line.find_first_not_of(" \r\n") == std::string::npos;
}

/// Edits the lines of one file, which count from 0; a line that goes becomes empty.
class Shrinking {
 public:
  explicit Shrinking(std::string_view text) : lines_(lines_of(text)) {}

  void remove(const yaml::Node& entry) {
    const std::size_t first = entry.place().line - 1;
    for (std::size_t i = first; i > 0 && is_comment(lines_[i - 1]); --i) lines_[i - 1].clear();
    const std::size_t dash = indent_of(lines_[first]);
    lines_[first].clear();
    for (std::size_t i = first + 1; i < lines_.size(); ++i) {
      const std::string& line = lines_[i];
      if (is_blank_line(line) || is_comment(line) || indent_of(line) <= dash) return;
      lines_[i].clear();
    }
  }

  void lower(const yaml::Node& entry, std::uint64_t count) {
    const yaml::Node* const node = entry.find("count");
    if (node == nullptr) return;
    std::string& line = lines_[node->place().line - 1];
    const std::size_t from = std::min<std::size_t>(node->place().column - 1, line.size());
    const std::size_t to = std::min(line.find_first_not_of("0123456789", from), line.size());
    line.replace(from, to - from, std::to_string(count));
  }

  /// A list that has lost all its entries is written as one.
  void empty(const yaml::Key& list) {
    std::string& line = lines_[list.place.line - 1];
    line.insert(std::min(line.find(':', list.place.column - 1) + 1, line.size()), " []");
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }

 private:
  std::vector<std::string> lines_;
};

auto said(const KnownFinding& one) {
  return std::tie(one.code, one.case_id, one.tool, one.route, one.invocation_id, one.owner,
                  one.reason, one.expires, one.count);
}

bool say_the_same(const std::vector<KnownFinding>& left, const std::vector<KnownFinding>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& a, const auto& b) { return said(a) == said(b); });
}

}  // namespace

Result<std::string> shrink(std::string_view text, const std::string& file,
                           const std::vector<std::uint64_t>& counts) {
  const BaselineParse before = parse_baseline(text, file);
  if (!before.baseline) return before.errors.front();
  REMIT_TRY_ASSIGN(const yaml::Node root, yaml::parse(text));
  const std::span<const yaml::Node> entries = root.find("known")->items();
  if (entries.size() != counts.size()) {
    return Error{ErrorCode::kFailedPrecondition, "the file changed while it was used", file};
  }
  Shrinking shrinking(text);
  std::vector<KnownFinding> wanted;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    KnownFinding one = before.baseline->known[i];
    if (counts[i] == 0) {
      shrinking.remove(entries[i]);
      continue;
    }
    if (counts[i] < one.count) shrinking.lower(entries[i], counts[i]);
    one.count = std::min(one.count, counts[i]);
    wanted.push_back(std::move(one));
  }
  if (wanted.empty() && !entries.empty()) {
    for (const yaml::Key& key : root.keys()) {
      if (key.text == "known") shrinking.empty(key);
    }
  }
  std::string out = shrinking.text();
  // Whatever form the file has, it must now say what is wanted and nothing else.
  const BaselineParse after = parse_baseline(out, file);
  if (after.baseline && say_the_same(after.baseline->known, wanted)) return out;
  return Error{ErrorCode::kFailedPrecondition,
               "cannot be made smaller as it is written; write each entry as a list item of its "
               "own, with one key on a line",
               file};
}

std::string suggest_baseline(const Grade& grade) {
  using Told = std::optional<std::string>;
  std::map<std::tuple<Code, Told, Told, Told>, std::uint64_t> counts;
  std::map<std::string_view, const InvocationGrade*> calls;
  for (const InvocationGrade& one : grade.invocations) calls.emplace(one.invocation_id, &one);
  for (const Finding& finding : grade.findings) {
    if (finding.known || finding.value != Value::kFailed) continue;
    if (finding.code == Code::kEvidenceAltered) continue;  // REQ-BL-004
    const auto call = finding.invocation_id ? calls.find(*finding.invocation_id) : calls.end();
    const bool has_call = call != calls.end();
    counts[{finding.code, finding.case_id, has_call ? call->second->tool : Told{},
            has_call ? call->second->route : Told{}}] += finding.lines;
  }
  if (counts.empty()) return {};
  std::string out =
      "# Findings that nobody answers for yet. Whoever does fills in the blanks and adds the "
      "entry\n"
      "# to the baseline; an entry that nobody wants to answer for is a finding to mend.\n"
      "baseline: remit.baseline/1\nknown:\n";
  for (const auto& [key, count] : counts) {
    const auto& [code, case_id, tool, route] = key;
    out += fmt::format("  - code: {}\n", code_info(code).name);
    if (case_id) out += fmt::format("    case: {}\n", yaml::scalar(*case_id));
    if (tool) out += fmt::format("    tool: {}\n", yaml::scalar(*tool));
    if (route) out += fmt::format("    route: {}\n", yaml::scalar(*route));
    if (count > 1) out += fmt::format("    count: {}\n", count);
    out += fmt::format("    owner: {0}\n    reason: {0}\n    expires: {0}\n", kBlank);
  }
  return out;
}

}  // namespace remit::grading
