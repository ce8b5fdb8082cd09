// remit replay: recorded runs through the boundary of a configuration.
#include "replay/replay.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/rfc3339.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/replay.h"
#include "gateway/config.h"
#include "process/file_descriptor.h"
#include "replay/callers.h"
#include "replay/recorded_runs.h"
#include "replay/report.h"
#include "trace/run_sources.h"

namespace remit::cli {
namespace {

int refuse_all(World& world, const std::vector<Error>& problems, int exit_code) {
  for (const Error& problem : problems) complain(world, problem);
  return exit_code;
}

int refuse(World& world, const Error& problem, int exit_code) {
  complain(world, problem);
  return exit_code;
}

/// The runs of all files, those that `--only` names where it is given.
Result<std::vector<replay::RecordedRun>> read_all(const Arguments& arguments, World& world) {
  std::vector<trace::Input> inputs;
  for (const std::string& path : arguments.positionals()) {
    inputs.push_back(trace::Input::of_file(path));
    inputs.back().form = form_of(arguments);
  }
  trace::tell_runs_apart(inputs);
  const std::vector<std::string> only = arguments.values("--only");
  std::set<std::string> seen;
  std::vector<replay::RecordedRun> out;
  for (const trace::Input& input : inputs) {
    REMIT_TRY_ASSIGN(std::vector<replay::RecordedRun> runs, replay::read_runs(world.files, input));
    for (replay::RecordedRun& run : runs) {
      if (!seen.insert(run.id).second) {
        return Error{ErrorCode::kInvalidInput, "two runs have the id " + quoted(run.id),
                     input.name};
      }
      if (only.empty() || std::find(only.begin(), only.end(), run.id) != only.end()) {
        out.push_back(std::move(run));
      }
    }
  }
  for (const std::string& id : only) {
    if (seen.contains(id)) continue;
    return Error{ErrorCode::kInvalidInput, "no input has the run " + quoted(id), "--only"};
  }
  return out;
}

/// Everybody who calls, or everything that is wrong with the file, a run that it does not name
/// among it: a caller is never guessed.
replay::CallersOutcome read_callers(const Arguments& arguments, World& world,
                                    const std::vector<replay::RecordedRun>& runs) {
  const std::string file = arguments.value("--callers");
  const Result<std::string> text = world.files.read(file, kMaxConfigBytes);
  if (!text) return {{}, {text.error()}};
  replay::CallersOutcome out = replay::parse_callers(*text, file);
  if (!out.callers) return out;
  for (const replay::RecordedRun& run : runs) {
    if (out.callers->contains(run.id)) continue;
    out.problems.push_back(
        {ErrorCode::kInvalidInput, "it does not say who calls in the run " + quoted(run.id), file});
    if (out.problems.size() == kMaxProblems) break;
  }
  if (!out.problems.empty()) out.callers.reset();
  return out;
}

/// How far it has come, on one line of a terminal that is gone at the end. Errors of the output are
/// passed over: the report matters, the line does not.
class RunLine {
 public:
  RunLine(World& world, std::size_t runs) : world_(world), runs_(runs) {}
  ~RunLine() { draw(""); }
  RunLine(const RunLine&) = delete;
  RunLine& operator=(const RunLine&) = delete;
  void begin_next() { draw(fmt::format("run {} of {}", ++begun_, runs_)); }

 private:
  void draw(const std::string& text) {
    if (world_.err_columns > 0) static_cast<void>(world_.err.write("\r\x1b[K" + text));
  }

