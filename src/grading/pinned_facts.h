// What the manifest pins, with its texts as references, and the states of approvals over the run.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grading/call_view.h"
#include "grading/manifest.h"
#include "grading/record_store.h"

namespace remit::grading {

/// A principal's pinned facts; 0 and `kUnrecorded` are not pinned.
struct PrincipalFacts {
  Ref ref = 0;
  PrincipalState state = PrincipalState::kUnrecorded;
  Ref principal_class = 0;
  Ref tenant = 0;
  Ref revision = 0;
};

/// A resource's pinned facts; 0 is not pinned. Its id is no interned text.
struct ResourceFacts {
  std::string_view id;
  Ref type = 0;
  Ref tenant = 0;
  Ref revision = 0;
  Ref source = 0;
};

/// Which states an approval may be in, as bits by `ApprovalState`; 0 where nothing tells.
using ApprovalStates = std::uint8_t;
constexpr ApprovalStates bit(ApprovalState state) {
  return static_cast<ApprovalStates>(1U << static_cast<unsigned>(state));
}

/// Made once after the last event; immutable then.
class PinnedFacts {
 public:
  /// `manifest` may be null; both outlive this.
  PinnedFacts(RecordStore& store, const Manifest* manifest);

  /// Of the entry, or null where it names none.
  [[nodiscard]] const PrincipalFacts* principal_of(const Expectation& entry) const;
  [[nodiscard]] const ResourceFacts* resource_of(const Expectation& entry) const;
  /// The one that an event names, or null (REQ-GR-121, REQ-GR-122).
  [[nodiscard]] const PrincipalFacts* principal(Ref ref) const;
  [[nodiscard]] const ResourceFacts* resource(const EventRecord& event) const;

  /// The states that the approval which `event` names may be in by REQ-GR-123.
  [[nodiscard]] ApprovalStates approval_in_force(const EventRecord& event) const;

  /// The digest that the manifest gives a version, 0 for none; null where it does not list it.
  [[nodiscard]] const Ref* digest_of_policy(Ref version) const;
  [[nodiscard]] bool has_policies() const { return !policies_.empty(); }

  /// Facts of the run as a whole; 0 is not pinned.
  [[nodiscard]] Ref environment() const { return environment_; }
  [[nodiscard]] Ref manifest_digest() const { return manifest_digest_; }

 private:
  struct Change {
    std::uint32_t writer;
    OrderKey key;
    ApprovalState state;
  };
  struct Approval {
    ApprovalState pinned = ApprovalState::kUnrecorded;
    std::vector<Change> changes;  // sorted
    /// By state, whose log changes it so: nobody's, one writer's, or several writers'.
    std::vector<std::pair<std::uint32_t, bool>> changed_to;
  };
  static constexpr std::uint32_t kNobody = 0xffffffff;

  void pin(RecordStore& store, const Manifest& manifest);
  void add_changes();
  [[nodiscard]] static bool is_changed_elsewhere(const Approval& approval, std::size_t state,
                                                 std::uint32_t writer);

  const RecordStore& store_;
  std::unordered_map<Ref, Ref> policies_;
  std::unordered_map<Ref, PrincipalFacts> principals_;
  std::deque<ResourceFacts> kept_resources_;
  std::deque<PrincipalFacts> kept_principals_;
  std::unordered_map<std::string_view, std::vector<const ResourceFacts*>> resources_;
  std::unordered_map<std::string_view, Approval> approvals_;
  std::unordered_map<const Expectation*, const PrincipalFacts*> principals_of_entries_;
  std::unordered_map<const Expectation*, const ResourceFacts*> resources_of_entries_;
  Ref environment_ = 0;
  Ref manifest_digest_ = 0;
};

}  // namespace remit::grading
