// Every door against the list of doors.
#include "rollout/routes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "report/finding_words.h"

namespace remit::rollout {
namespace {

using report::counted;

std::string named(std::string_view route) {
  return route.empty() ? "no recorded route" : "the route " + quoted(route);
}

class Check {
 public:
  Check(Seen seen, const policy::Bundle& bundle, Observer observer, std::size_t examples)
      : bundle_(bundle), observer_(observer), examples_(examples) {
    pairs_ = std::move(seen.pairs);
    seen.pairs.clear();
    out_.seen = std::move(seen);
    out_.version = bundle.version;
    out_.digest = bundle.digest;
  }

  RoutesReport take() {
    for (const policy::Route& route : bundle_.routes) add(route.name).is_declared = true;
    for (const auto& [pair, tally] : pairs_) use_of(pair.route);
    for (const auto& [route, reasons] : out_.seen.early) use_of(route);
    for (const auto& [pair, tally] : pairs_) count(pair, tally);
    for (const auto& [route, reasons] : out_.seen.early) {
      for (const auto& [reason, calls] : reasons) use_of(route).refused_early += calls.calls();
    }
    for (RouteUse& route : out_.routes) {
      route.calls += route.refused_early;
      judge(route);
    }
    find_unseen_tools();
    judge_record();
    conclude();
    return std::move(out_);
  }

 private:
  RouteUse& add(const std::string& name) {
    index_.emplace(name, out_.routes.size());
    RouteUse& out = out_.routes.emplace_back();
    out.name = name;
    return out;
  }
  RouteUse& use_of(const std::string& name) {
    const auto found = index_.find(name);
    return found == index_.end() ? add(name) : out_.routes[found->second];
  }

  void count(const Pair& pair, const Tally& tally) {
    RouteUse& route = use_of(pair.route);
    route.calls += tally.calls();
    const std::uint64_t decided =
        tally.calls() - tally.of(Sort::kUndecided).calls() - tally.of(Sort::kUnsettled).calls();
    const bool is_decided = decided > 0;
    if (is_decided) {
      route.decided += decided;
      decided_.insert(pair);
    }
    route.undecided.add(tally.of(Sort::kUndecided), examples_);
    route.against_denial.add(tally.of(Sort::kAgainstDenial), examples_);
    route.unexplained.add(tally.unexplained, examples_);
    route.unexplained_effects += tally.unexplained_effects;
    if (is_decided && bundle_.find_tool(pair.tool) == nullptr) {
      if (route.tools_undeclared.size() < kMaxNamesTold)
        route.tools_undeclared.push_back(pair.tool);
      for (const Examples& calls : tally.sorts) route.undeclared_tools.add(calls, examples_);
    }
    const auto by_bundle = tally.policies.find({bundle_.version, bundle_.digest});
    if (by_bundle != tally.policies.end()) out_.decided_by_bundle += by_bundle->second;
  }

  void judge(RouteUse& route) {
    const auto fail = [&](const Examples& calls, std::string_view what) {
      if (calls.calls() == 0) return;
      out_.failed.push_back(fmt::format("{} by {} {}", counted(calls.calls(), "call", "calls"),
                                        named(route.name), what));
    };
    fail(route.undecided, "ran without a decision");
    fail(route.against_denial, "ran though denied");
    if (route.unexplained_effects > 0) {
      out_.failed.push_back(
          fmt::format("{} by {} that no decision explains",
                      counted(route.unexplained_effects, "observed effect", "observed effects"),
                      named(route.name)));
    }
    fail(route.undeclared_tools, "of tools that the catalogue has not");
    if (route.name.empty()) {
      const std::uint64_t told = route.undecided.calls() + route.against_denial.calls();
      if (route.calls <= told) return;
      out_.undetermined.push_back(
          fmt::format("{} without a route: by which door they came is not "
                      "known",
                      counted(route.calls - told, "call", "calls")));
      return;
    }
    if (!route.is_declared) {
      out_.failed.push_back(fmt::format("the route {} is not declared, and {} came by it",
                                        quoted(route.name), counted(route.calls, "call", "calls")));
      return;
    }
    if (route.decided == 0) {
      out_.unexercised.push_back(fmt::format("no decided call came by {}", named(route.name)));
    }
    for (const policy::Tool& tool : bundle_.tools) {
      if (!decided_.contains({route.name, tool.name})) route.unseen_tools.push_back(tool.name);
    }
  }

