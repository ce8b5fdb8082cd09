// `remit stdio`: the boundary between one MCP client and the servers of a configuration.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "gateway/patience.h"

namespace remit::gateway {

/// What the launcher of one run says. None of it comes from a message, which an agent could have
/// written.
struct StdioRun {
  std::string config_file;
  std::string run_id = {};         ///< evaluation run; empty: none
  std::string case_id = {};        ///< case of the run; empty: none
  std::string manifest_file = {};  ///< its digest is recorded with the run; empty: none
  std::string environment = {};    ///< recorded with the run; empty: the bundle's
  std::string route = "agent";     ///< name in the bundle's route inventory
  int input_fd = 0;                ///< messages of the client
  int output_fd = 1;               ///< messages to the client
  int notice_fd = 2;               ///< lines for the operator
  Patience patience = {};          ///< with peers
};

/// Serves until the client closes `input_fd` or SIGTERM, SIGINT or SIGHUP comes; then calls in
/// flight get a bounded time to finish, the end of the run is recorded and the servers are stopped.
/// Returns what was wrong: with the configuration, the bundle, the manifest or the stores, before
/// anything was served; or with the evidence log at the end. Empty after an orderly end. Blocks;
/// uses threads of its own; takes the three signals for this process while it runs. Nothing it is
/// given is closed.
std::vector<Error> run_stdio(const StdioRun& run, FileSystem& files, const Clock& clock,
                             Random& random);

}  // namespace remit::gateway
