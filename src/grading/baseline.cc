// Reading a baseline, and what it makes of a grade.
#include "grading/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/nearest_word.h"
#include "grading/blank.h"
#include "yaml/yaml.h"

namespace remit::grading {
namespace {

// Why findings of a code cannot be let stand; empty for all others (REQ-BL-004).
std::string_view unforgivable(const CodeInfo& info) {
  if (info.soft) return "leaves its verdict undetermined, and what is unknown never passes";
  if (info.code == Code::kEvidenceAltered) return "means that nothing recorded can be trusted";
  return {};
}

using Name = std::optional<std::string_view>;
/// What an entry says that it covers, as views of its texts.
using Key = std::tuple<Code, Name, Name, Name, Name>;

Key key_of(const KnownFinding& one) {
  return {one.code, one.case_id, one.tool, one.route, one.invocation_id};
}

/// Reads the entries of one file.
class BaselineReader {
 public:
  explicit BaselineReader(yaml::Problems& problems) : problems_(problems) {}

  std::vector<KnownFinding> read(const yaml::Node& root) {
    std::vector<KnownFinding> known;
    yaml::ObjectReader reader(root, "the baseline", problems_);
    if (!reader.format("baseline", "remit.baseline/1")) return known;
    const std::span<const yaml::Node> nodes = reader.required_list("known");
    known.reserve(nodes.size());  // so that keys stay valid
    std::set<Key> keys;
    for (const yaml::Node& node : nodes) {
      const KnownFinding& one = known.emplace_back(entry(node));
      const bool is_new = keys.insert(key_of(one)).second;
      if (!is_new) problems_.add(node, "an entry above names the same findings");
    }
    reader.finish();
    return known;
  }

 private:
  KnownFinding entry(const yaml::Node& node) {
    yaml::ObjectReader reader(node, "a known finding", problems_);
    KnownFinding out;
    out.line = node.place().line;
    read_code(reader, out);
    out.case_id = reader.optional_string("case");
    out.tool = reader.optional_string("tool");
    out.route = reader.optional_string("route");
    out.invocation_id = reader.optional_string("invocation");
    out.owner = reader.required_string("owner");
    out.reason = reader.required_string("reason");
    out.expires = reader.required_string("expires");
    if (!out.expires.empty() && !parse_day(out.expires)) {
      reader.problem("expires",
                     "'expires' must be a day such as 2027-01-31, but is " + quoted(out.expires));
    }
    out.count = static_cast<std::uint64_t>(reader.optional_integer("count", 1).value_or(1));
    reader.finish();
    return out;
  }

  static void read_code(yaml::ObjectReader& reader, KnownFinding& out) {
    const std::string name = reader.required_string("code");
    if (name.empty()) return;
    const std::optional<Code> code = parse_code(name);
    if (!code) {
      std::vector<std::string_view> names;
      for (const CodeInfo& info : code_table()) names.push_back(info.name);
      return reader.problem("code", fmt::format("no finding has the code {}{}", quoted(name),
                                                suggestion(name, names)));
    }
    out.code = *code;
    const std::string_view why = unforgivable(code_info(*code));
    if (!why.empty())
      reader.problem("code", fmt::format("a baseline cannot have {}: it {}", name, why));
  }

  yaml::Problems& problems_;
};

/// Finds the entry that covers a finding. Each key is one entry's, and what an entry may leave out
/// are four names: so there are few keys to look for, however long the baseline is.
class EntryIndex {
 public:
  /// `entries` outlives this; of them only `matched` may change.
  explicit EntryIndex(const std::vector<KnownFinding>& entries) : entries_(entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].is_expired) index_.emplace(key_of(entries[i]), i);
    }
  }

  /// The first that fits and is not used up (REQ-BL-005).
  [[nodiscard]] std::optional<std::size_t> find(const Finding& finding,
                                                const InvocationGrade* call) const {
    const Name tool = call == nullptr ? Name{} : call->tool;
    const Name route = call == nullptr ? Name{} : call->route;
    std::optional<std::size_t> first;
    for (unsigned named = 0; named < 16; ++named) {
      const auto name = [&](unsigned bit, const Name& recorded) {
        return (named & bit) != 0 ? recorded : Name{};
      };
      const auto found = index_.find({finding.code, name(1, finding.case_id), name(2, tool),
                                      name(4, route), name(8, finding.invocation_id)});
      if (found == index_.end() || !has_room(entries_[found->second], finding)) continue;
      first = std::min(first.value_or(found->second), found->second);
    }
    return first;
  }

 private:
  static bool has_room(const KnownFinding& entry, const Finding& finding) {
    return entry.matched < entry.count && entry.count - entry.matched >= finding.lines;
  }

  const std::vector<KnownFinding>& entries_;
  std::map<Key, std::size_t> index_;
};

