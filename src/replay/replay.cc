// One recorded run: its world, its calls, its record.
#include "replay/replay.h"

#include <array>
#include <chrono>
#include <stop_token>
#include <string_view>
#include <utility>
#include <variant>

#include "gateway/launch.h"
#include "gateway/notices.h"
#include "gateway/queue_servers.h"
#include "gateway/world.h"
#include "process/child.h"

namespace remit::replay {
namespace {

using enforcement::CallOutcome;
using enforcement::Denial;
using enforcement::HandlerResult;

constexpr std::chrono::minutes kCommandDeadline{10};

Status run_command(const std::vector<std::string>& arguments, const std::string& directory) {
  if (arguments.empty()) return {};
  REMIT_TRY_ASSIGN(process::Child child,
                   process::Child::start(
                       {.arguments = arguments,
                        .environment = process::pick_environment(process::harmless_variables()),
                        .working_directory = directory,
                        .is_output_discarded = true}));
  child.input().close();
  const std::optional<process::ExitStatus> status = child.wait_for(kCommandDeadline);
  if (!status) {
    return Error{ErrorCode::kDeadlineExceeded, "the command before a run does not end",
                 quoted(arguments.front())};
  }
  if (status->signalled || status->code != 0) {
    return Error{ErrorCode::kUnavailable, "the command before a run " + status->to_string(),
                 quoted(arguments.front())};
  }
  return {};
}

/// The handler of one call: hands it on and keeps which invocation it is.
class Noted final : public enforcement::ToolHandler {
 public:
  explicit Noted(enforcement::ToolHandler& handler) : handler_(handler) {}
  HandlerResult run(const enforcement::GrantedCall& call) override {
    invocation_ = call.invocation_id();
    return handler_.run(call);
  }
  [[nodiscard]] const std::string& invocation() const { return invocation_; }

 private:
  enforcement::ToolHandler& handler_;
  std::string invocation_;
};

ReplayedCall denied_call(const RecordedCall& call, const Denial& denial) {
  return {.tool = call.tool, .invocation_id = denial.invocation_id, .denied = denial.reason};
}

ReplayedCall make_call(const RecordedCall& call, const RecordedRun& run, const Caller& caller,
                       const Plan& plan, gateway::World& world, gateway::QueueServers& servers) {
  const access::Credential credential = access::Credential::reference(caller.principal);
  if (!servers.is_offered(call.tool)) {
    return denied_call(call, world.point->refuse({.reason = access::ReasonCode::kUnknownTool,
                                                  .route = plan.route,
                                                  .tool = call.tool,
                                                  .credential = credential,
                                                  .run_id = run.id,
                                                  .case_id = run.case_id}));
  }
  Noted handler(servers);
  const CallOutcome outcome = world.point->invoke({.route = plan.route,
                                                   .credential = credential,
                                                   .tool = call.tool,
                                                   .arguments_json = call.arguments_json,
                                                   .run_id = run.id,
                                                   .case_id = run.case_id},
                                                  handler);
  if (const Denial* denial = std::get_if<Denial>(&outcome)) return denied_call(call, *denial);
  const auto& result = std::get<HandlerResult>(outcome);
  return {.tool = call.tool,
          .invocation_id = handler.invocation(),
          .outcome = result.outcome,
          .error_type = result.error_type};
}

Status make_calls(const RecordedRun& run, const Caller& caller, const gateway::Config& config,
                  const Plan& plan, const Clock& clock, gateway::World& world, ReplayedRun& out) {
  const gateway::Notices notices(plan.notice_fd);
  gateway::QueueServers servers({.policy = world.policy,
                                 .clock = clock,
                                 .notices = notices,
                                 .limits = config.limits,
                                 .patience = plan.patience});
  REMIT_TRY(servers.start(config.upstreams, config.directory));
  REMIT_TRY(servers.get_ready(std::stop_token()));
  for (const RecordedCall& call : run.calls) {
    REMIT_TRY(servers.is_ready());
    out.calls.push_back(make_call(call, run, caller, plan, world, servers));
  }
  return servers.is_ready();
}

}  // namespace

WallTime MovedClock::wall_now() const {
  return {begin_.unix_ns + (clock_.monotonic_now() - started_).count()};
}

Result<ReplayedRun> replay_run(const RecordedRun& run, const Caller& caller,
                               const gateway::Config& config, const Plan& plan, FileSystem& files,
                               const Clock& clock, Random& random) {
  REMIT_TRY(run_command(plan.before, config.directory));
  std::optional<MovedClock> moved;
  if (plan.at) moved.emplace(clock, *plan.at);
  const Clock& time = moved ? static_cast<const Clock&>(*moved) : clock;
  gateway::WorldOutcome assembled =
      assemble(config, std::array{std::string_view(plan.route)}, files, time, random);
  if (assembled.world == nullptr) return assembled.problems.front();
  gateway::World& world = *assembled.world;
  if (auto problems = world.identities->check(); !problems.empty()) return problems.front();
  REMIT_TRY_ASSIGN(const enforcement::RunFacts facts,
                   run_facts({.run_id = run.id, .environment = plan.environment}, world, files));
  REMIT_TRY(world.point->begin_run(facts));
  ReplayedRun out{.id = run.id, .case_id = run.case_id, .caller = caller, .calls = {}};
  const Status made = make_calls(run, caller, config, plan, time, world, out);
  // What was done stands in the log, which is closed however the calls ended.
  REMIT_TRY(world.point->end_run());
  REMIT_TRY(world.evidence->close());
  if (!made) return in_place("run " + quoted(run.id), made.error());
  return out;
}

}  // namespace remit::replay
