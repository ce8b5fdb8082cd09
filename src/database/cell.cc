// Reading cells as what the asker stated them to be.
#include "database/cell.h"

#include <variant>

namespace remit::database {

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

std::int64_t integer_of(const Cell& cell) {
  const auto* integer = std::get_if<std::int64_t>(&cell);
  return integer == nullptr ? 0 : *integer;
}

}  // namespace remit::database
