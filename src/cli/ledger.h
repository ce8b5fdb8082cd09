// The commands of `remit ledger`.
#pragma once

#include <vector>

#include "cli/command.h"

namespace remit::cli {

/// Their rows in the table of commands, in the order of help texts.
std::vector<Command> ledger_commands();

}  // namespace remit::cli
