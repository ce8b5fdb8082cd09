// Hints behind errors.
#include "cli/nearest.h"

#include <fmt/format.h>

#include "base/nearest_word.h"

namespace remit::cli {

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view best = nearest_word(word, known);
  return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

}  // namespace remit::cli
