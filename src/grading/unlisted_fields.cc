// Keys of lines that are no names of the event contract, and which name is near.
#include "grading/unlisted_fields.h"

#include <algorithm>

#include "base/nearest_word.h"
#include "event/names.h"
#include "redaction/strings.h"

namespace remit::grading {
namespace {

/// The listed field that a key may be meant for; empty for none. Of short words too many are near.
std::string_view field_meant_by(std::string_view key) {
  constexpr std::size_t kLongWord = 8;
  const std::size_t spelled = event::key_meant_by(key);
  if (spelled != event::kKeys.kNone) return event::kKeyNames[spelled];
  return key.size() < kLongWord ? std::string_view{} : nearest_word(key, event::kKeyNames);
}

}  // namespace

void UnlistedFields::note(const event::Event& event, std::string_view line) {
  if (event.ignored_fields == 0 || ++events_ > kLookedAtForFields) return;
  redaction::for_each_string(line, [&](const redaction::StringPlace& place) {
    if (!place.is_key || place.depth > 1) return;
    const std::string_view key = line.substr(place.begin, place.end - place.begin);
    if (event::kKeys.find(key) != event::kKeys.kNone) return;
    const std::string_view meant = field_meant_by(key);
    if (!meant.empty()) meant_.insert(meant);
  });
}

std::vector<std::string_view> UnlistedFields::meant() const {
  if (events_ > kLookedAtForFields) return {};
  std::vector<std::string_view> out(meant_.begin(), meant_.end());
  out.resize(std::min(out.size(), kTold));
  return out;
}

}  // namespace remit::grading
