// One plain function for each rule of spec/grades.md and spec/contract.md on what must be recorded
// and on decisions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "access/reason.h"
#include "base/nearest_word.h"
#include "naive_context.h"

namespace remit::twin {

// ---- What an invocation consists of.

Events NaiveCall::of(EventKind kind) const {
  Events out;
  for (const NaiveEvent* event : events) {
    if (event->kind == kind) out.push_back(event);
  }
  return out;
}

bool before(const NaiveEvent* left, const NaiveEvent* right) {
  return left->writer == right->writer && left->order < right->order;
}

bool is_allow(const NaiveEvent* decision) {
  return decision->get(Field::kDecision) == "allow";
}
bool is_deny(const NaiveEvent* decision) {
  return decision->get(Field::kDecision) == "deny";
}

bool any_allow(const Events& decisions) {
  return std::any_of(decisions.begin(), decisions.end(), is_allow);
}

bool is_shadow(const NaiveCall& call, const NaiveEvent* decision) {
  return call.required.shadow && decision->get(Field::kMode) == "shadow" &&
         decision->has(Field::kEnforced) && !decision->is_enforced;
}

std::string first_recorded(const Events& events, Field field) {
  for (const NaiveEvent* event : events) {
    if (event->kind == EventKind::kToolRequest && event->has(field)) return event->get(field);
  }
  for (const NaiveEvent* event : events) {
    if (event->has(field)) return event->get(field);
  }
  return {};
}

bool same_where_recorded(const NaiveEvent* left, const NaiveEvent* right,
                         const std::vector<Field>& fields) {
  return std::all_of(fields.begin(), fields.end(), [&](Field field) {
    return !left->has(field) || !right->has(field) || left->get(field) == right->get(field);
  });
}

std::string count_text(std::uint64_t count, const std::string& noun) {
  const std::string plural = noun == "finish" ? "finishes" : noun + "s";
  return std::to_string(count) + " " + (count == 1 ? noun : plural);
}

std::string bounds_text(const NaiveBounds& bounds, const std::string& noun) {
  if (bounds.at_most == bounds.at_least) return count_text(bounds.at_least, noun);
  if (!bounds.at_most) return count_text(bounds.at_least, noun) + " or more";
  if (bounds.at_least == 0) return "at most " + count_text(*bounds.at_most, noun);
  return std::to_string(bounds.at_least) + " to " + count_text(*bounds.at_most, noun);
}

void judge_order(Context& context, const std::string& code, const NaiveCall& call, What what,
                 const Events& earlier, const Events& later) {
  for (std::size_t i = 0; i < later.size(); ++i) {
    if (i > 0 && later[i - 1]->writer == later[i]->writer) continue;
    for (const NaiveEvent* event : earlier) {
      if (event->writer != later[i]->writer) continue;
      what.events = {later[i], event};
      if (before(later[i], event)) add(context, code, call.id, what);
      break;
    }
  }
}

namespace {

// ---- Presence (REQ-CT-020, REQ-CT-026, REQ-GR-100, REQ-GR-101, REQ-GR-107).

/// The first event of the kind behind `place`; nothing for none. `place` may be null.
const NaiveEvent* next_of(const Events& events, EventKind kind, const NaiveEvent* place) {
  for (const NaiveEvent* event : events) {
    if (event->kind == kind && before(place, event)) return event;
  }
  return nullptr;
}

/// The finish of the first whole sequence that begins with the request.
const NaiveEvent* end_of_sequence(const Events& events, const NaiveEvent* request) {
  const NaiveEvent* place = request;
  for (const EventKind kind :
       {EventKind::kAuthorizationDecision, EventKind::kExecutorStart, EventKind::kExecutorFinish}) {
    if (place != nullptr) place = next_of(events, kind, place);
  }
  return place;
}

/// Where the first of two whole sequences ends and the second begins; nothing where there are none.
Events two_sequences(const NaiveCall& call) {
  const Events requests = call.of(EventKind::kToolRequest);
  for (const NaiveEvent* first : requests) {
    const NaiveEvent* end = end_of_sequence(call.events, first);
    if (end == nullptr) continue;
    for (const NaiveEvent* second : requests) {
      if (before(end, second) && first->attempt() == second->attempt() &&
          end_of_sequence(call.events, second) != nullptr) {
        return {end, second};
      }
    }
  }
  return {};
}

void judge_requests(Context& context, const NaiveCall& call) {
  const Events requests = call.of(EventKind::kToolRequest);
  const NaiveBounds& bounds = call.required.request;
  const std::string expected = bounds_text(bounds, "request");
  const std::string recorded = count_text(requests.size(), "request");
  if (requests.size() < bounds.at_least) {
    add_absence(context, "missing_request", call, {expected, recorded, {call.events.front()}});
  }
  if (bounds.at_most && requests.size() > *bounds.at_most) {
    add(context, "reused_invocation_id", call.id, {expected, recorded, requests});
  } else if (!two_sequences(call).empty()) {
    add(context, "reused_invocation_id", call.id,
        saying("a whole call stands behind another", {"1 call", "2 calls", two_sequences(call)}));
  }
}

void judge_number_of_decisions(Context& context, const NaiveCall& call) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  const NaiveBounds& bounds = call.required.decision;
  const std::string expected = bounds_text(bounds, "decision");
  const std::string recorded = count_text(decisions.size(), "decision");
  if (decisions.size() < bounds.at_least) {
    add_absence(context, "missing_decision", call, {expected, recorded, {call.events.front()}});
  }
  if (bounds.at_most && decisions.size() > *bounds.at_most) {
    add(context, "multiple_decisions", call.id, {expected, recorded, decisions});
  }
}

// REQ-CT-026: null is recorded. REQ-CT-004: the version has a code of its own.
bool lacks(const NaiveEvent* event, const std::string& name) {
  const Field field = *event::parse_field(name);
  if (field == Field::kResourceId && event->resource_is_null) return false;
  if (field == Field::kPolicyVersion && event->kind == EventKind::kAuthorizationDecision) {
    return false;
  }
  return !event->has(field);
}

std::string names_of(const std::set<Field>& fields) {
  std::vector<std::string_view> names;
  for (const Field field : fields) names.push_back(event::field_name(field));
  return fmt::format("{}", fmt::join(names, ", "));
}

void judge_fields(Context& context, const NaiveCall& call) {
  for (const NaiveEvent* event : call.events) {
    std::set<Field> missing;
    const auto required =
        call.required.required_fields.find(std::string(event::event_kind_name(event->kind)));
    if (required != call.required.required_fields.end()) {
      for (const std::string& name : required->second) {
        if (lacks(event, name)) missing.insert(*event::parse_field(name));
      }
    }
    const bool is_decision = event->kind == EventKind::kAuthorizationDecision;
    if (is_decision && is_deny(event) && !event->has(Field::kReason))
      missing.insert(Field::kReason);
    if (!missing.empty()) {
      add(context, "missing_field", call.id, {names_of(missing), "", {event}});
    }
    if (is_decision && !event->has(Field::kPolicyVersion)) {
      add(context, "missing_policy_version", call.id, {"policy_version", "", {event}});
    }
  }
  if (first_recorded(call.events, Field::kTool).empty()) {
    add(context, "missing_field", call.id,
        saying("no event of the invocation names its tool", {"tool", "", {call.events.front()}}));
  }
}

// ---- Decisions.

// The decision must be for one of the requests.
void judge_decided_call(Context& context, const NaiveCall& call, const NaiveEvent* decision) {
  const Events requests = call.of(EventKind::kToolRequest);
  if (requests.empty()) return;
  const bool is_for_one =
      std::any_of(requests.begin(), requests.end(), [&](const NaiveEvent* request) {
        return same_where_recorded(request, decision, {Field::kTool, Field::kArgsDigest});
      });
  if (is_for_one) return;
  const NaiveEvent* request = requests.front();
  const Field field =
      same_where_recorded(request, decision, {Field::kTool}) ? Field::kArgsDigest : Field::kTool;
  add(context, "decision_for_other_call", call.id,
      {request->get(field), decision->get(field), {request, decision}});
}

std::vector<std::string_view> reason_names() {
  std::vector<std::string_view> out;
  for (int i = 0; i < access::kReasonCount; ++i) {
    out.push_back(access::reason_name(static_cast<access::ReasonCode>(i)));
  }
  return out;
}

/// Why a reason cannot be, and what it should be; empty if it can.
struct NaiveFault {
  std::string detail, wanted;
};

// `did you mean WORD?` behind `before`, or nothing where no word is near.
std::string meant_by(const std::string& word, std::span<const std::string_view> words,
                     const std::string& before = "") {
  const std::string_view near = nearest_word(word, words);
  return near.empty() ? "" : fmt::format("{}did you mean {}?", before, near);
}

NaiveFault fault_of_reason(const NaiveCall& call, const NaiveEvent* decision) {
  const std::string text = decision->get(Field::kReason);
  if (text.empty()) return {};
  const auto reason = access::parse_reason(text);
  if (!reason) {
    return {"it is no reason of the event contract" + meant_by(text, reason_names(), "; "),
            "a reason of spec/reasons.md"};
  }
  const bool says_allowed = reason == access::ReasonCode::kAllowed;
  if (is_allow(decision) && !says_allowed) return {"it is a reason to deny", "allowed"};
  if (is_deny(decision) && says_allowed) return {"it is no reason to deny", "a reason to deny"};
  const auto& listed = call.required.reasons;
  if (!listed || listed->contains(text)) return {};
  return {"the contract does not list it", "a reason that the contract lists"};  // REQ-CT-027
}

// REQ-MF-013, REQ-GR-014. The entry's reason is compared only when its decision is as expected.
void judge_reason(Context& context, const NaiveCall& call, const NaiveEvent* decision,
                  const grading::Expectation* entry) {
  const std::string recorded = decision->get(Field::kReason);
  const bool is_compared =
      entry != nullptr && entry->reason &&
      (!entry->decision || decision->get(Field::kDecision) == *entry->decision);
  const NaiveFault fault = fault_of_reason(call, decision);
  if (is_compared && recorded != *entry->reason) {
    return add(context, "unexpected_reason", call.id,
               saying(fault.detail.empty() ? "the manifest expects another" : fault.detail,
                      {*entry->reason, recorded, {decision}}));
  }
  if (!fault.detail.empty()) {
    add(context, "unexpected_reason", call.id,
        saying(fault.detail, {fault.wanted, recorded, {decision}}));
  }
}

bool is_refused_by_principal(const NaiveEvent* decision) {
  const std::string state = decision->get(Field::kPrincipalState);
  return state == "missing" || state == "invalid" || state == "expired";
}

// REQ-GR-103: what was resolved last since the decision before it.
const NaiveEvent* unresolved_before(const NaiveCall& call, const NaiveEvent* decision) {
  const NaiveEvent* previous = nullptr;
  for (const NaiveEvent* other : call.of(EventKind::kAuthorizationDecision)) {
    if (before(other, decision)) previous = other;
  }
  const NaiveEvent* last = nullptr;
  for (const NaiveEvent* resolved : call.of(EventKind::kResourceResolved)) {
    if (!before(resolved, decision) || (previous != nullptr && before(resolved, previous))) {
      continue;
    }
    const std::string outcome = resolved->get(Field::kOutcome);
    if (!outcome.empty() && outcome != "found") last = resolved;
  }
  return last;
}

// REQ-MF-013, REQ-GR-016, REQ-GR-102, REQ-GR-103, each decision once.
void judge_expected_decision(Context& context, const NaiveCall& call, const NaiveEvent* decision,
                             const grading::Expectation* entry) {
  const std::string recorded = decision->get(Field::kDecision);
  if (entry != nullptr && entry->decision && recorded != *entry->decision) {
    return add(context, "unexpected_decision", call.id, {*entry->decision, recorded, {decision}});
  }
  if (!is_allow(decision)) return;
  if (is_refused_by_principal(decision)) {
    return add(context, "unexpected_decision", call.id,
               saying("its principal_state is " + decision->get(Field::kPrincipalState),
                      {"deny", recorded, {decision}}));
  }
  if (const NaiveEvent* resolved = unresolved_before(call, decision)) {
    add(context, "unexpected_decision", call.id,
        saying("its resource was not resolved", {"deny", recorded, {resolved, decision}}));
  }
}

// ---- Policies (REQ-GR-050 to REQ-GR-053).

/// What the decision's policy should have been, and what it was.
struct PolicyMismatch {
  std::string expected, recorded, detail;
};

bool digests_differ(const std::string& left, const std::string& right) {
  return !left.empty() && !right.empty() && left != right;
}

// REQ-GR-051: whether the manifest lists the version, with which digest.
std::optional<PolicyMismatch> unlisted(const Context& context, const std::string& version,
                                       std::string& pinned_digest) {
  if (context.manifest() == nullptr || context.manifest()->policies.empty()) return std::nullopt;
  for (const grading::PinnedPolicy& pinned : context.manifest()->policies) {
    if (pinned.version != version) continue;
    pinned_digest = pinned.digest.value_or("");
    return std::nullopt;
  }
  return PolicyMismatch{"", version, "the manifest does not list this version"};
}

std::optional<PolicyMismatch> policy_mismatch(const Context& context, const NaiveEvent* decision) {
  const std::string version = decision->get(Field::kPolicyVersion);
  const std::string digest = decision->get(Field::kPolicyDigest);
  std::string pinned_digest;
  if (auto mismatch = unlisted(context, version, pinned_digest)) return mismatch;
  const NaiveEvent* newest = nullptr;
  bool published_later = false;
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind != EventKind::kPolicyPublished || event.writer != decision->writer) continue;
    if (event.order < decision->order) {
      if (newest == nullptr || newest->order < event.order) newest = &event;
    } else if (event.get(Field::kPolicyVersion) == version) {
      published_later = true;
    }
  }
  if (newest != nullptr && newest->get(Field::kPolicyVersion) != version) {
    return PolicyMismatch{newest->get(Field::kPolicyVersion), version,
                          "another version was published last"};
  }
  if (newest == nullptr && published_later) {
    return PolicyMismatch{"", version, "this version was published only later"};
  }
  if (newest != nullptr && digests_differ(newest->get(Field::kPolicyDigest), digest)) {
    return PolicyMismatch{newest->get(Field::kPolicyDigest), digest,
                          "another digest was published under this version"};
  }
  if (digests_differ(pinned_digest, digest)) {
    return PolicyMismatch{pinned_digest, digest, "the manifest gives this version another digest"};
  }
  return std::nullopt;
}

