// From counts to a verdict: nothing unknown is ready.
#include "rollout/readiness.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "access/reason.h"
#include "base/error.h"

namespace remit::rollout {
namespace {

constexpr std::size_t kMaxReasonsTold = 50;  ///< of rows that stand for many

std::string calls_are(std::uint64_t calls) {
  return calls == 1 ? "1 call is" : fmt::format("{} calls are", calls);
}
std::string counted_calls(std::uint64_t calls) {
  return calls == 1 ? "1 call" : fmt::format("{} calls", calls);
}

/// Judges one pair. What is said first is what a person mends first.
class PairJudge {
 public:
  PairJudge(const Needs& needs, Row& row) : needs_(needs), row_(row) {}

  void judge(bool is_whole, const Criteria& criteria) {
    find_unexplained();
    find_would_deny();
    over(Sort::kWouldAllow, needs_.would_allow, Verdict::kNotReady,
         "refused that policy would allow");
    over(Sort::kUnsettled, needs_.unsettled, Verdict::kUndetermined, "of unknown end");
    find_policies(criteria);
    find_too_little();
    if (!is_whole) add(Verdict::kUndetermined, "the record is not whole");
    if (row_.why.empty()) row_.verdict = Verdict::kReady;
  }

 private:
  void add(Verdict verdict, std::string why) {
    row_.verdict = row_.why.empty() ? verdict : std::max(row_.verdict, verdict);
    row_.why.push_back(std::move(why));
  }
  [[nodiscard]] std::uint64_t calls(Sort sort) const { return row_.tally.of(sort).calls(); }

  void over(Sort sort, std::uint64_t most, Verdict verdict, std::string_view what) {
    if (calls(sort) <= most) return;
    add(verdict, fmt::format("{} {}: at most {} may be", calls_are(calls(sort)), what, most));
  }

  // No criterion lets these stand (REQ-RO-022).
  void find_unexplained() {
    over(Sort::kUndecided, 0, Verdict::kNotReady, "without a decision");
    over(Sort::kAgainstDenial, 0, Verdict::kNotReady, "denied in earnest, and ran");
    if (row_.tally.unexplained_effects == 0) return;
    add(Verdict::kNotReady, fmt::format("{} of {} observed effect{} explained by no decision",
                                        row_.tally.unexplained_effects, row_.tally.effects,
                                        row_.tally.unexplained_effects == 1 ? " is" : "s are"));
  }

  void find_would_deny() {
    std::uint64_t expected = 0;
    for (const auto& [reason, number] : row_.expected) expected += number;
    const std::uint64_t unexpected = calls(Sort::kWouldDeny) - expected;
    if (unexpected <= needs_.would_deny) return;
    add(Verdict::kNotReady,
        fmt::format("policy would deny {} that ran{}: at most {} may be", counted_calls(unexpected),
                    expected > 0 ? fmt::format(", beside {} expected", expected) : "",
                    needs_.would_deny));
  }

  // What several policies said together is what none of them will do, unless somebody says that
  // they decide alike (REQ-RO-023).
  void find_policies(const Criteria& criteria) {
    if (row_.tally.compared() == 0) return;
    const auto& policies = row_.tally.policies;
    if (criteria.policies.empty() && policies.size() > 1) {
      add(Verdict::kUndetermined,
          fmt::format("decided by {} policies: say by the criteria which are meant",
                      policies.size()));
    }
    for (const AskedPolicy& asked : criteria.policies) {
      const auto found = std::ranges::count_if(
          policies, [&](const auto& one) { return asked.is(one.first.version, one.first.digest); });
      if (found < 2) continue;
      add(Verdict::kUndetermined,
          fmt::format("decided by {} policies of the version {}: say by the criteria which digest "
                      "is meant",
                      found, quoted(asked.version)));
    }
  }

