// Distances between words, for a hint behind an error.
#include "cli/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace remit::cli {
namespace {

// Levenshtein distance; words are short.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t change = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, change});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = 3;  // further away than two edits is no help
  for (const std::string_view candidate : known) {
    const std::size_t edits = distance(word, candidate);
    if (edits < best_distance && edits < candidate.size()) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

}  // namespace remit::cli
