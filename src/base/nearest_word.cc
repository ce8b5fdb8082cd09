// Distances between words, for a hint behind an error.
#include "base/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace remit {
namespace {

// A word that is further away is no help. In a long one another ending is still no other word.
constexpr std::size_t kMostEdits = 2;
constexpr std::size_t kMostEditsOfLong = 3;
constexpr std::size_t kLong = 12;

std::size_t most_edits(std::string_view candidate) {
  return candidate.size() >= kLong ? kMostEditsOfLong : kMostEdits;
}

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

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = kMostEditsOfLong + 1;
  for (const std::string_view candidate : known) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t most = most_edits(candidate);
    if (longer - std::min(word.size(), candidate.size()) > most) continue;
    const std::size_t edits = distance(word, candidate);
    if (edits <= most && edits < best_distance && edits < candidate.size()) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word) {
  return word.empty() ? "" : fmt::format("; did you mean {}?", word);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  return did_you_mean(nearest_word(word, known));
}

}  // namespace remit
