// Trials in order: the harness kept alive between them, late effects put where they belong, and
// what nothing shows kept from passing.
#include "conformance/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "conformance/effect_owners.h"
#include "conformance/executor.h"
#include "conformance/harness.h"
#include "conformance/trial.h"
#include "conformance/words.h"

namespace remit::conformance {
namespace {

constexpr std::size_t kMaxCasesNamed = 8;     // in a sentence
constexpr std::size_t kMaxReasonShown = 200;  // of the subject's own, in bytes

// Of an executor that is asked as it is; a driver takes callers as they come.
bool is_caller_of(const Case& of, std::string_view need) {
  return need == kNobody || std::any_of(of.steps.begin(), of.steps.end(),
                                        [&](const Step& step) { return step.principal == need; });
}

/// One case on one route that is to be run.
struct Planned {
  const Case* of;
  std::string route;
  bool is_added;
};

class Runner {
 public:
  Runner(const Pack& pack, const Subject& subject, const RunOptions& options, const RunWorld& world,
         Spy spy)
      : pack_(pack),
        subject_(subject),
        options_(options),
        world_(world),
        harness_world_{world.files, world.clock, world.random, world.scratch_directory,
                       world.program},
        spy_(std::move(spy)) {}

  Result<Run> run() {
    out_.subject = subject_.name;
    out_.subject_file = subject_.file;
    out_.pack_version = pack_.version;
    out_.pack_digest = pack_.digest;
    out_.requirements = pack_.requirements;
    out_.cases = pack_.cases;
    for (const Planned& each : plan()) {
      REMIT_TRY(run_one(each));
      if (options_.on_trial) options_.on_trial(out_.trials.back());
    }
    harness_.reset();
    take_late_effects();
    doubt_what_no_control_shows();
    apply_known_failures();
    tell_scope();
    settle();
    return std::move(out_);
  }

 private:
  // What was asked for, and the controls of its routes.
  [[nodiscard]] std::vector<Planned> plan() const {
    std::vector<Planned> out;
    std::set<std::string> routes;
    for (const Case& one : pack_.cases) {
      for (const std::string& route : one.routes) {
        if (is_wanted(one, route)) routes.insert(route);
      }
    }
    for (const Case& one : pack_.cases) {
      for (const std::string& route : one.routes) {
        const bool wanted = is_wanted(one, route);
        if (wanted || (one.is_control && routes.contains(route))) {
          out.push_back({&one, route, !wanted});
        }
      }
    }
    return out;
  }

  [[nodiscard]] bool is_wanted(const Case& one, const std::string& route) const {
    const auto& routes = options_.routes.empty() ? subject_.routes : options_.routes;
    if (!contains(routes, route)) return false;
    if (!options_.cases.empty() && !contains(options_.cases, one.id)) return false;
    const std::vector<std::string> needs = needs_of_subject(subject_, one);
    return std::none_of(needs.begin(), needs.end(), [&](const std::string& need) {
      return contains(subject_.without, need) || why_not(subject_, need) != nullptr;
    });
  }

  Status run_one(const Planned& planned) {
    TrialResult& trial = out_.trials.emplace_back();
    trial.case_id = planned.of->id;
    trial.route = planned.route;
    trial.is_added = planned.is_added;
    if (faults_in_a_row_ >= kMaxHarnessFaultsInARow) {
      trial.fault = fmt::format("not run: the harness failed {} times in a row", faults_in_a_row_);
      return {};
    }
    if (!harness_) {
      Result<std::unique_ptr<Harness>> started = start_harness(subject_, spy_, harness_world_);
      if (!started) return fail(trial, started.error(), {});
      harness_ = std::move(*started);
      if (!harness_->hello().subject.empty()) out_.subject = harness_->hello().subject;
      out_.subject_version = harness_->hello().version;
      out_.offered_faults = harness_->hello().faults;
    }
    if (std::optional<Mismatch> missing = missing_prerequisite(planned)) {
      trial.verdict = Verdict::kFailed;
      trial.mismatches.push_back(std::move(*missing));
      return {};
    }
    const std::string token =
        fmt::format("{}-{}", out_.trials.size() - 1, random_id(world_.random));
    owners_.add(token, out_.trials.size() - 1);
    const TrialOrder order{planned.of, planned.route, token, options_.fault};
    Result<Observation> seen = carry_out(order, *harness_, spy_);
    if (!seen) return fail(trial, seen.error(), token);
    faults_in_a_row_ = 0;
    seen->effects = own_effects(token, std::move(seen->effects));
    REMIT_TRY_ASSIGN(Judgement judgement, judge(*planned.of, planned.route, *seen, world_.files));
    trial.verdicts = judgement.verdicts;
    if (options_.keep) {
      trial.kept = options_.keep(
          {trial.case_id, trial.route, seen->events, judgement.spy_events, judgement.manifest});
    }
    for (Mismatch& each : judgement.mismatches) trial.mismatches.push_back(std::move(each));
    trial.verdict = trial.mismatches.empty() ? Verdict::kPassed : Verdict::kFailed;
    return {};
  }

