// Cells of an answer whose kind the asker has stated in the table.
#pragma once

#include <cstdint>
#include <string>

#include "database/database.h"

namespace remit::database {

/// The text of a cell; empty for one that holds none.
std::string text_of(const Cell& cell);

/// The integer of a cell; 0 for one that holds none.
std::int64_t integer_of(const Cell& cell);

}  // namespace remit::database
