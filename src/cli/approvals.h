// The commands of `remit approvals`.
#pragma once

#include <vector>

#include "cli/command.h"

namespace remit::cli {

/// Their rows in the table of commands, in the order of help texts.
std::vector<Command> approval_commands();

}  // namespace remit::cli
