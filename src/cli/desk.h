// What the commands over the ledger share: how it is found, how its contents are shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/world.h"
#include "ledger/desk.h"

namespace remit::cli {

/// The ledger that `--config` names. Null after a complaint; then `exit_code` is what to end with.
std::unique_ptr<ledger::Desk> open_desk(const Arguments& arguments, World& world, int& exit_code);

/// Complains, and says what to end with: the answer is no, or the store is away.
int refuse(World& world, const Error& error);

/// `--config`, `--format`, and who answers for a change.
Flag config_flag();
Flag list_format_flag();
Flag by_flag();
Flag reason_flag();

/// Outside text in full, made fit for a terminal.
std::string in_full(std::string_view text);

/// `TIME`, or `-` for none.
std::string time_text(std::optional<WallTime> time);

}  // namespace remit::cli
