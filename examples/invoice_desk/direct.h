// The direct door: code in the desk's own process asks the boundary as a library.
#pragma once

#include <string>
#include <vector>

#include "office.h"

namespace remit::examples {

/// Asks like any other code of this process would.
Told ask_directly(Office& office, const Asked& asked);

/// What the invoices say, one after the other, for the one who has `badge`.
std::vector<Told> read_statement(Office& office, const std::string& badge,
                                 const std::vector<std::string>& invoices);

}  // namespace remit::examples
