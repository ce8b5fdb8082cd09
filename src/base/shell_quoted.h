// Words for a shell's line.
#pragma once

#include <string>
#include <string_view>

namespace remit {

/// `text` in single quotes, as POSIX shells, zsh and fish take it for one word, whatever it holds.
std::string shell_quoted(std::string_view text);

}  // namespace remit
