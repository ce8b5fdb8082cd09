// What outside text may look like in an event: a plain name, a bounded text, or its digest.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"

namespace remit::enforcement {

/// Whether `text` is 1 to 64 bytes of `A-Z a-z 0-9 _ . / : -` (REQ-EV-035).
bool is_plain_name(std::string_view text);

/// A planner's name as an event may carry it: itself if plain, else its digest. Empty stays empty.
std::string recorded_name(std::string_view text, const DigestKey& key);

/// Text of a launcher, a credential or a trusted store as an event may carry it: itself if it is
/// well-formed UTF-8 of at most kMaxIdBytes without control characters, else its digest. Empty
/// stays empty.
std::string recorded_text(std::string_view text, const DigestKey& key);

/// Whether `text` is what `recorded_text` leaves as it is, and not empty.
bool is_bounded_text(std::string_view text);

/// `text` if it is `digits` lower-case hexadecimal digits (W3C trace context), else nothing.
std::string_view recorded_hex(std::string_view text, std::size_t digits);

}  // namespace remit::enforcement
