// Numbers of things in words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "grading/contract.h"

namespace remit::grading {

/// `1 start`, `2 starts`.
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number).append(" ").append(number == 1 ? one : many);
}

/// `1 start`, `1 start or more`, `at most 3 starts`, `2 to 3 starts`, `any number of starts`.
inline std::string bounds_text(const Bounds& bounds, std::string_view one, std::string_view many) {
  if (bounds.is_any()) return std::string("any number of ").append(many);
  if (!bounds.at_most) return counted(bounds.at_least, one, many) + " or more";
  if (bounds.at_least == *bounds.at_most) return counted(bounds.at_least, one, many);
  if (bounds.at_least == 0) return "at most " + counted(*bounds.at_most, one, many);
  return std::to_string(bounds.at_least) + " to " + counted(*bounds.at_most, one, many);
}

/// The name of what is counted.
struct Noun {
  std::string_view one, many;

  [[nodiscard]] std::string counted(std::uint64_t number) const {
    return grading::counted(number, one, many);
  }
  [[nodiscard]] std::string bounds(const Bounds& bounds) const {
    return bounds_text(bounds, one, many);
  }
};

}  // namespace remit::grading
