// From the manifest's texts to what events are compared with.
#include "grading/pinned_facts.h"

#include <algorithm>
#include <tuple>

#include "event/names.h"
#include "grading/state_names.h"

namespace remit::grading {
namespace {

constexpr std::size_t kStateCount = std::tuple_size_v<decltype(event::kApprovalStates)> + 1;
constexpr ApprovalStates kAnyState = 0xff;

template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

PinnedFacts::PinnedFacts(RecordStore& store, const Manifest* manifest) : store_(store) {
  if (manifest != nullptr) pin(store, *manifest);
  add_changes();
}

void PinnedFacts::pin(RecordStore& store, const Manifest& manifest) {
  const auto intern = [&](const std::optional<std::string>& text) {
    return store.intern(text.value_or(""));
  };
  environment_ = intern(manifest.environment);
  manifest_digest_ = store.intern(manifest.digest);
  for (const PinnedPolicy& policy : manifest.policies) {
    policies_.emplace(store.intern(policy.version), intern(policy.digest));
  }
  for (const PinnedPrincipal& one : manifest.principals) {
    const Ref ref = store.intern(one.ref);
    principals_[ref] = {ref, principal_state_of(one.state.value_or("")),
                        intern(one.principal_class), intern(one.tenant), intern(one.revision)};
  }
  for (const PinnedResource& one : manifest.resources) {
    const ResourceFacts& kept = kept_resources_.emplace_back(
        ResourceFacts{one.id, store.intern(one.type), intern(one.tenant), intern(one.revision),
                      intern(one.source)});
    resources_[one.id].push_back(&kept);
  }
  for (const PinnedApproval& one : manifest.approvals) {
    approvals_[one.id].pinned = approval_state_of(one.state);
  }
  for (const Case& of_case : manifest.cases) {
    for (const Expectation& entry : of_case.expect) {
      if (entry.principal) {
        const Ref ref = store.intern(*entry.principal);
        const PrincipalFacts* known = principal(ref);
        if (known == nullptr) known = &kept_principals_.emplace_back(PrincipalFacts{ref});
        principals_of_entries_[&entry] = known;
      }
      if (!entry.resource) continue;
      const auto known = resources_.find(*entry.resource);
      resources_of_entries_[&entry] =
          known != resources_.end() ? known->second.front()
                                    : &kept_resources_.emplace_back(ResourceFacts{*entry.resource});
    }
  }
}

void PinnedFacts::add_changes() {
  const auto& writers = store_.writers();
  for (std::uint32_t writer = 0; writer < writers.size(); ++writer) {
    for (const ApprovalChange& change : writers[writer].approvals) {
      Approval& approval = approvals_[store_.text(change.id)];
      approval.changes.push_back({writer, change.key, change.state});  // in order
      approval.changed_to.resize(kStateCount, {kNobody, false});
      auto& [whose, is_of_several] = approval.changed_to[static_cast<std::size_t>(change.state)];
      is_of_several |= whose != kNobody && whose != writer;
      whose = writer;
    }
  }
}

const PrincipalFacts* PinnedFacts::principal_of(const Expectation& entry) const {
  const auto* found = find_in(principals_of_entries_, &entry);
  return found == nullptr ? nullptr : *found;
}

const ResourceFacts* PinnedFacts::resource_of(const Expectation& entry) const {
  const auto* found = find_in(resources_of_entries_, &entry);
  return found == nullptr ? nullptr : *found;
}

const PrincipalFacts* PinnedFacts::principal(Ref ref) const {
  return ref == 0 ? nullptr : find_in(principals_, ref);
}

const ResourceFacts* PinnedFacts::resource(const EventRecord& event) const {
  if (resources_.empty() || !event.has(Fact::kResourceId)) return nullptr;
  const auto* found = find_in(resources_, store_.text(event.fact(Fact::kResourceId)));
  if (found == nullptr) return nullptr;
  const Ref type = event.fact(Fact::kResourceType);
  if (type == 0) return found->size() == 1 ? found->front() : nullptr;
  const auto same = std::find_if(found->begin(), found->end(),
                                 [&](const ResourceFacts* one) { return one->type == type; });
  return same == found->end() ? nullptr : *same;
}

bool PinnedFacts::is_changed_elsewhere(const Approval& approval, std::size_t state,
                                       std::uint32_t writer) {
  if (approval.changed_to.empty()) return false;
  const auto& [whose, is_of_several] = approval.changed_to[state];
  return is_of_several || (whose != kNobody && whose != writer);
}

ApprovalStates PinnedFacts::approval_in_force(const EventRecord& event) const {
  if (approvals_.empty() || !event.has(Fact::kApprovalId)) return 0;
  const auto* approval = find_in(approvals_, store_.text(event.fact(Fact::kApprovalId)));
  if (approval == nullptr) return 0;
  const auto place = std::pair(event.writer, event.key());
  const auto next = std::partition_point(
      approval->changes.begin(), approval->changes.end(),
      [&](const Change& one) { return std::pair(one.writer, one.key) < place; });
  const bool is_changed =
      next != approval->changes.begin() && std::prev(next)->writer == event.writer;
  const ApprovalState own = is_changed ? std::prev(next)->state : approval->pinned;
  if (own == ApprovalState::kUnrecorded) return 0;
  if (is_changed_elsewhere(*approval, 0, event.writer)) return kAnyState;
  ApprovalStates changed_to = is_changed ? bit(own) : ApprovalStates{0};
  for (std::size_t state = 1; state < kStateCount; ++state) {
    if (is_changed_elsewhere(*approval, state, event.writer)) {
      changed_to |= bit(static_cast<ApprovalState>(state));
    }
  }
  ApprovalStates states = bit(own) | changed_to;
  // Time, people and other nodes end it without a word to this log.
  if ((changed_to & bit(ApprovalState::kActive)) != 0) {
    states |= bit(ApprovalState::kExpired);
    states |= bit(ApprovalState::kRevoked);
    states |= bit(ApprovalState::kConsumed);
  }
  // Whatever it is, it may be for another call than the event's. What is pinned is for the event's.
  if (changed_to != 0) states |= bit(ApprovalState::kMismatched);
  return states;
}

const Ref* PinnedFacts::digest_of_policy(Ref version) const {
  return find_in(policies_, version);
}

}  // namespace remit::grading
