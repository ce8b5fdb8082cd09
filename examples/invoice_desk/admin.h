// The admin door: a command line for the people who run the desk.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "office.h"

namespace remit::examples {

/// Runs `TOOL [ARGUMENTS] [--key KEY]` for the one who has `badge` (empty: nobody), and writes what
/// that one is told. Exit codes: 0 done, 1 denied, 2 failed, 3 nobody knows, 64 usage.
int run_admin(Office& office, const std::vector<std::string>& words, const std::string& badge,
              std::ostream& out);

}  // namespace remit::examples
