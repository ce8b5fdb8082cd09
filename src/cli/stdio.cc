// remit stdio: the boundary as a stdio MCP proxy.
#include "cli/commands.h"
#include "gateway/run_stdio.h"

namespace remit::cli {

int run_stdio(const Arguments& arguments, World& world) {
  gateway::StdioRun run;
  run.config_file = arguments.value("--config");
  run.run_id = arguments.value("--run-id");
  run.case_id = arguments.value("--case-id");
  run.manifest_file = arguments.value("--manifest");
  run.environment = arguments.value("--environment");
  run.input_fd = world.input_fd;
  run.output_fd = world.output_fd;
  const std::vector<Error> problems =
      gateway::run_stdio(run, world.files, world.clock, world.random);
  for (const Error& problem : problems) complain(world, problem);
  return problems.empty() ? kExitOk : kExitBadInput;
}

}  // namespace remit::cli
