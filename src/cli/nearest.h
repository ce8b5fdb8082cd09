// The known word that a mistyped one was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace remit::cli {

/// `; did you mean WORD?` with the known word that is as near as `nearest_word` wants it, the first
/// of several; empty where none is that near.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace remit::cli
