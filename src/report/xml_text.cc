// Escaping for XML 1.0.
#include "report/xml_text.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace remit::report {
namespace {

// Jenkins reads XML 1.0, which has no way at all to write most control characters, and no U+FFFE
// and U+FFFF.
bool is_xml_character(std::string_view sequence) {
  if (sequence.size() == 1) {
    const auto byte = static_cast<unsigned char>(sequence[0]);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\n';
  }
  return sequence != "\xef\xbf\xbe" && sequence != "\xef\xbf\xbf";
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    if (length == 0 || !is_xml_character(sequence)) {
      for (const char byte : sequence) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (sequence == "&") {
      out += "&amp;";
    } else if (sequence == "<") {
      out += "&lt;";
    } else if (sequence == ">") {
      out += "&gt;";
    } else if (sequence == "\"") {
      out += "&quot;";
    } else if (sequence == "'") {
      out += "&apos;";
    } else {
      out += sequence;
    }
  }
  return out;
}

}  // namespace remit::report
