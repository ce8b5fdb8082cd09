// The known word that a mistyped one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace remit {

/// The word of `known` that is at most two edits away from `word`, or three if it has twelve
/// letters or more, and nearest, the first of several; empty where none is that near. Words of
/// other lengths cost nothing.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// `; did you mean WORD?`, as it stands behind an error; empty for no word.
std::string did_you_mean(std::string_view word);
/// The same of the word of `known` that is nearest to `word`.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace remit