void judge_policy(Context& context, const NaiveCall& call, const NaiveEvent* decision) {
  if (!decision->has(Field::kPolicyVersion)) return;
  if (const auto mismatch = policy_mismatch(context, decision)) {
    add(context, "policy_version_mismatch", call.id,
        saying(mismatch->detail, {mismatch->expected, mismatch->recorded, {decision}}));
  }
}

}  // namespace

void judge_presence(Context& context, const NaiveCall& call) {
  judge_requests(context, call);
  judge_number_of_decisions(context, call);
  judge_fields(context, call);
}

void judge_decisions(Context& context, const NaiveCall& call) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  if (call.required.order.contains("request < decision")) {
    judge_order(context, "decision_before_request", call,
                {"request, decision", "decision, request", {}}, call.of(EventKind::kToolRequest),
                decisions);
  }
  for (const NaiveEvent* decision : decisions) {
    const bool is_last = decision == decisions.back();
    const grading::Expectation* entry = is_last ? context.entry(call.id) : nullptr;
    judge_decided_call(context, call, decision);
    if (!is_allow(decision) && !is_deny(decision)) {
      const std::string word = decision->get(Field::kDecision);
      const std::string_view words[] = {"allow", "deny"};
      add(context, "unknown_decision", call.id,
          saying(meant_by(word, words), {"allow or deny", word, {decision}}));
    }
    judge_reason(context, call, decision, entry);
    judge_expected_decision(context, call, decision, entry);
    judge_policy(context, call, decision);
  }
}

}  // namespace remit::twin
