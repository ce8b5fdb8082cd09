// Keys that a careless reader would take for one of the protocol's.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace remit::mcp {

/// The first key of `object` that is not in `keys` but equals one of them when case is folded as
/// common JSON readers fold it: ASCII letters, and the two other characters whose simple folding is
/// an ASCII letter (U+017F, U+212A). Nothing if there is none.
std::optional<std::string_view> disguised_key(const json::Object& object,
                                              std::initializer_list<std::string_view> keys);

}  // namespace remit::mcp
