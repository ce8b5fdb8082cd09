// REQ-RD-020 to REQ-RD-022: from what stands in lines to findings.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "naive_context.h"
#include "naive_redaction.h"

namespace remit::twin {
namespace {

constexpr std::size_t kTold = 100;  // REQ-RD-022

/// One of a canary or a field in a line, or in many lines.
struct Seen {
  NaiveSighting::Way way;
  const NaiveLook* look = nullptr;
  std::size_t lines = 1;
};

/// By invocation, kind and subject; the more equal lines come first.
using Group = std::tuple<std::string, std::string, std::string>;
using Groups = std::map<Group, std::vector<Seen>>;

NaiveSighting::Way told_way(const NaiveSighting& sighting, const NaiveLook& look,
                            const std::set<std::string>& told) {
  for (const NaiveSighting::Way& way : sighting.ways) {
    if (told.contains(look.place + ": " + way.what + " " + way.where)) return way;
  }
  return sighting.ways.front();
}

auto order_of(const Seen& seen) {
  return std::tie(seen.look->order, seen.way);
}

Groups groups_of(const Context& context, const std::set<std::string>& told) {
  Groups out;
  for (const NaiveLook& look : context.trace.looks) {
    const Searched searched = look.is_document ? Searched::kDocument : Searched::kLine;
    for (const NaiveSighting& sighting :
         sightings_in(look.text, context.criteria.redaction, searched)) {
      const Seen seen{told_way(sighting, look, told), &look};
      auto& group = out[{look.invocation, sighting.is_canary ? "canary_leak" : "field_not_allowed",
                         sighting.subject}];
      const auto same = std::find_if(group.begin(), group.end(), [&](const Seen& other) {
        return order_of(other) == order_of(seen);
      });
      if (same == group.end()) {
        group.push_back(seen);
      } else {
        ++same->lines;
        if (look.file < same->look->file) same->look = &look;
      }
    }
  }
  for (auto& [key, group] : out) {
    std::sort(group.begin(), group.end(),
              [](const Seen& left, const Seen& right) { return order_of(left) < order_of(right); });
  }
  return out;
}

/// The first of them one by one, and one for all others.
std::vector<Seen> bounded(const std::vector<Seen>& all, const std::string& subject) {
  std::vector<Seen> out(all.begin(),
                        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kTold)));
  if (all.size() <= kTold) return out;
  std::size_t lines = 0;
  for (std::size_t i = kTold; i < all.size(); ++i) lines += all[i].lines;
  out.push_back(
      {{subject, fmt::format("in {} from here on",
                             lines == 1 ? "1 more line" : fmt::format("{} more lines", lines))},
       all[kTold].look});
  return out;
}

}  // namespace

void judge_redaction(Context& context, const std::set<std::string>& told) {
  const auto find = [&](const std::string& code, const std::string& id, const Seen& seen) {
    add(context, code, id, saying(seen.way.what + " " + seen.way.where, {"", seen.way.what, {}}));
    context.findings.back().places = {seen.look->place};
  };
  std::map<std::pair<std::string, std::string>, std::vector<Seen>> of_no_call;
  for (const auto& [key, group] : groups_of(context, told)) {
    const auto& [id, code, subject] = key;
    if (!context.calls.contains(id)) {
      auto& all = of_no_call[{code, subject}];
      all.insert(all.end(), group.begin(), group.end());
      continue;
    }
    for (const Seen& seen : bounded(group, subject)) find(code, id, seen);
  }
  for (const auto& [key, group] : of_no_call) {
    for (const Seen& seen : bounded(group, key.second)) find(key.first, "", seen);
  }
}

}  // namespace remit::twin