  // A driver that failed is not trusted with the next trial. One that says so itself costs no
  // deadline and may say so as often as it likes.
  Status fail(TrialResult& trial, const Error& error, const std::string& token) {
    trial.verdict = Verdict::kFault;
    trial.fault = error.to_string();
    if (error.code != ErrorCode::kFailedPrecondition) ++faults_in_a_row_;
    harness_.reset();
    owners_.disregard(token);
    take_late_effects();
    return {};
  }

  [[nodiscard]] std::string_view whose() const { return subject_.executor ? "subject" : "driver"; }

  [[nodiscard]] std::optional<Mismatch> missing_prerequisite(const Planned& planned) const {
    const Hello& hello = harness_->hello();
    if (!contains(hello.routes, planned.route)) {
      const bool is_clients = std::find(kClientRoutes.begin(), kClientRoutes.end(),
                                        planned.route) != kClientRoutes.end();
      return Mismatch{
          "missing_route", "",
          fmt::format(
              "the {} does not offer the route {}{}", whose(), planned.route,
              subject_.executor && !is_clients ? ": no client reaches it by a request" : "")};
    }
    for (const std::string& need : needs_of_subject(subject_, *planned.of)) {
      if (contains(hello.offers, need)) continue;
      return Mismatch{"missing_step", "",
                      is_caller_of(*planned.of, need)
                          ? fmt::format("the subject names no caller {} under 'callers'", need)
                          : fmt::format("the {} does not offer {}", whose(), need)};
    }
    return std::nullopt;
  }

  // An effect that comes after its trial was over still belongs to it.
  std::vector<Effect> own_effects(const std::string& token, std::vector<Effect> effects) {
    return owners_.own(token, std::move(effects), out_.trials.size() - 1,
                       [&](std::size_t index, Mismatch how) {
                         TrialResult& trial = out_.trials[index];
                         trial.mismatches.push_back(std::move(how));
                         if (trial.verdict != Verdict::kFault) trial.verdict = Verdict::kFailed;
                       });
  }

  void take_late_effects() {
    spy_.serve();
    static_cast<void>(spy_.take_fault());
    std::vector<Effect> late = spy_.take_effects();
    if (!out_.trials.empty()) static_cast<void>(own_effects("", std::move(late)));
  }

  // Without a control that passed, silence of the spy may mean that nobody wired it.
  void doubt_what_no_control_shows() {
    std::set<std::string> shown;
    for (const TrialResult& trial : out_.trials) {
      if (trial.verdict == Verdict::kPassed && out_.case_of(trial).is_control) {
        shown.insert(trial.route);
      }
    }
    for (TrialResult& trial : out_.trials) {
      if (trial.verdict == Verdict::kPassed && !shown.contains(trial.route)) {
        trial.verdict = Verdict::kUnproven;
      }
    }
  }

  void apply_known_failures() {
    if (!options_.known) return;
    out_.known_file = options_.known->file;
    for (const KnownFailure& known : options_.known->entries) {
      for (TrialResult& trial : out_.trials) {
        if (trial.case_id != known.case_id || trial.route != known.route) continue;
        if (trial.verdict == Verdict::kFailed) trial.verdict = Verdict::kKnown;
        if (trial.verdict == Verdict::kPassed) out_.stale.push_back(known);
      }
    }
  }

