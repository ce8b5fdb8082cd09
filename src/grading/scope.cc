// The scope in sentences; a number is always in them, so that "some" never hides "all".
#include "grading/scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "grading/counted.h"

namespace remit::grading {

Scope::Scope(const Criteria& criteria, const RecordStore& store,
             const std::vector<trace::SilentFile>& silent_files, const UnlistedFields& unlisted)
    : criteria_(criteria), store_(store), silent_files_(silent_files), unlisted_(unlisted) {
  if (!criteria.manifest) return;
  for (const Case& one : criteria.manifest->cases) {
    for (const std::string& tool : one.forbidden_requests) forbidden_.emplace(tool, false);
  }
}

void Scope::look_at(const CallView& call) {
  if (forbidden_.empty()) return;
  for (const EventRecord* event : call.events) {
    const auto found = forbidden_.find(store_.text(event->fact(Fact::kTool)));
    if (found != forbidden_.end()) found->second = true;
  }
}

std::vector<std::string> Scope::sentences(const Casebook& cases, const Judge& judge,
                                          const RuleBook& rules,
                                          const Population& population) const {
  std::vector<std::string> out;
  if (population.events == 0) out.emplace_back("no event was read: nothing was judged");
  if (population.events > 0 && population.invocations == 0) {
    out.emplace_back("no event of an invocation was read: nothing was exercised");
  }
  say_silent_files(out);
  say_planning(cases, out);
  if (population.invocations > 0) {
    say_forbidden(out);
    say_rules(rules, out);
  }
  if (const std::uint64_t files = store_.files_of_requests(); files > 0) {
    out.push_back(fmt::format(
        "{} requests and could record no decision: of those requests nothing but planning can be "
        "judged",
        counted(files, "file records", "files record")));
  }
  if (population.ignored_fields > 0) {
    out.push_back(fmt::format(
        "{} no name of the event contract and {} passed over; names count as they are written "
        "there, policy_version and not policyVersion{}",
        counted(population.ignored_fields, "field of an event has", "fields of events have"),
        population.ignored_fields == 1 ? "was" : "were", meant_fields()));
  }
  say_routes(out);
  if (judge.effects_by_starts() > 0) {
    out.push_back(fmt::format(
        "expected effects of {} were compared with the number of starts: nothing observed effects",
        counted(judge.effects_by_starts(), "invocation", "invocations")));
  }
  if (population.invocations > 0) say_pinned(out);
  const auto say_unjudged = [&](std::string_view names,
                                std::initializer_list<event::EventKind> kinds) {
    std::uint64_t number = 0;
    for (const event::EventKind kind : kinds) number += store_.count(kind);
    if (number == 0) return;
    out.push_back(fmt::format("{} {} not judged", counted(number, "event", "events"), names));
  };
  using event::EventKind;
  say_unjudged("of queues (queue.enqueued, queue.dequeued)",
               {EventKind::kQueueEnqueued, EventKind::kQueueDequeued});
  if (population.would_deny > 0) {
    out.push_back(
        fmt::format("{} denied in shadow mode, which held nothing back",
                    counted(population.would_deny, "invocation was", "invocations were")));
  }
  return out;
}

// REQ-GR-088.
std::string Scope::meant_fields() const {
  const std::vector<std::string_view> meant = unlisted_.meant();
  return meant.empty() ? "" : fmt::format("; meant may be {}", fmt::join(meant, ", "));
}

// REQ-IN-039: what was read and gave nothing, so that nobody takes it for judged.
void Scope::say_silent_files(std::vector<std::string>& out) const {
  constexpr std::size_t kNamed = 5;
  for (std::size_t i = 0; i < silent_files_.size(); ++i) {
    if (i == kNamed) {
      out.push_back(fmt::format("{} gave no event either",
                                counted(silent_files_.size() - i, "more file", "more files")));
      return;
    }
    const trace::SilentFile& file = silent_files_[i];
    const bool is_telemetry = file.form == trace::Form::kOtlp;
    out.push_back(fmt::format(
        "{} gave no event: it was read as {}, and of its {} none {}", quoted(file.source, 120),
        trace::form_name(file.form),
        is_telemetry ? counted(file.records, "span or log record", "spans and log records")
                     : counted(file.records, "run", "runs"),
        is_telemetry ? "has the attribute remit.event or is a tool call by the GenAI or MCP "
                       "conventions"
                     : "calls a tool"));
  }
}

void Scope::say_planning(const Casebook& cases, std::vector<std::string>& out) const {
  if (!criteria_.manifest && !criteria_.expected_ids) {
    out.emplace_back(
        "planning was not judged and absence could not be checked: there is neither a manifest nor "
        "a list of expected ids");
    return;
  }
  if (!criteria_.manifest) return;
  if (!cases.has_cases()) {
    out.emplace_back("planning was not judged: the manifest has no cases");
  } else if (without_case_ > 0) {
    out.push_back(fmt::format("{} to no case and {} not judged for planning",
                              counted(without_case_, "invocation belongs", "invocations belong"),
                              without_case_ == 1 ? "was" : "were"));
  }
  if (cases.ambiguous() > 0) {
    out.push_back(
        fmt::format("{} no case id of the manifest and a run id that several cases name: they were "
                    "tied to none",
                    counted(cases.ambiguous(), "invocation carries", "invocations carry")));
  }
}

// REQ-MF-037: a name that is mistyped forbids nothing.
void Scope::say_forbidden(std::vector<std::string>& out) const {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> names;
  for (const auto& [name, was_seen] : forbidden_) {
    if (!was_seen) names.push_back(quoted(name));
  }
  if (names.empty()) return;
  const std::size_t more = names.size() - std::min(names.size(), kNamed);
  names.resize(names.size() - more);
  out.push_back(fmt::format("forbidden by cases, and named by no event: {}{}",
                            fmt::join(names, ", "),
                            more == 0 ? "" : fmt::format(" and {} more", more)));
}

// REQ-CT-034.
void Scope::say_rules(const RuleBook& rules, std::vector<std::string>& out) {
  constexpr std::size_t kNamed = 10;
  std::vector<std::size_t> unused = rules.unused();
  if (unused.empty()) return;
  const std::size_t all = unused.size();
  unused.resize(std::min(all, kNamed));
  out.push_back(fmt::format("{} for no call of this run: number {}{}",
                            counted(all, "rule of the contract is", "rules of the contract are"),
                            fmt::join(unused, ", "), all > kNamed ? ", …" : ""));
}

void Scope::say_routes(std::vector<std::string>& out) const {
  std::set<std::string> names;
  for (const std::string& route : store_.routes()) names.insert(quoted(route));
  if (!names.empty()) out.push_back(fmt::format("routes seen: {}", fmt::join(names, ", ")));
  if (without_route_ > 0) {
    out.push_back(fmt::format("{} no route",
                              counted(without_route_, "invocation records", "invocations record")));
  }
}

// What the manifest does not pin, and what it pins in vain.
void Scope::say_pinned(std::vector<std::string>& out) const {
  static const Manifest kNothing;
  const Manifest& manifest = criteria_.manifest ? *criteria_.manifest : kNothing;
  const auto is_pinned_by_entry = [&](auto member) {
    return std::any_of(manifest.cases.begin(), manifest.cases.end(), [&](const Case& of_case) {
      return std::any_of(of_case.expect.begin(), of_case.expect.end(),
                         [&](const Expectation& entry) { return (entry.*member).has_value(); });
    });
  };
  std::vector<std::string_view> unpinned;
  if (manifest.principals.empty() && !is_pinned_by_entry(&Expectation::principal)) {
    unpinned.emplace_back("principals");
  }
  if (manifest.resources.empty() && !is_pinned_by_entry(&Expectation::resource)) {
    unpinned.emplace_back("resources");
  }
  if (manifest.approvals.empty()) unpinned.emplace_back("approvals");
  if (!unpinned.empty()) {
    out.push_back(
        fmt::format("no manifest pins {}: what was recorded of them was compared only "
                    "with the rest of the record",
                    fmt::join(unpinned, ", ")));
  }
  std::vector<std::string_view> unrecorded;
  if (manifest.fixture_revision) unrecorded.emplace_back("fixture_revision");
  const bool has_scopes =
      std::any_of(manifest.principals.begin(), manifest.principals.end(),
                  [](const PinnedPrincipal& one) { return !one.scopes.empty(); });
  if (has_scopes) unrecorded.emplace_back("scopes of principals");
  const auto& writers = store_.writers();
  const bool is_environment_recorded =
      std::any_of(writers.begin(), writers.end(), [](const WriterLog& log) {
        return std::any_of(log.started.begin(), log.started.end(),
                           [](const RunStarted& one) { return one.environment != 0; });
      });
  if (manifest.environment && !is_environment_recorded) unrecorded.emplace_back("environment");
  if (unrecorded.empty()) return;
  out.push_back(fmt::format("pinned by the manifest and recorded by no event: {}",
                            fmt::join(unrecorded, ", ")));
}

}  // namespace remit::grading
