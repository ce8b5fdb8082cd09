// The commands of deferred work.
#pragma once

#include <vector>

#include "cli/command.h"

namespace remit::cli {

/// `queue work`, `enqueue`, `list`, `show`, `requeue`.
std::vector<Command> queue_commands();

}  // namespace remit::cli