  void find_unseen_tools() {
    std::set<std::string_view> seen;
    for (const Pair& pair : decided_) seen.insert(pair.tool);
    for (const policy::Tool& tool : bundle_.tools) {
      if (!seen.contains(tool.name)) out_.unseen_tools.push_back(tool.name);
    }
    if (out_.unseen_tools.empty()) return;
    out_.unexercised.push_back(
        fmt::format("{} by no route",
                    counted(out_.unseen_tools.size(), "tool was called", "tools were called")));
  }

  void judge_record() {
    const Seen& seen = out_.seen;
    for (const std::string& one : seen.altered) {
      out_.failed.push_back("the evidence is altered: " + one);
    }
    const auto unknown = [&](std::uint64_t number, std::string_view one, std::string_view many) {
      if (number > 0) out_.undetermined.push_back(counted(number, one, many));
    };
    unknown(seen.malformed, "malformed line", "malformed lines");
    unknown(seen.losses, "place where events are missing", "places where events are missing");
    unknown(seen.contradicted, "line that came again under the number of another",
            "lines that came again under the number of another");
    unknown(seen.left_out, "call of a further route or tool, for which there is no room",
            "calls of further routes and tools, for which there is no room");
    if (out_.decided_by_bundle == 0) {
      out_.unexercised.push_back("no call was decided by this bundle, by its version and digest");
    }
    if (!seen.observers.empty()) return;
    constexpr std::string_view kUnwatched =
        "no observer's record was given: effects that went around the boundary could not be seen";
    if (observer_ == Observer::kRequired) {
      out_.undetermined.emplace_back(kUnwatched);
    } else {
      out_.scope.emplace_back(kUnwatched);
    }
  }

  void conclude() {
    out_.verdict = !out_.failed.empty()         ? RoutesVerdict::kFailed
                   : !out_.undetermined.empty() ? RoutesVerdict::kUndetermined
                   : !out_.unexercised.empty()  ? RoutesVerdict::kNotExercised
                                                : RoutesVerdict::kPassed;
    out_.scope.emplace_back(
        "a door that neither the bundle declares nor any record tells of cannot be found by this");
  }

  const policy::Bundle& bundle_;
  Observer observer_;
  std::size_t examples_;
  std::map<Pair, Tally> pairs_;
  std::map<std::string, std::size_t> index_;
  std::set<Pair> decided_;
  RoutesReport out_;
};

}  // namespace

std::string_view verdict_name(RoutesVerdict verdict) {
  switch (verdict) {
    case RoutesVerdict::kPassed:
      return "passed";
    case RoutesVerdict::kNotExercised:
      return "not_exercised";
    case RoutesVerdict::kUndetermined:
      return "undetermined";
    case RoutesVerdict::kFailed:
      break;
  }
  return "failed";
}

int exit_code_of(RoutesVerdict verdict) {
  switch (verdict) {
    case RoutesVerdict::kPassed:
      return 0;
    case RoutesVerdict::kFailed:
      return 1;
    case RoutesVerdict::kNotExercised:
    case RoutesVerdict::kUndetermined:
      break;
  }
  return 2;
}

RoutesReport check_routes(Seen seen, const policy::Bundle& bundle, Observer observer,
                          std::size_t examples) {
  return Check(std::move(seen), bundle, observer, examples).take();
}

}  // namespace remit::rollout