  void tell_scope() {
    const auto& routes = options_.routes.empty() ? subject_.routes : options_.routes;
    for (const std::string_view route : kRoutes) {
      if (!contains(routes, route)) out_.unexercised_routes.emplace_back(route);
    }
    if (!out_.unexercised_routes.empty()) {
      out_.scope.push_back(
          fmt::format("routes not exercised: {}", fmt::join(out_.unexercised_routes, ", ")));
    }
    if (!subject_.without.empty()) {
      out_.scope.push_back(fmt::format("abilities that the subject does not claim: {}",
                                       fmt::join(subject_.without, ", ")));
    }
    tell_reasons();
    tell_unexercised_cases();
    out_.scope.emplace_back(
        "what was exercised is what the cases say; each says what it does not prove");
  }

  // Cases that the subject cannot be asked, by what it cannot do.
  void tell_reasons() {
    if (!subject_.executor) return;
    const auto& routes = options_.routes.empty() ? subject_.routes : options_.routes;
    for (const auto& [word, reason] : subject_.executor->cannot) {
      std::vector<std::string> left;
      for (const Case& one : pack_.cases) {
        const bool is_on_route =
            std::any_of(one.routes.begin(), one.routes.end(),
                        [&](const std::string& route) { return contains(routes, route); });
        const bool is_asked = options_.cases.empty() || contains(options_.cases, one.id);
        if (is_on_route && is_asked && contains(needs_of(one), word)) left.push_back(one.id);
      }
      if (left.empty()) continue;
      out_.scope.push_back(fmt::format("not asked, for {}: {} ({})", quoted(word),
                                       fmt::join(left, ", "), quoted(reason, kMaxReasonShown)));
    }
  }

  // Which they are stands in the JSON: of forty, the few that were asked for are what one looks at.
  void tell_unexercised_cases() {
    for (const Case& one : pack_.cases) {
      const bool is_run = std::any_of(out_.trials.begin(), out_.trials.end(),
                                      [&](const auto& each) { return each.case_id == one.id; });
      if (!is_run) out_.unexercised_cases.push_back(one.id);
    }
    const std::size_t count = out_.unexercised_cases.size();
    if (count == 0) return;
    out_.scope.push_back(
        count <= kMaxCasesNamed
            ? fmt::format("cases not exercised: {}", fmt::join(out_.unexercised_cases, ", "))
            : fmt::format("cases not exercised: {} of {}, which the JSON report lists", count,
                          pack_.cases.size()));
  }

  void settle() {
    if (out_.count(Verdict::kFailed) > 0 || !out_.stale.empty()) {
      out_.exit_code = 1;
    } else if (out_.trials.empty() || out_.count(Verdict::kFault) > 0 ||
               out_.count(Verdict::kUnproven) > 0) {
      out_.exit_code = 2;
    } else {
      out_.exit_code = 0;
    }
  }

  const Pack& pack_;
  const Subject& subject_;
  const RunOptions& options_;
  const RunWorld& world_;
  const HarnessWorld harness_world_;
  Spy spy_;
  std::unique_ptr<Harness> harness_;
  std::size_t faults_in_a_row_ = 0;
  EffectOwners owners_;
  Run out_;
};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFault:
      return "harness fault";
    case Verdict::kUnproven:
      return "unproven";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kKnown:
      return "known failure";
    case Verdict::kPassed:
      return "passed";
  }
  return "harness fault";
}

std::size_t Run::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(trials.begin(), trials.end(),
                    [&](const TrialResult& trial) { return trial.verdict == verdict; }));
}

const Case& Run::case_of(const TrialResult& trial) const {
  return *std::find_if(cases.begin(), cases.end(),
                       [&](const Case& each) { return each.id == trial.case_id; });
}

Result<Run> run_pack(const Pack& pack, const Subject& subject, const RunOptions& options,
                     const RunWorld& world) {
  REMIT_TRY_ASSIGN(Spy spy, Spy::open(world.scratch_directory, world.random));
  return Runner(pack, subject, options, world, std::move(spy)).run();
}

}  // namespace remit::conformance