  void find_too_little() {
    const std::uint64_t compared = row_.tally.compared();
    if (compared == 0) return add(Verdict::kNotExercised, "no call was compared");
    if (compared < needs_.calls) {
      add(Verdict::kUndetermined,
          fmt::format("{} compared: {} are needed", counted_calls(compared), needs_.calls));
    }
    if (row_.tally.principals.count() < needs_.principals) {
      add(Verdict::kUndetermined,
          fmt::format("by {} principal{}: {} are needed", row_.tally.principals.count(),
                      row_.tally.principals.count() == 1 ? "" : "s", needs_.principals));
    }
    if (needs_.hours == 0) return;
    const std::chrono::nanoseconds span{
        row_.tally.first ? row_.tally.last->unix_ns - row_.tally.first->unix_ns : 0};
    const auto hours = std::chrono::floor<std::chrono::hours>(span).count();
    if (std::cmp_greater_equal(hours, needs_.hours)) return;
    add(Verdict::kUndetermined,
        fmt::format("over {} hour{}: {} are needed", hours, hours == 1 ? "" : "s", needs_.hours));
  }

  const Needs& needs_;
  Row& row_;
};

/// Builds one report.
class Assessment {
 public:
  Assessment(Seen seen, const Criteria& criteria, const Against& against)
      : criteria_(criteria), against_(against) {
    out_.examples = against.examples;
    for (const ExpectedDenial& entry : criteria.expected) {
      out_.expected.push_back({entry, 0, entry.last_day < against.today});
    }
    pairs_ = std::move(seen.pairs);
    seen.pairs.clear();
    out_.seen = std::move(seen);
  }

  Report take() {
    judge_record();
    add_inventory();
    for (auto& [pair, tally] : pairs_) out_.rows.push_back(judged(pair, std::move(tally)));
    judge_whole();
    write_scope();
    return std::move(out_);
  }

 private:
  void judge_record() {
    const Seen& seen = out_.seen;
    for (const std::string& one : seen.altered) {
      out_.why.push_back("the evidence is altered: " + one);
    }
    is_whole_ = seen.altered.empty() && seen.malformed == 0 && seen.contradicted == 0 &&
                seen.losses <= criteria_.losses && seen.left_out == 0;
    if (seen.malformed > 0) {
      out_.why.push_back(
          fmt::format("{} malformed line{}", seen.malformed, seen.malformed == 1 ? "" : "s"));
    }
    if (seen.losses > criteria_.losses) {
      out_.why.push_back(fmt::format("events are missing at {} place{}: at most {} may be",
                                     seen.losses, seen.losses == 1 ? "" : "s", criteria_.losses));
    }
    if (seen.contradicted > 0) {
      out_.why.push_back(fmt::format("{} line{} came again under the number of another",
                                     seen.contradicted, seen.contradicted == 1 ? "" : "s"));
    }
    if (seen.left_out > 0) {
      out_.why.push_back(fmt::format("{} of further routes and tools, for which there is no room",
                                     counted_calls(seen.left_out)));
    }
  }

  // REQ-RO-024: what the bundle puts in shadow mode is to be seen, or said to be unused.
  void add_inventory() {
    if (against_.bundle == nullptr) return;
    for (const policy::Route& route : against_.bundle->routes) {
      for (const policy::Tool& tool : against_.bundle->tools) {
        if (policy::mode_of(&route, &tool) != policy::Mode::kShadow || !tool.has_boundary) continue;
        pairs_[{route.name, tool.name}].has_shadow_mode = true;
      }
    }
  }

  [[nodiscard]] bool is_said_to_be_unused(const Pair& pair) const {
    return std::ranges::any_of(criteria_.unused,
                               [&](const UnusedPairs& one) { return one.match.fits(pair); });
  }

  Row judged(const Pair& pair, Tally tally) {
    Row row;
    row.route = pair.route;
    row.tool = pair.tool;
    row.tally = std::move(tally);
    const std::uint64_t calls = row.tally.calls();
    if (is_said_to_be_unused(pair)) {
      row.verdict = calls == 0 ? Verdict::kUnused : Verdict::kNotReady;
      if (calls > 0) {
        row.why.push_back(fmt::format("said to be unused, and {} came", counted_calls(calls)));
      }
      return row;
    }
    take_expected(pair, row);
    const bool has_violation = row.tally.of(Sort::kUndecided).calls() > 0 ||
                               row.tally.of(Sort::kAgainstDenial).calls() > 0 ||
                               row.tally.unexplained_effects > 0;
    if (row.tally.compared() == 0 && !row.tally.has_shadow_mode && !has_violation &&
        row.tally.of(Sort::kEnforcedAllow).calls() + row.tally.of(Sort::kEnforcedDeny).calls() >
            0) {
      row.verdict = Verdict::kEnforcing;
      return row;
    }
    const Needs needs = criteria_.needs_of(pair);
    PairJudge(needs, row).judge(is_whole_, criteria_);
    return row;
  }

