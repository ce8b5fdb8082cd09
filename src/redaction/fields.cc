// Keys against forbidden names.
#include "redaction/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"
#include "event/names.h"
#include "redaction/fold.h"
#include "redaction/layers.h"
#include "redaction/strings.h"

namespace remit::redaction {

Result<FieldRules> FieldRules::make(std::vector<std::string> names) {
  if (names.size() > kMaxForbiddenFields) {
    return Error{ErrorCode::kLimitExceeded,
                 fmt::format("more than {} forbidden fields", kMaxForbiddenFields)};
  }
  FieldRules out;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const auto refused = [&](const char* what) {
      return Error{ErrorCode::kInvalidInput, fmt::format("{}: {}", quoted(name), what)};
    };
    if (name.empty()) return refused("an empty name forbids nothing");
    Entry entry{folded(name), name.back() == '*'};
    if (!seen.insert(entry.name).second) return refused("the name is given twice");
    if (entry.is_prefix) entry.name.pop_back();
    if (entry.name.find('*') != std::string::npos) {
      return refused("a * stands at the end of a name only");
    }
    if (!entry.is_prefix) {
      if (const auto field = event::parse_field(entry.name)) out.known_.push_back(*field);
    }
    out.entries_.push_back(std::move(entry));
  }
  out.names_ = std::move(names);
  return out;
}

bool FieldRules::concern(const event::Event& event) const {
  if (empty()) return false;
  return event.ignored_fields > 0 ||
         std::any_of(known_.begin(), known_.end(),
                     [&](event::Field field) { return event.has(field); });
}

bool FieldRules::fits(const Entry& entry, std::string_view key, bool is_listed) {
  if (!entry.is_prefix) return equal_folded(entry.name, key);
  return !is_listed && equal_folded(entry.name, key.substr(0, entry.name.size()));
}

void FieldRules::find(std::string_view line, std::string& buffer,
                      std::vector<ForbiddenField>& out) const {
  const std::size_t before = out.size();
  for_each_string(line, [&](const StringPlace& place) {
    if (!place.is_key) return;
    std::string_view key = line.substr(place.begin, place.end - place.begin);
    if (key.find('\\') != std::string_view::npos) {
      resolve(key, Layer::kJson, buffer);
      key = buffer;
    }
    const bool is_listed = place.depth <= 1 && event::kKeys.find(key) != event::kKeys.kNone;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      if (!fits(entries_[i], key, is_listed)) continue;
      const auto known = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                                      [&](const ForbiddenField& one) { return one.entry == i; });
      if (known != out.end()) {
        ++known->count;
      } else {
        out.push_back({i, place.begin, 1});
      }
    }
  });
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
            [](const auto& left, const auto& right) { return left.entry < right.entry; });
}

}  // namespace remit::redaction
