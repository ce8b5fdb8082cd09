// Case folding of keys, no more than an attack on a folding reader needs.
#include "mcp/protocol_key.h"

#include <algorithm>
#include <string>

namespace remit::mcp {
namespace {

constexpr std::string_view kLongS = "\xC5\xBF";       // U+017F folds to s
constexpr std::string_view kKelvin = "\xE2\x84\xAA";  // U+212A folds to k

std::string folded(std::string_view key) {
  std::string out;
  out.reserve(key.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::string_view rest = key.substr(i);
    if (rest.starts_with(kLongS)) {
      out += 's';
      i += kLongS.size() - 1;
    } else if (rest.starts_with(kKelvin)) {
      out += 'k';
      i += kKelvin.size() - 1;
    } else {
      const char byte = key[i];
      out += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
    }
  }
  return out;
}

}  // namespace

std::optional<std::string_view> disguised_key(const json::Object& object,
                                              std::initializer_list<std::string_view> keys) {
  for (const auto& [name, value] : object.members()) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    const std::string plain = folded(name);
    for (const std::string_view key : keys) {
      if (folded(key) == plain) return name;
    }
  }
  return std::nullopt;
}

}  // namespace remit::mcp
