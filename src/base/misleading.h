// Characters that must not be shown as they are.
#pragma once

#include <string_view>

namespace remit {

/// Whether text that shows this character could be taken for something that it does not say:
/// controls, of terminals too, ends of lines, what turns the direction of the text around it, and
/// what is not seen at all, so that two texts look alike.
bool misleads(char32_t point);

/// The character of one well-formed UTF-8 sequence, see `utf8_sequence_length`.
char32_t code_point(std::string_view sequence);

}  // namespace remit
