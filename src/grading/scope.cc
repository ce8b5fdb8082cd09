// The scope in sentences; a number is always in them, so that "some" never hides "all".
#include "grading/scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace remit::grading {
namespace {

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

std::vector<std::string> Scope::sentences(const Casebook& cases, const Judge& judge) const {
  std::vector<std::string> out;
  const Population& population = store_.population();
  if (population.events == 0) out.emplace_back("no event was read: nothing was judged");
  if (population.events > 0 && population.invocations == 0) {
    out.emplace_back("no event of an invocation was read: nothing was exercised");
  }
  say_planning(cases, out);
  say_routes(out);
  if (judge.effects_by_starts() > 0) {
    out.push_back(fmt::format(
        "expected effects of {} were compared with the number of starts: nothing observed effects",
        counted(judge.effects_by_starts(), "invocation", "invocations")));
  }
  if (judge.unrecorded_digests() > 0) {
    out.push_back(fmt::format(
        "{} no policy digest, though the manifest pins one: only the version was compared",
        counted(judge.unrecorded_digests(), "decision records", "decisions record")));
  }
  say_pinned(out);
  const auto say_unjudged = [&](std::string_view names,
                                std::initializer_list<event::EventKind> kinds) {
    std::uint64_t number = 0;
    for (const event::EventKind kind : kinds) number += store_.count(kind);
    if (number == 0) return;
    out.push_back(fmt::format("{} {} not judged", counted(number, "event", "events"), names));
  };
  using event::EventKind;
  say_unjudged(
      "of resources and approvals (resource.resolved, approval.checked, approval.changed)",
      {EventKind::kResourceResolved, EventKind::kApprovalChecked, EventKind::kApprovalChanged});
  say_unjudged("of queues (queue.enqueued, queue.dequeued, queue.denied)",
               {EventKind::kQueueEnqueued, EventKind::kQueueDequeued, EventKind::kQueueDenied});
  if (population.invocations > 0) {
    out.emplace_back(
        "not judged by this version: whether recorded facts of principals, resources and approvals "
        "are true, and whether secrets leaked into the evidence");
  }
  return out;
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

void Scope::say_routes(std::vector<std::string>& out) const {
  std::set<std::string> names;
  for (const Ref route : store_.routes()) names.insert(quoted(store_.text(route)));
  if (!names.empty()) out.push_back(fmt::format("routes seen: {}", fmt::join(names, ", ")));
  const auto& calls = store_.invocations();
  const auto without_route = static_cast<std::uint64_t>(
      std::count_if(calls.begin(), calls.end(), [](const auto& call) { return !call.has_route; }));
  if (without_route > 0) {
    out.push_back(fmt::format("{} no route",
                              counted(without_route, "invocation records", "invocations record")));
  }
}

// Facts that the manifest pins and this version does not compare.
void Scope::say_pinned(std::vector<std::string>& out) const {
  if (!criteria_.manifest) return;
  const Manifest& manifest = *criteria_.manifest;
  std::vector<std::string> pinned;
  if (manifest.environment) pinned.emplace_back("environment");
  if (manifest.fixture_revision) pinned.emplace_back("fixture_revision");
  const auto say = [&](std::uint64_t number, std::string_view one, std::string_view many) {
    if (number > 0) pinned.push_back(counted(number, one, many));
  };
  say(manifest.principals.size(), "principal", "principals");
  say(manifest.resources.size(), "resource", "resources");
  say(manifest.approvals.size(), "approval", "approvals");
  std::uint64_t entries = 0;
  for (const Case& of_case : manifest.cases) {
    for (const Expectation& entry : of_case.expect) {
      entries += entry.principal || entry.resource ? 1U : 0U;
    }
  }
  say(entries, "expected request's principal and resource",
      "expected requests' principals and resources");
  if (pinned.empty()) return;
  out.push_back(fmt::format("pinned by the manifest and not compared by this version: {}",
                            fmt::join(pinned, ", ")));
}

}  // namespace remit::grading
