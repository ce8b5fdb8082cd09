// The forms that a canary takes in a record: what is looked for, and how a find is named.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remit::redaction {

/// How a value was written. Escapes of JSON and percent escapes are layers around these.
enum class Encoding : std::uint8_t { kExact, kCaseFolded, kReversed, kBase64, kHex, kPercent };

/// How much of the value was found.
enum class Extent : std::uint8_t { kWhole, kSplit, kFirstHalf, kSecondHalf };

/// Escapes that were resolved before the value showed.
struct Layers {
  std::uint8_t json = 0;     ///< how often escapes of JSON
  std::uint8_t percent = 0;  ///< how often percent escapes

  friend bool operator==(const Layers&, const Layers&) = default;
};

/// The names of what is looked for, as spec/redaction.md lists them.
inline constexpr std::array<std::string_view, 10> kEncodingNames = {
    "exact",        "case_folded",         "reversed", "base64", "hex", "percent",
    "json_escapes", "doubly_escaped_json", "split",    "half"};

/// `base64`, `doubly_escaped_json`, `hex within percent, the first half` and so on.
std::string encoding_words(Encoding encoding, Layers layers, Extent extent);

/// A value in one encoding as it would stand in a text. Its halves are parts of `text`: bytes
/// [0, first_end) and [second_begin, size).
struct Form {
  Encoding encoding = Encoding::kExact;
  bool any_case = false;  ///< upper and lower case are the same
  std::string text;
  std::size_t first_end = 0;
  std::size_t second_begin = 0;
};

/// All forms of `value`, which has at least kMinCanaryBytes; no two have the same text. Base 64 is
/// cut to the characters that the value alone determines, for each of the three places that it can
/// have in a group of three bytes.
std::vector<Form> forms_of(std::string_view value);

}  // namespace remit::redaction
