// Files that are no evidence, known by what they begin with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace remit::trace {

/// A file's beginning is looked at so far; the first of the two is enough for most.
inline constexpr std::size_t kShortLookBytes = std::size_t{4} * 1024;
inline constexpr std::size_t kLongLookBytes = std::size_t{64} * 1024;

/// Whether a beginning shows a JSON object on its first line that is no document of ours: then
/// there is nothing to refuse, and no more to look at.
bool begins_with_whole_object(const std::string& head);

/// Why a file with this beginning is nothing that can be graded, by its first bytes or by the text
/// of its first lines, and what to do: another packing, another encoding, a table, a document of
/// Remit (REQ-IN-036). Nothing where it may be evidence.
std::optional<Error> wrong_kind(std::string_view head);

/// Why a file that shows the keys of no other form is no JSON Lines: an array, or a document over
/// several lines. `has_events` where the first object has the key `event`. `is_cut` where `head` is
/// not all of the file. Nothing where its lines may be events (REQ-IN-037).
std::optional<Error> wrong_layout(const std::string& head, bool has_events, bool is_cut);

}  // namespace remit::trace
