// Escapes that may stand around a canary, resolved leniently: this is for searching, not parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace remit::redaction {

/// Which escapes a text is freed of.
enum class Layer : std::uint8_t { kJson, kPercent };

/// Whether `text` has an escape of this kind.
bool has_escape(std::string_view text, Layer layer);

/// Writes `text` with its escapes of one kind resolved to `out`: for JSON the two-character ones
/// and `\uXXXX` in either case, pairs of surrogates joined; for percent `%XX` in either case. What
/// is no escape stays as it is, a lone surrogate too. `out` is never longer than `text`.
void resolve(std::string_view text, Layer layer, std::string& out);

/// The offset in `text` of what stands at `at` once escapes are resolved.
std::size_t offset_before(std::string_view text, Layer layer, std::size_t at);

}  // namespace remit::redaction