const InvocationGrade* call_of(const Grade& grade, const std::string& id) {
  const auto found = std::lower_bound(
      grade.invocations.begin(), grade.invocations.end(), id,
      [](const auto& one, const auto& wanted) { return one.invocation_id < wanted; });
  const bool is_there = found != grade.invocations.end() && found->invocation_id == id;
  return is_there ? &*found : nullptr;
}

/// What stands of a verdict of the value `value`, of a call or case that has these findings,
/// without those that are known. A failure that no finding explains stands; and where the record of
/// a call is not whole, what its failure hid is unknown.
Value beyond(const Grade& grade, Verdict verdict, Value value,
             const std::vector<std::size_t>& findings) {
  if (value != Value::kFailed) return value;
  bool is_explained = false;
  bool is_open = false;
  for (const std::size_t index : findings) {
    const Finding& finding = grade.findings[index];
    if (finding.verdict != verdict) continue;
    if (finding.value != Value::kFailed) {
      is_open = true;
    } else if (!finding.known) {
      return Value::kFailed;
    } else {
      is_explained = true;
    }
  }
  if (!is_explained) return Value::kFailed;
  return is_open ? Value::kUndetermined : Value::kPassed;
}

Value beyond_of_call(const Grade& grade, const InvocationGrade& one, Verdict verdict) {
  const Value value = beyond(grade, verdict, one.verdicts[verdict], one.findings);
  const bool is_forgiven = value == Value::kPassed && one.verdicts[verdict] == Value::kFailed;
  const bool is_whole =
      verdict == Verdict::kCompleteness ||
      std::none_of(one.findings.begin(), one.findings.end(), [&](std::size_t index) {
        return grade.findings[index].verdict == Verdict::kCompleteness;
      });
  return is_forgiven && !is_whole ? Value::kUndetermined : value;
}

// What was asked as another call failed in place of the control that it did not exercise
// (REQ-GR-022).
bool is_unexercised(const Grade& grade, const CaseGrade& one, Verdict verdict) {
  return one.is_security && verdict != Verdict::kPlanning &&
         std::any_of(one.findings.begin(), one.findings.end(), [&](std::size_t index) {
           return grade.findings[index].code == Code::kExpectedRequestAbsent;
         });
}

Value beyond_of_case(const Grade& grade, const CaseGrade& one, Verdict verdict) {
  const VerdictResult& result = one.verdicts[verdict];
  if (result.value != Value::kFailed) return result.value;
  Value value = beyond(grade, verdict, result.value, one.findings);
  for (const std::string& id : one.invocation_ids) {
    const InvocationGrade* const call = call_of(grade, id);
    if (call == nullptr || call->verdicts[verdict] == Value::kNotExercised) continue;
    value = worse(value, beyond_of_call(grade, *call, verdict));
  }
  return is_unexercised(grade, one, verdict) ? worse(value, Value::kNotExercised) : value;
}

/// Whose values count for a verdict of the run: all, or those that block.
enum class Counted : std::uint8_t { kAll, kBlocking };

