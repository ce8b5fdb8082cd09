// The fast reader of event lines as writers write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "event/event.h"
#include "event/key_order.h"
#include "event/thorough_reader.h"

namespace remit::event {

/// Whether a line has a backslash anywhere.
enum class Escapes : std::uint8_t { kNone, kSome };

/// Reads a line that has no control character, is well-formed UTF-8, has no escapes in its keys,
/// and spaces its members as common writers do (nothing, or one space behind `:` and `,`). True if
/// the line is an event, and `out`, which must be clear, is then what `ThoroughReader` would give.
/// False means "not me": `ThoroughReader` decides, and `out` is anything.
///
/// `quotes` holds the offsets of the quotation marks of `line` that are not escaped, and behind
/// them at least four entries of `line.size()`. Reads up to Decoder::kPadding bytes past the line.
/// Where there are escapes, the scratch's text is empty and has room for the line. `order` makes it
/// faster for lines like those before, and changes nothing else.
bool read_plain(std::string_view line, const std::uint32_t* quotes, Escapes escapes,
                KeyOrder& order, Scratch& scratch, Event& out);

}  // namespace remit::event
