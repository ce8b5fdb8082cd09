// Searching events by what they record, where an absent fact agrees with any.
#include "grading/event_index.h"

#include <algorithm>

namespace remit::grading {
namespace {

/// Those of `kCallFacts` that agree where one side records nothing, by their bits.
constexpr std::array<Fact, 6> kFacts = {Fact::kTool,       Fact::kResourceType,
                                        Fact::kResourceId, Fact::kArgsDigest,
                                        Fact::kAction,     Fact::kResourceTenant};
constexpr std::size_t kFurtherPart = 6;
constexpr std::size_t kAttemptPart = 7;
constexpr std::array<unsigned, 3> kWords = {kAllowWord, kDenyWord, kOtherWord};
constexpr std::size_t kIdPart = 8;
constexpr std::size_t kWordPart = 9;

template <class Key>
unsigned recorded_facts(const Key& key) {
  unsigned out = 0;
  for (std::size_t i = 0; i < kIdPart; ++i) out |= key[i] != 0 ? 1U << i : 0U;
  return out;
}

// Negative, zero or positive as the parts of `left` stand before, equal or behind those of `right`.
template <class Key>
int compare(const Key& left, const Key& right, unsigned parts) {
  for (std::size_t i = 0; i < left.size(); ++i) {
    if ((parts >> i & 1U) == 0 || left[i] == right[i]) continue;
    return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace

Range range_of_writer(const RecordStore& store, const Events& events, std::uint32_t writer) {
  if (events.empty()) return {};
  if (events.front()->writer == writer && events.back()->writer == writer) {
    return {0, events.size()};  // as nearly always
  }
  const auto& writers = store.writers();
  const auto rank = writers[writer].rank;
  const auto from = std::partition_point(
      events.begin(), events.end(),
      [&](const EventRecord* event) { return writers[event->writer].rank < rank; });
  const auto to = std::partition_point(
      from, events.end(), [&](const EventRecord* event) { return event->writer == writer; });
  return {static_cast<std::size_t>(from - events.begin()),
          static_cast<std::size_t>(to - events.begin())};
}

void EventIndex::reset(const Events& events, bool expects_shadow) {
  events_ = &events;
  expects_shadow_ = expects_shadow;
  if (!is_built_) return;
  is_built_ = false;
  texts_.clear();
  keys_.clear();
  for (Table& positions : recording_) positions.clear();
  tables_.clear();
  firsts_.clear();
}

unsigned EventIndex::word_bit(const EventRecord& event) const {
  if (event.decision == DecisionWord::kAllow || (event.is_shadow && expects_shadow_)) {
    return kAllowWord;
  }
  return event.decision == DecisionWord::kDeny ? kDenyWord : kOtherWord;
}

bool EventIndex::agree_on_further(const EventRecord& event, const EventRecord& by) const {
  return !by.has(Fact::kFurtherResources) || store_.text(event.fact(Fact::kFurtherResources)) ==
                                                 store_.text(by.fact(Fact::kFurtherResources));
}

bool EventIndex::matches(const Sought& sought, const EventRecord& event) const {
  if ((sought.words & word_bit(event)) == 0) return false;
  if (sought.is_cited && store_.text(event.fact(Fact::kDecisionId)) !=
                             store_.text(sought.by->fact(Fact::kDecisionId))) {
    return false;
  }
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    const bool is_compared = (sought.facts >> i & 1U) != 0;
    if (is_compared && !store_.agree(event, *sought.by, kFacts[i])) return false;
  }
  if ((sought.facts & kAttemptFact) != 0 && event.number() != sought.by->number()) return false;
  return (sought.facts & kFurtherFact) == 0 || agree_on_further(event, *sought.by);
}

void EventIndex::build() {
  if (is_built_) return;
  is_built_ = true;
  for (const EventRecord* event : *events_) {
    for (const Fact fact :
         {Fact::kResourceId, Fact::kArgsDigest, Fact::kDecisionId, Fact::kFurtherResources}) {
      if (event->fact(fact) != 0) texts_.push_back(store_.text(event->fact(fact)));
    }
  }
  std::sort(texts_.begin(), texts_.end());
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
  for (const EventRecord* event : *events_) {
    Key key = key_of(*event);
    if (key[kFurtherPart] == 0) key[kFurtherPart] = kEmptyList;
    recording_[recorded_facts(key)].push_back(static_cast<std::uint32_t>(keys_.size()));
    keys_.push_back(key);
  }
}

std::uint32_t EventIndex::number_of(std::string_view text) const {
  const auto found = std::lower_bound(texts_.begin(), texts_.end(), text);
  if (found == texts_.end() || *found != text) return kUnheard;
  return static_cast<std::uint32_t>(found - texts_.begin()) + 1;
}

EventIndex::Key EventIndex::key_of(const EventRecord& event) const {
  const auto part = [&](Fact fact) {
    const Ref ref = event.fact(fact);
    return ref == 0 || is_interned(fact) ? ref : number_of(store_.text(ref));
  };
  Key key{};
  for (std::size_t i = 0; i < kFacts.size(); ++i) key[i] = part(kFacts[i]);
  key[kFurtherPart] = part(Fact::kFurtherResources);
  key[kAttemptPart] = static_cast<std::uint64_t>(event.number());
  key[kIdPart] = part(Fact::kDecisionId);
  key[kWordPart] = word_bit(event);
  return key;
}

const EventIndex::Table& EventIndex::table(unsigned recorded, unsigned parts) {
  const auto [found, is_new] = tables_.try_emplace(recorded << (kFactBits + 2) | parts);
  Table& out = found->second;
  if (!is_new) return out;
  out = recording_[recorded];
  std::sort(out.begin(), out.end(), [&](std::uint32_t left, std::uint32_t right) {
    const int order = compare(keys_[left], keys_[right], parts);
    return order != 0 ? order < 0 : left < right;
  });
  return out;
}

const std::vector<EventIndex::Firsts>& EventIndex::firsts(unsigned recorded, unsigned parts) {
  const auto [found, is_new] = firsts_.try_emplace(recorded << (kFactBits + 2) | parts);
  std::vector<Firsts>& out = found->second;
  if (!is_new) return out;
  out.assign(texts_.size() + 1, {kUnheard, kUnheard});
  for (const std::uint32_t at : recording_[recorded]) {
    auto& [first, other] = out[keys_[at][kIdPart]];
    if (first == kUnheard) {
      first = at;
    } else if (other == kUnheard && compare(keys_[at], keys_[first], parts) != 0) {
      other = at;
    }
  }
  return out;
}

// Gives `take` each table that may hold what is sought, with the parts and the key to look for.
template <class Take>
void EventIndex::search(const Sought& sought, const Take& take) {
  build();
  Key key = key_of(*sought.by);
  const unsigned stated = recorded_facts(key) & sought.facts;
  const unsigned further = (sought.is_cited ? kById : 0U) | kByWord;
  for (unsigned recorded = 0; recorded < recording_.size(); ++recorded) {
    if (recording_[recorded].empty()) continue;
    const unsigned parts = (recorded & stated) | further;
    const Table& positions = table(recorded, parts);
    for (const unsigned word : kWords) {
      if ((sought.words & word) == 0) continue;
      key[kWordPart] = word;
      take(positions, parts, key);
    }
  }
}

std::size_t EventIndex::first(const Sought& sought, Range range) {
  if (is_small()) {
    for (std::size_t at = range.from; at < range.to; ++at) {
      if (matches(sought, *(*events_)[at])) return at;
    }
    return kNone;
  }
  std::size_t best = kNone;
  if (range.is_empty()) return best;
  search(sought, [&](const Table& positions, unsigned parts, const Key& key) {
    const auto found =
        std::partition_point(positions.begin(), positions.end(), [&](std::uint32_t at) {
          const int order = compare(keys_[at], key, parts);
          return order < 0 || (order == 0 && at < range.from);
        });
    if (found == positions.end() || *found >= range.to) return;
    if (compare(keys_[*found], key, parts) == 0) best = std::min<std::size_t>(best, *found);
  });
  return best;
}

std::size_t EventIndex::last(const Sought& sought, Range range) {
  if (is_small()) {
    for (std::size_t at = range.to; at > range.from; --at) {
      if (matches(sought, *(*events_)[at - 1])) return at - 1;
    }
    return kNone;
  }
  std::size_t best = kNone;
  if (range.is_empty()) return best;
  search(sought, [&](const Table& positions, unsigned parts, const Key& key) {
    const auto behind =
        std::partition_point(positions.begin(), positions.end(), [&](std::uint32_t at) {
          const int order = compare(keys_[at], key, parts);
          return order < 0 || (order == 0 && at < range.to);
        });
    if (behind == positions.begin()) return;
    const std::size_t at = *std::prev(behind);
    if (at < range.from || compare(keys_[at], key, parts) != 0) return;
    if (best == kNone || best < at) best = at;
  });
  return best;
}

std::size_t EventIndex::first_cited_that_differs(const EventRecord& by, unsigned facts) {
  if (is_small()) {
    for (std::size_t at = 0; at < events_->size(); ++at) {
      const EventRecord& event = *(*events_)[at];
      if (matches({&by, 0, true}, event) && !matches({&by, facts}, event)) return at;
    }
    return kNone;
  }
  build();
  const Key key = key_of(by);
  std::size_t best = kNone;
  if (key[kIdPart] == kUnheard) return best;
  for (unsigned recorded = 0; recorded < recording_.size(); ++recorded) {
    if (recording_[recorded].empty()) continue;
    const unsigned parts = recorded & recorded_facts(key) & facts;
    const auto [first, other] = firsts(recorded, parts)[key[kIdPart]];
    if (first == kUnheard) continue;
    const bool is_first_of_call = compare(keys_[first], key, parts) == 0;
    const std::uint32_t at = is_first_of_call ? other : first;
    if (at != kUnheard) best = std::min<std::size_t>(best, at);
  }
  return best;
}

}  // namespace remit::grading