// REQ-BL-006 and 007, where the verdict failed.
Value beyond_of_run(const Grade& grade, Verdict verdict, const BaselineUse& use, Counted counted) {
  const auto counts = [&](const InvocationGrade& one) {
    return counted == Counted::kAll || one.blocking[verdict];
  };
  const bool counts_run = counted == Counted::kAll || grade.blocks_run[verdict];
  Value value = Value::kPassed;
  bool is_explained = false;
  for (const InvocationGrade& one : grade.invocations) {
    if (!counts(one)) continue;
    const Value own = beyond_of_call(grade, one, verdict);
    if (own != Value::kNotExercised) value = worse(value, own);
    is_explained = is_explained || one.verdicts[verdict] == Value::kFailed;
  }
  for (std::size_t i = 0; i < grade.cases.size(); ++i) {
    const std::vector<std::string>& ids = grade.cases[i].invocation_ids;
    const bool is_whole = std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
      const InvocationGrade* const call = call_of(grade, id);
      return call == nullptr || counts(*call);
    });
    if (is_whole && counts_run) value = worse(value, use.cases[i][verdict]);
    if (is_unexercised(grade, grade.cases[i], verdict)) value = worse(value, Value::kNotExercised);
  }
  if (!counts_run) return is_explained ? value : Value::kFailed;
  if (grade.verdicts[verdict].population == 0) value = worse(value, Value::kNotExercised);
  for (const Finding& finding : grade.findings) {  // of a case or the run, and of no call
    const bool is_of_call = finding.invocation_id && call_of(grade, *finding.invocation_id);
    if (finding.verdict != verdict || is_of_call) continue;
    is_explained = is_explained || finding.known.has_value();
    if (!finding.known || finding.value != Value::kFailed) value = worse(value, finding.value);
  }
  return is_explained ? value : Value::kFailed;
}

}  // namespace

Day day_of(WallTime time) {
  const std::chrono::sys_time<std::chrono::nanoseconds> point{
      std::chrono::nanoseconds{time.unix_ns}};
  return std::chrono::floor<std::chrono::days>(point).time_since_epoch().count();
}

std::optional<Day> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  unsigned parts[3] = {0, 0, 0};
  for (std::size_t i = 0, part = 0; i < text.size(); ++i) {
    if (i == 4 || i == 7) {
      ++part;
    } else if (text[i] >= '0' && text[i] <= '9') {
      parts[part] = parts[part] * 10 + static_cast<unsigned>(text[i] - '0');
    } else {
      return std::nullopt;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year{static_cast<int>(parts[0])},
                                        std::chrono::month{parts[1]}, std::chrono::day{parts[2]}};
  if (!day.ok()) return std::nullopt;
  return std::chrono::sys_days{day}.time_since_epoch().count();
}

BaselineParse parse_baseline(std::string_view text, const std::string& file) {
  BaselineParse out;
  yaml::Problems problems(file);
  const Result<yaml::Node> root = yaml::parse(text);
  if (!root) {
    problems.add(root.error());
  } else if (!find_blanks(*root, problems)) {
    Baseline baseline{file, BaselineReader(problems).read(*root)};
    if (problems.empty()) out.baseline = std::move(baseline);
  }
  out.errors = problems.take();
  return out;
}

Grade apply(const Baseline& baseline, Day today, Grade grade) {
  BaselineUse use;
  use.file = baseline.file;
  use.entries = baseline.known;
  for (KnownFinding& entry : use.entries) entry.is_expired = *parse_day(entry.expires) < today;
  const EntryIndex index(use.entries);
  for (Finding& finding : grade.findings) {
    const InvocationGrade* const call =
        finding.invocation_id ? call_of(grade, *finding.invocation_id) : nullptr;
    finding.known = index.find(finding, call);
    if (!finding.known) continue;
    use.entries[*finding.known].matched += finding.lines;
    ++use.known;
  }
  for (const CaseGrade& one : grade.cases) {
    ByVerdict<Value>& values = use.cases.emplace_back();
    for (const Verdict verdict : kVerdicts) values[verdict] = beyond_of_case(grade, one, verdict);
  }
  ByVerdict<std::optional<Value>> blocking = grade.blocking_values;
  for (const Verdict verdict : kVerdicts) {
    Value& value = use.verdicts[verdict];
    value = grade.verdicts[verdict].value;
    if (value == Value::kFailed) value = beyond_of_run(grade, verdict, use, Counted::kAll);
    if (blocking[verdict] != Value::kFailed) continue;
    blocking[verdict] = beyond_of_run(grade, verdict, use, Counted::kBlocking);
  }
  grade.gate = gate_of(blocking);
  grade.exit_code = grade.advisory ? 0 : exit_code_of(grade.gate);
  grade.baseline = std::move(use);
  return grade;
}

}  // namespace remit::grading
