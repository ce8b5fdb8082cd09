// One run of the stdio gateway, from its configuration to the end of its evidence.
#include "gateway/run_stdio.h"

#include <utility>

#include "base/digest.h"
#include "gateway/config.h"
#include "gateway/notices.h"
#include "gateway/stdio_gateway.h"
#include "gateway/world.h"
#include "process/file_descriptor.h"

namespace remit::gateway {
namespace {

std::vector<Error> one(Error error) {
  return {std::move(error)};
}

std::vector<Error> check_ids(const StdioRun& run) {
  std::vector<Error> out;
  const auto check = [&](const std::string& value, const char* what) {
    if (value.size() <= kMaxIdBytes) return;
    out.push_back({ErrorCode::kLimitExceeded, std::string(what) + " has at most 256 bytes"});
  };
  check(run.run_id, "a run id");
  check(run.case_id, "a case id");
  check(run.environment, "an environment's name");
  return out;
}

Result<enforcement::RunFacts> run_facts(const StdioRun& run, const World& world,
                                        FileSystem& files) {
  enforcement::RunFacts facts{.run_id = run.run_id, .environment = run.environment};
  if (facts.environment.empty()) facts.environment = world.policy.get()->bundle->environment;
  if (!run.manifest_file.empty()) {
    REMIT_TRY_ASSIGN(const std::string manifest, files.read(run.manifest_file, kMaxConfigBytes));
    facts.manifest_digest = digest_text(sha256(manifest));
  }
  return facts;
}

void announce_recovery(const evidence::FileEvidenceLog& log, const Notices& notices) {
  for (const evidence::Recovered& recovered : log.recovered()) {
    std::string line = "evidence " + recovered.directory + " was left unclosed; ";
    if (recovered.error) {
      line += "it could not be recovered: " + recovered.error->to_string();
    } else if (recovered.damage) {
      line += "it is damaged and was left as it is: " + recovered.damage->to_string();
    } else {
      line += std::to_string(recovered.torn_bytes) + " torn bytes were cut from its end";
    }
    notices.say(line);
  }
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
                          .patience = run.patience},
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
  if (auto problems = check_ids(run); !problems.empty()) return problems;
  ConfigOutcome read = read_config(files, run.config_file);
  if (!read.config) return std::move(read.problems);
  const Config& config = *read.config;
  process::ignore_broken_pipes();
  // Before any thread is made, so that every one of them holds the signals back.
  const auto signals = process::TerminationSignals::take();
  if (!signals) return one(signals.error());
  WorldOutcome assembled = assemble(config, run.route, files, clock, random);
  if (assembled.world == nullptr) return std::move(assembled.problems);
  World& world = *assembled.world;
  const Notices notices(run.notice_fd);
  announce_recovery(*world.evidence, notices);
  const auto facts = run_facts(run, world, files);
  if (!facts) return one(facts.error());

  return serve_run(run, config, *signals, notices, *facts, clock, world);
}

}  // namespace remit::gateway
