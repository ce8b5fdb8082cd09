// One run of the stdio gateway, from its configuration to the end of its evidence.
#include "gateway/run_stdio.h"

#include <array>
#include <string_view>
#include <utility>

#include "gateway/config.h"
#include "gateway/launch.h"
#include "gateway/notices.h"
#include "gateway/stdio_gateway.h"
#include "gateway/world.h"
#include "process/file_descriptor.h"

namespace remit::gateway {
namespace {

std::vector<Error> one(Error error) {
  return {std::move(error)};
}

std::string scopes_from(const Config& config) {
  const bool is_by_token = config.jwt && !config.jwt->rules.scopes.claim.empty();
  return is_by_token ? "the token, " + quoted(config.jwt->rules.scopes.claim)
                     : "the configuration, identity";
}

// A token that is no good is told at the start: the client's first call may come much later.
void announce_caller(const Config& config, const Identities& identities, const Clock& clock,
                     const Notices& notices) {
  if (!config.jwt) return;
  const identity::Identity caller =
      identities.authenticator().authenticate(access::Credential::local(), clock.wall_now());
  if (caller.principal) return;
  notices.say("calls are denied for the token in " + quoted(config.jwt->token_from_env) + ": " +
              std::string(access::principal_state_name(caller.state)) + ": " + caller.detail);
}

// The session, then the end of the log, then the servers: their grace must not keep the log open
// for a client that kills us once its own patience is over. What could not be recorded is a problem
// of the run.
std::vector<Error> serve_run(const StdioRun& run, const Config& config,
                             const process::TerminationSignals& signals, const Notices& notices,
                             const enforcement::RunFacts& facts, const Clock& clock, World& world) {
  std::vector<Error> problems;
  {
    StdioGateway gateway({.point = *world.point,
                          .policy = world.policy,
                          .clock = clock,
                          .notices = notices,
                          .limits = config.limits,
                          .route = run.route,
                          .run_id = run.run_id,
                          .case_id = run.case_id,
                          .patience = run.patience,
                          .scopes_from = scopes_from(config)},
                         run.output_fd);
    const Status started = gateway.start(config.upstreams, config.directory);
    if (!started) return one(started.error());
    const Status begun = world.point->begin_run(facts);
    if (!begun) return one(begun.error());
    gateway.serve(run.input_fd, signals);
    const Status ended = world.point->end_run();
    if (!ended) problems.push_back(ended.error());
    // `serve` has waited for every call: nothing is recorded from here on.
    const Status closed = world.evidence->close();
    if (!closed) problems.push_back(closed.error());
  }
  return problems;
}

}  // namespace

std::vector<Error> run_stdio(const StdioRun& run, FileSystem& files, const Clock& clock,
                             Random& random) {
  const Launch launch{.run_id = run.run_id,
                      .case_id = run.case_id,
                      .manifest_file = run.manifest_file,
                      .environment = run.environment};
  if (auto problems = check_launch(launch); !problems.empty()) return problems;
  ConfigOutcome read = read_config(files, run.config_file);
  if (!read.config) return std::move(read.problems);
  const Config& config = *read.config;
  process::ignore_broken_pipes();
  // Before any thread is made, so that every one of them holds the signals back.
  const auto signals = process::TerminationSignals::take();
  if (!signals) return one(signals.error());
  WorldOutcome assembled =
      assemble(config, std::array{std::string_view(run.route)}, files, clock, random);
  if (assembled.world == nullptr) return std::move(assembled.problems);
  World& world = *assembled.world;
  const Notices notices(run.notice_fd);
  announce_recovery(*world.evidence, notices);
  announce_caller(config, *world.identities, clock, notices);
  const auto facts = run_facts(launch, world, files);
  if (!facts) return one(facts.error());

  return serve_run(run, config, *signals, notices, *facts, clock, world);
}

}  // namespace remit::gateway
