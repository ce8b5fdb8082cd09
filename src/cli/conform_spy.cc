// remit conform spy: the tool that executors have behind them while they are judged over MCP.
#include "cli/commands.h"
#include "conformance/spy_server.h"

namespace remit::cli {

int run_conform_spy(const Arguments& arguments, World& world) {
  const Result<conformance::SpyFacts> facts =
      conformance::read_spy_facts(world.files, arguments.positionals().front());
  if (!facts) {
    complain(world, facts.error());
    return kExitBadInput;
  }
  const Status served = conformance::serve_spy(*facts, world.input_fd, world.output_fd);
  if (served) return kExitOk;
  complain(world, served.error());
  return kExitCannotWrite;
}

}  // namespace remit::cli