  void take_expected(const Pair& pair, Row& row) {
    for (const auto& [reason, calls] : row.tally.would_deny) {
      for (ExpectedUse& use : out_.expected) {
        if (use.is_expired || access::reason_name(use.entry.reason) != reason ||
            !use.entry.match.fits(pair)) {
          continue;
        }
        use.calls += calls.calls();
        row.expected[reason] = calls.calls();
        break;
      }
    }
  }

  void judge_whole() {
    bool is_any = false;
    out_.verdict = Verdict::kReady;
    for (const Row& row : out_.rows) {
      is_any |= row.verdict == Verdict::kReady;
      if (row.verdict > out_.verdict) out_.verdict = row.verdict;
    }
    if (!is_any && out_.verdict == Verdict::kReady) out_.verdict = Verdict::kNotExercised;
    if (!is_whole_) out_.verdict = std::max(out_.verdict, Verdict::kUndetermined);
    if (!out_.seen.altered.empty()) out_.verdict = Verdict::kNotReady;
  }

  void write_scope() {
    if (against_.bundle == nullptr) {
      out_.scope.emplace_back(
          "no bundle was given: routes and tools that were never seen are not missed");
    }
    if (criteria_.policies.empty()) {
      out_.scope.emplace_back("decisions of every policy that was seen were compared");
    }
    if (out_.seen.observers.empty()) {
      out_.scope.emplace_back(
          "no observer's record was given: effects that went around the boundary could not be "
          "seen");
    }
    if (out_.seen.losses > 0 && out_.seen.losses <= criteria_.losses) {
      out_.scope.push_back(
          fmt::format("events are missing at {} place{}, which the criteria let stand",
                      out_.seen.losses, out_.seen.losses == 1 ? "" : "s"));
    }
    out_.scope.emplace_back(
        "ready says that what was seen would have gone on as it did; of calls that did not come it "
        "says nothing");
  }

  const Criteria& criteria_;
  const Against& against_;
  std::map<Pair, Tally> pairs_;
  bool is_whole_ = false;
  Report out_;
};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnforcing:
      return "enforcing";
    case Verdict::kUnused:
      return "unused";
    case Verdict::kReady:
      return "ready";
    case Verdict::kNotExercised:
      return "not_exercised";
    case Verdict::kUndetermined:
      return "undetermined";
    case Verdict::kNotReady:
      break;
  }
  return "not_ready";
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReady:
      return 0;
    case Verdict::kNotReady:
      return 1;
    case Verdict::kEnforcing:
    case Verdict::kUnused:
    case Verdict::kNotExercised:
    case Verdict::kUndetermined:
      break;
  }
  return 2;
}

Report assess(Seen seen, const Criteria& criteria, const Against& against) {
  return Assessment(std::move(seen), criteria, against).take();
}

std::vector<Row> rows_by(const Report& report, RowsBy by) {
  if (by == RowsBy::kPair) return report.rows;
  std::map<std::string, Row> rows;
  for (const Row& one : report.rows) {
    const std::string& name = by == RowsBy::kRoute ? one.route : one.tool;
    const auto [at, is_new] = rows.try_emplace(name);
    Row& row = at->second;
    (by == RowsBy::kRoute ? row.route : row.tool) = name;
    row.verdict = is_new ? one.verdict : std::max(row.verdict, one.verdict);
    row.tally.add(one.tally, report.examples);
    for (const auto& [reason, calls] : one.expected) row.expected[reason] += calls;
    for (const std::string& why : one.why) {
      if (row.why.size() >= kMaxReasonsTold) break;
      row.why.push_back(
          fmt::format("{}: {}", quoted(by == RowsBy::kRoute ? one.tool : one.route), why));
    }
  }
  std::vector<Row> out;
  for (auto& [name, row] : rows) out.push_back(std::move(row));
  return out;
}

}  // namespace remit::rollout
