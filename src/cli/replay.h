// The command `remit replay`.
#pragma once

#include <vector>

#include "cli/command.h"

namespace remit::cli {

/// Its row in the table of commands.
std::vector<Command> replay_commands();

}  // namespace remit::cli
