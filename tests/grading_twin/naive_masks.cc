// Masks by looking for every canary in every text.
#include "naive_masks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace remit::twin {
namespace {

/// The name of the first canary that a text shows; empty for none.
std::string name_shown_by(const std::string& text, const NaiveRedaction& wanted) {
  for (const auto& canary : wanted.canaries) {
    if (!sightings_in(text, {{canary}, {}}).empty()) return canary.first;
  }
  return {};
}

}  // namespace

NaiveMasks::NaiveMasks(const NaiveRedaction& wanted, const std::set<std::string>& texts)
    : wanted_(wanted) {
  std::map<std::string, int> numbers;
  for (const std::string& text : texts) {
    const std::string name = name_shown_by(text, wanted);
    if (name.empty()) continue;
    do {
      masks_[text] = fmt::format("[canary {} #{}]", name, ++numbers[name]);
    } while (texts.contains(masks_[text]));
  }
}

std::string NaiveMasks::shown(const std::string& text) const {
  const auto found = masks_.find(text);
  return found == masks_.end() ? text : found->second;
}

std::string NaiveMasks::sentence(const std::string& text, const std::string& instead,
                                 const std::string& end) const {
  const std::string name = name_shown_by(text, wanted_);
  return name.empty() ? text : instead + quoted(name) + end;
}

}  // namespace remit::twin
