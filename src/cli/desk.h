// What the commands over the ledger share: how it is found, how its contents are shown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/world.h"
#include "ledger/desk.h"

namespace remit::cli {

/// The ledger that `--config` names. Null after a complaint; then `exit_code` is what to end with.
std::unique_ptr<ledger::Desk> open_desk(const Arguments& arguments, World& world, int& exit_code);

/// Complains, and says what to end with (docs/exit-codes.md): a command line that cannot be meant,
/// an answer that is no, a store that is away.
int refuse(World& world, const Error& error);

/// `--config`, `--format`, and who answers for a change.
Flag config_flag();
Flag list_format_flag();
Flag by_flag();
Flag reason_flag();

/// Outside text in full, in quotes, made fit for a terminal.
std::string in_full(std::string_view text);
/// The same as it is, for text that stands on a line of its own: only what cannot be seen is
/// escaped, so that what somebody answers for reads as it is.
std::string as_it_is(std::string_view text);

/// The one of `ids` that is `given` or, unless one is, that begins with it; `given` where none or
/// several do, and where it is too short to be meant.
std::string full_id(std::string_view given, const std::vector<std::string>& ids);

/// `TIME`, or `-` for none.
std::string time_text(std::optional<WallTime> time);

}  // namespace remit::cli
