// Fuzz target: base 64, hexadecimal, quoting and UTF-8 on any bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/utf8.h"

namespace {

// The same text in the alphabet of from_base64, padded.
std::string standard_base64(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '-' || c == '_') {
      c = c == '-' ? '+' : '/';
    } else if (c == '+' || c == '/' || c == '=') {
      c = ' ';
    }
  }
  return out.append((4 - out.size() % 4) % 4, '=');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = remit::from_base64(text)) REMIT_CHECK(remit::to_base64(*bytes) == text);
  REMIT_CHECK(remit::from_base64url(text) == remit::from_base64(standard_base64(text)));
  if (const auto bytes = remit::from_hex(text)) {
    REMIT_CHECK(remit::from_hex(remit::to_hex(*bytes)) == bytes);
  }
  REMIT_CHECK(remit::from_base64(remit::to_base64(remit::bytes_of(text)))->size() == size);
  REMIT_CHECK(!remit::first_invalid_utf8(remit::quoted(text, size)));
  if (const auto fault = remit::first_invalid_utf8(text)) {
    REMIT_CHECK(remit::utf8_sequence_length(text.substr(*fault)) == 0);
    REMIT_CHECK(!remit::first_invalid_utf8(text.substr(0, *fault)));
  }
  return 0;
}
