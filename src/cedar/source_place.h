// From a byte offset in a text to the line and column that people count.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace remit::cedar {

/// `file:LINE:COLUMN` of the byte at `offset`, both from 1, the column in characters. An offset
/// past the end is the end.
std::string place_in(std::string_view file, std::string_view text, std::size_t offset);

}  // namespace remit::cedar