  World& world_;
  const std::size_t runs_;
  std::size_t begun_ = 0;
};

/// Makes the calls of all runs. Errors: the first that ends a run.
Status replay_all(World& world, const std::vector<replay::RecordedRun>& runs,
                  const replay::Callers& callers, const gateway::Config& config,
                  const replay::Plan& plan, replay::Report& report) {
  RunLine line(world, runs.size());
  for (const replay::RecordedRun& run : runs) {
    line.begin_next();
    REMIT_TRY_ASSIGN(replay::ReplayedRun replayed,
                     replay::replay_run(run, callers.find(run.id)->second, config, plan,
                                        world.files, world.clock, world.random));
    report.runs.push_back(std::move(replayed));
  }
  return {};
}

/// The decisions of the record into the report. Errors: those of reading evidence, which is
/// verified first.
Status join_record(World& world, replay::Report& report) {
  REMIT_TRY_ASSIGN(grading::Evidence opened,
                   open_inputs(world, {report.evidence}, trace::Form::kAuto));
  replay::RecordedDecisions decisions;
  REMIT_TRY(for_each_event(
      world, opened.inputs,
      [&](const event::Event& event, const trace::Line&) {
        decisions.take(event);
        return Status{};
      },
      [](const Error&) {}));
  for (replay::ReplayedRun& run : report.runs) report.unrecorded += decisions.join(run.calls);
  return {};
}

}  // namespace

int run_replay(const Arguments& arguments, World& world) {
  replay::Plan plan{.route = arguments.value("--route", "agent"),
                    .environment = arguments.value("--environment", "replay"),
                    .before = arguments.trailing()};
  replay::Report report;
  if (arguments.has("--at")) {
    const Result<WallTime> at = parse_rfc3339(arguments.value("--at"));
    if (!at) return refuse(world, in_place("--at", at.error()), kExitUsage);
    plan.at = *at;
    report.at = format_rfc3339(*at);
    complain(world, {ErrorCode::kFailedPrecondition,
                     "the clock is set: policies and evidence see each run begin at " + report.at,
                     "--at"});
  }
  const auto runs = read_all(arguments, world);
  if (!runs) return refuse(world, runs.error(), kExitBadInput);
  const replay::CallersOutcome callers = read_callers(arguments, world, *runs);
  if (!callers.callers) return refuse_all(world, callers.problems, kExitUsage);
  const gateway::ConfigOutcome read =
      gateway::read_config(world.files, arguments.value("--config"));
  if (!read.config) return refuse_all(world, read.problems, kExitBadInput);
  report.evidence = read.config->evidence.directory;
  process::ignore_broken_pipes();
  const Status replayed = replay_all(world, *runs, *callers.callers, *read.config, plan, report);
  if (!replayed) return refuse(world, replayed.error(), kExitBadInput);
  if (!report.runs.empty()) {
    const Status joined = join_record(world, report);
    if (!joined) return refuse(world, joined.error(), kExitBadInput);
  }
  int exit_code = replay::calls_of(report) == 0 ? kExitUndetermined : kExitOk;
  if (report.unrecorded > 0) exit_code = kExitFailed;
  const bool is_json = arguments.value("--format", "text") == "json";
  return print(
      world,
      is_json ? replay::report_json(report) : replay::report_text(report, arguments.has("--all")),
      exit_code);
}

std::vector<Command> replay_commands() {
  return {
      {.path = "replay",
       .summary = "Make the calls of recorded agent runs again, through the boundary",
       .description =
           "Reads recorded runs (OpenAI chats, AgentDojo, tau-bench) and makes their calls in "
           "order, each by the route and for the caller that the operator names and never for one "
           "that a call names: through the bundle, the trusted stores, the evidence log and the "
           "servers of a configuration, as `remit stdio` would. What is allowed is carried out, so "
           "that later calls meet the world that earlier ones made: give it a world of its own, "
           "never the real one. A call that is denied ends nothing.\n\n"
           "Behind -- stands a command that makes the world anew; it runs before each run, in the "
           "configuration's directory, without a shell. Servers are started anew for each run "
           "too.\n\n"
           "Printed is what was denied and why, as the evidence has it, for each run and over all. "
           "The evidence is that of any gateway, with the run's id, and `remit grade` grades "
           "it.\n\n"
           "Exit code 0: all calls were made, whatever was decided. 1: the record lacks a "
           "decision. "
           "2: there was no call.",
       .flags = {{.name = "--config",
                  .value_name = "FILE",
                  .help = "the configuration, remit.config/1",
                  .required = true},
                 {.name = "--callers",
                  .value_name = "FILE",
                  .help = "who calls in each run, remit.callers/1",
                  .required = true},
                 {.name = "--route",
                  .value_name = "NAME",
                  .help = "the route by which calls come, agent by default"},
                 {.name = "--at",
                  .value_name = "TIME",
                  .help = "set the clock: each run begins at this time, as policies and evidence "
                          "see it (2024-05-15T20:00:00Z)"},
                 {.name = "--only",
                  .value_name = "RUN",
                  .help = "only the run of this id",
                  .repeatable = true},
                 {.name = "--environment",
                  .value_name = "NAME",
                  .help = "the environment to record with each run, replay by default"},
                 {.name = "--input-format",
                  .value_name = "FORM",
                  .help = "what the files hold, where their beginning does not tell",
                  .choices = {"auto", "openai-chat", "agentdojo", "tau-bench"}},
                 {.name = "--format",
                  .value_name = "FORMAT",
                  .help = "what to print",
                  .choices = {"text", "json"}},
                 {.name = "--all", .help = "list every call, not only those that were denied"}},
       .positionals = {{.name = "RUNS", .help = "files of recorded runs", .repeatable = true}},
       .trailing = "the command before each run",
       .examples = {{"remit replay --config remit.yaml --callers callers.yaml runs.json -- cp "
                     "fresh.db airline.db",
                     "what a policy would have said of runs that are on file"}},
       .run = run_replay}};
}

}  // namespace remit::cli
