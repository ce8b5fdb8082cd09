// One pass over a statement's text.
#include "database/named_parameters.h"

#include <algorithm>
#include <cstddef>

namespace remit::database {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where what begins at `from` ends, if that is a quotation or a comment; else `from`.
std::size_t end_of_opaque(std::string_view text, std::size_t from) {
  const auto behind = [&](std::string_view mark, std::size_t start) {
    const std::size_t at = text.find(mark, start);
    return at == std::string_view::npos ? text.size() : at + mark.size();
  };
  const std::string_view rest = text.substr(from);
  if (rest.starts_with("'")) return behind("'", from + 1);
  if (rest.starts_with("\"")) return behind("\"", from + 1);
  if (rest.starts_with("--")) return behind("\n", from);
  if (rest.starts_with("/*")) return behind("*/", from + 2);
  if (rest.starts_with("::")) return from + 2;
  return from;
}

}  // namespace

NumberedStatement number_parameters(std::string_view statement) {
  NumberedStatement out;
  out.text.reserve(statement.size());
  for (std::size_t at = 0; at < statement.size();) {
    if (const std::size_t end = end_of_opaque(statement, at); end != at) {
      out.text += statement.substr(at, end - at);
      at = end;
      continue;
    }
    std::size_t end = at + 1;
    while (statement[at] == ':' && end < statement.size() && is_word(statement[end])) ++end;
    const std::string_view piece = statement.substr(at, end - at);
    at = end;
    if (piece.size() == 1) {
      out.text += piece;
      continue;
    }
    auto known = std::find(out.parameters.begin(), out.parameters.end(), piece);
    if (known == out.parameters.end()) {
      known = out.parameters.insert(known, std::string(piece));
    }
    out.text += "$" + std::to_string(known - out.parameters.begin() + 1);
  }
  return out;
}

}  // namespace remit::database
