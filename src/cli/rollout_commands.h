// The commands of `remit rollout` and `remit routes`.
#pragma once

#include <vector>

#include "cli/command.h"

namespace remit::cli {

/// Their rows in the table of commands, in the order of help texts.
std::vector<Command> rollout_commands();

}  // namespace remit::cli
