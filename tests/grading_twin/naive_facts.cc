// One plain function for each rule of spec/grades.md on pinned facts, and on records that
// contradict themselves in them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "naive_context.h"

namespace remit::twin {
namespace {

/// A fact that the manifest gives, and the field that records it.
struct Fact {
  Field field;
  std::string pinned;
};
using Facts = std::vector<Fact>;

void pin(Facts& facts, Field field, const std::optional<std::string>& pinned) {
  if (pinned) facts.push_back({field, *pinned});
}

Facts contradicted(const Facts& facts, const NaiveEvent* event) {
  Facts out;
  for (const Fact& fact : facts) {
    if (event->has(fact.field) && event->get(fact.field) != fact.pinned) out.push_back(fact);
  }
  return out;
}

std::string names_of(const Facts& facts) {
  std::vector<std::string_view> names;
  for (const Fact& fact : facts) names.push_back(event::field_name(fact.field));
  return fmt::format("{}", fmt::join(names, ", "));
}

// REQ-GR-120: once for an event, with the first fact that differs; the message names all.
void add_contradiction(Context& context, const std::string& code, const NaiveCall& call,
                       const NaiveEvent* event, const Facts& differing) {
  const Fact& first = differing.front();
  add(context, code, call.id,
      saying(names_of(differing), {first.pinned, event->get(first.field), {event}}));
}

// ---- Principals (REQ-GR-121).

Facts facts_of_principal(const Context& context, const std::string& ref) {
  Facts out = {{Field::kPrincipalRef, ref}};
  for (const grading::PinnedPrincipal& pinned : context.manifest()->principals) {
    if (pinned.ref != ref) continue;
    pin(out, Field::kPrincipalState, pinned.state);
    pin(out, Field::kPrincipalClass, pinned.principal_class);
    pin(out, Field::kPrincipalTenant, pinned.tenant);
    pin(out, Field::kPrincipalRevision, pinned.revision);
  }
  return out;
}

/// `entry` is null for all but the last decision of an expected call.
void judge_principal(Context& context, const NaiveCall& call, const NaiveEvent* decision,
                     const grading::Expectation* entry) {
  if (context.manifest() == nullptr) return;
  const bool is_expected = entry != nullptr && entry->principal;
  const std::string ref = is_expected ? *entry->principal : decision->get(Field::kPrincipalRef);
  if (ref.empty()) return;
  const Facts differing = contradicted(facts_of_principal(context, ref), decision);
  if (!differing.empty()) add_contradiction(context, "stale_principal", call, decision, differing);
}

// ---- Resources (REQ-GR-122, REQ-GR-104).

/// The manifest's resource of an id, of several by the type.
const grading::PinnedResource* resource_named(const Context& context, const std::string& id,
                                              const std::string& type) {
  std::vector<const grading::PinnedResource*> found;
  for (const grading::PinnedResource& pinned : context.manifest()->resources) {
    if (pinned.id == id && (type.empty() || pinned.type == type)) found.push_back(&pinned);
  }
  return found.size() == 1 ? found.front() : nullptr;
}

Facts facts_of_resource(const std::string& id, const grading::PinnedResource* pinned) {
  Facts out = {{Field::kResourceId, id}};
  if (pinned == nullptr) return out;
  pin(out, Field::kResourceType, pinned->type);
  pin(out, Field::kResourceTenant, pinned->tenant);
  pin(out, Field::kResolutionRevision, pinned->revision);
  return out;
}

/// What the manifest says of the resource of a decision or of a `resource.resolved`; with nothing
/// pinned where it names none.
struct NamedResource {
  std::string id;
  const grading::PinnedResource* pinned = nullptr;
};

NamedResource resource_of(const Context& context, const NaiveCall& call, const NaiveEvent* event) {
  const grading::Expectation* entry = context.entry(call.id);
  const std::string id = event->get(Field::kResourceId);
  if (entry != nullptr && entry->resource) {
    const bool is_decision = event->kind == EventKind::kAuthorizationDecision;
    const bool is_meant = is_decision ? event == call.of(EventKind::kAuthorizationDecision).back()
                                      : id == *entry->resource;
    if (is_meant) return {*entry->resource, resource_named(context, *entry->resource, "")};
  }
  return {id, resource_named(context, id, event->get(Field::kResourceType))};
}

/// A fact of the resource that another record of the same log contradicts.
struct Contradiction {
  std::string expected, recorded;
  const NaiveEvent* event = nullptr;
  std::string detail;
};

// REQ-GR-104.
std::optional<Contradiction> otherwise_resolved(const NaiveCall& call, const NaiveEvent* decision) {
  if (!decision->has(Field::kResourceId)) return std::nullopt;
  const NaiveEvent* any = nullptr;
  const NaiveEvent* same = nullptr;
  for (const NaiveEvent* resolved : call.of(EventKind::kResourceResolved)) {
    const std::string outcome = resolved->get(Field::kOutcome);
    if (!outcome.empty() && outcome != "found") continue;
    if (!before(resolved, decision) || !resolved->has(Field::kResourceId)) continue;
    any = resolved;
    if (resolved->get(Field::kResourceId) == decision->get(Field::kResourceId) &&
        same_where_recorded(resolved, decision, {Field::kResourceType})) {
      same = resolved;
    }
  }
  if (any == nullptr) return std::nullopt;
  if (same == nullptr) {
    const bool is_other_id = any->get(Field::kResourceId) != decision->get(Field::kResourceId);
    const Field field = is_other_id ? Field::kResourceId : Field::kResourceType;
    return Contradiction{any->get(field), decision->get(field), any,
                         "another resource was resolved"};
  }
  for (const Field field : {Field::kResourceTenant, Field::kResolutionRevision}) {
    if (same_where_recorded(same, decision, {field})) continue;
    return Contradiction{same->get(field), decision->get(field), same,
                         field == Field::kResourceTenant
                             ? "resource_tenant was resolved as another"
                             : "another resolution_revision was resolved"};
  }
  return std::nullopt;
}

// Pinned facts first, then what was resolved: an event yields `stale_resource` once.
void judge_resource(Context& context, const NaiveCall& call, const NaiveEvent* event) {
  const bool is_decision = event->kind == EventKind::kAuthorizationDecision;
  if (context.manifest() != nullptr) {
    const NamedResource named = resource_of(context, call, event);
    if (event->resource_is_null && is_decision && !named.id.empty()) {
      return add(context, "stale_resource", call.id,
                 saying("its resource_id is null", {named.id, "", {event}}));
    }
    if (named.pinned != nullptr && named.pinned->source && event->has(Field::kResolutionSource) &&
        event->get(Field::kResolutionSource) != *named.pinned->source) {
      add_contradiction(context, "wrong_environment", call, event,
                        {{Field::kResolutionSource, *named.pinned->source}});
    }
    const Facts differing = contradicted(facts_of_resource(named.id, named.pinned), event);
    if (!differing.empty()) {
      return add_contradiction(context, "stale_resource", call, event, differing);
    }
  }
  if (!is_decision) return;
  if (const auto other = otherwise_resolved(call, event)) {
    add(context, "stale_resource", call.id,
        saying(other->detail, {other->expected, other->recorded, {other->event, event}}));
  }
}

// ---- Approvals (REQ-GR-123, REQ-GR-124).

/// The newest change of the event's approval before it in its log; null where there is none.
const NaiveEvent* newest_change(const Context& context, const NaiveEvent* event) {
  const std::string id = event->get(Field::kApprovalId);
  const NaiveEvent* newest = nullptr;
  for (const NaiveEvent& change : context.trace.events) {
    if (change.kind != EventKind::kApprovalChanged || change.get(Field::kApprovalId) != id) {
      continue;
    }
    if (before(&change, event) && (newest == nullptr || before(newest, &change))) newest = &change;
  }
  return newest;
}

// What the log of the event, else the manifest, says of its approval; empty where neither does. A
// change that records no state leaves it unknown.
std::string own_state(const Context& context, const NaiveEvent* event) {
  const std::string id = event->get(Field::kApprovalId);
  const NaiveEvent* newest = newest_change(context, event);
  if (newest != nullptr) return newest->get(Field::kApprovalState);
  if (context.manifest() == nullptr) return {};
  for (const grading::PinnedApproval& pinned : context.manifest()->approvals) {
    if (pinned.id == id) return pinned.state;
  }
  return {};
}

/// The states that an approval may have at a place of a log; none where it may have any.
std::set<std::string> in_force(const Context& context, const NaiveEvent* event) {
  const std::string id = event->get(Field::kApprovalId);
  if (id.empty()) return {};
  std::set<std::string> out = {own_state(context, event)};
  std::set<std::string> changed_to;
  if (const NaiveEvent* newest = newest_change(context, event); newest != nullptr) {
    changed_to.insert(newest->get(Field::kApprovalState));
  }
  for (const NaiveEvent& change : context.trace.events) {
    if (change.kind != EventKind::kApprovalChanged || change.get(Field::kApprovalId) != id) {
      continue;
    }
    if (change.writer != event->writer) changed_to.insert(change.get(Field::kApprovalState));
  }
  if (changed_to.contains("active")) changed_to.insert({"expired", "revoked", "consumed"});
  if (!changed_to.empty()) changed_to.insert("mismatched");
  out.insert(changed_to.begin(), changed_to.end());
  return out.contains("") ? std::set<std::string>{} : out;
}

/// In the order of REQ-EV-021.
std::string states_text(const std::set<std::string>& states) {
  std::vector<std::string> out;
  for (const char* state : {"active", "absent", "expired", "revoked", "mismatched", "consumed"}) {
    if (states.contains(state)) out.emplace_back(state);
  }
  return fmt::format("{}", fmt::join(out, " or "));
}

bool is_wrong_state(const Context& context, const NaiveEvent* event) {
  const std::set<std::string> states = in_force(context, event);
  return event->has(Field::kApprovalState) && !states.empty() &&
         !states.contains(event->get(Field::kApprovalState));
}

void judge_approval_state(Context& context, const NaiveCall& call, const NaiveEvent* event) {
  if (!is_wrong_state(context, event)) return;
  add(context, "wrong_approval_state", call.id,
      {states_text(in_force(context, event)), event->get(Field::kApprovalState), {event}});
}

/// The last check of the decision's approval before it in its log that says a state.
const NaiveEvent* last_check(const NaiveCall& call, const NaiveEvent* decision) {
  const NaiveEvent* last = nullptr;
  if (!decision->has(Field::kApprovalId)) return last;
  for (const NaiveEvent* check : call.of(EventKind::kApprovalChecked)) {
    if (before(check, decision) && check->has(Field::kApprovalState) &&
        check->get(Field::kApprovalId) == decision->get(Field::kApprovalId)) {
      last = check;
    }
  }
  return last;
}

void judge_accepted_approval(Context& context, const NaiveCall& call, const NaiveEvent* decision) {
  const std::string recorded = decision->get(Field::kApprovalState);
  const bool is_on_approval =
      decision->has(Field::kApprovalId) || (!recorded.empty() && recorded != "absent");
  if (!is_allow(decision) || !is_on_approval) return;
  const NaiveEvent* check = last_check(call, decision);
  const std::string checked = check != nullptr ? check->get(Field::kApprovalState) : "";
  const std::set<std::string> states = in_force(context, decision);
  const bool is_inactive_by_itself = !recorded.empty() && recorded != "active";
  const bool is_inactive_by_check = !checked.empty() && checked != "active";
  const bool is_inactive_in_force = !states.empty() && !states.contains("active");
  if (!is_inactive_by_itself && !is_inactive_by_check && !is_inactive_in_force) return;
  What what{"active", recorded, {decision}};
  if (is_inactive_in_force) what.recorded = states_text(states);
  if (is_inactive_by_check) what.recorded = checked;
  if (is_inactive_by_itself) what.recorded = recorded;
  if (is_inactive_by_check) what.events = {check, decision};
  const bool is_contradicted = recorded == "active" && is_inactive_by_check;
  what.owner = is_contradicted || is_wrong_state(context, decision) ? Owner::kApprovalService
                                                                    : Owner::kPolicy;
  add(context, "stale_approval_accepted", call.id, what);
}

// ---- What was not recorded (REQ-GR-125, REQ-GR-051).

void judge_unrecorded(Context& context, const NaiveCall& call, const NaiveEvent* decision,
                      const grading::Expectation* entry) {
  Facts facts;
  const auto add_all = [&](const Facts& more) {
    facts.insert(facts.end(), more.begin(), more.end());
  };
  if (context.manifest() != nullptr) {
    for (const grading::PinnedPolicy& pinned : context.manifest()->policies) {
      if (pinned.version == decision->get(Field::kPolicyVersion)) {
        pin(facts, Field::kPolicyDigest, pinned.digest);
      }
    }
  }
  if (entry != nullptr && entry->principal) add_all(facts_of_principal(context, *entry->principal));
  if (entry != nullptr && entry->resource && !decision->resource_is_null) {
    const grading::PinnedResource* pinned = resource_named(context, *entry->resource, "");
    add_all(facts_of_resource(*entry->resource, pinned));
    if (pinned != nullptr) pin(facts, Field::kResolutionSource, pinned->source);
  }
  const bool is_stated = decision->has(Field::kApprovalId) && !own_state(context, decision).empty();
  if (is_stated) facts.push_back({Field::kApprovalState, ""});
  std::erase_if(facts, [&](const Fact& fact) { return decision->has(fact.field); });
  if (!facts.empty()) add(context, "unrecorded_fact", call.id, {names_of(facts), "", {decision}});
}

}  // namespace

void judge_facts(Context& context, const NaiveCall& call) {
  const Events decisions = call.of(EventKind::kAuthorizationDecision);
  for (const NaiveEvent* event : call.events) {
    if (event->kind == EventKind::kResourceResolved && event->has(Field::kResourceId)) {
      judge_resource(context, call, event);
    }
    if (event->kind == EventKind::kApprovalChecked) judge_approval_state(context, call, event);
  }
  for (const NaiveEvent* decision : decisions) {
    const bool is_last = decision == decisions.back();
    const grading::Expectation* entry = is_last ? context.entry(call.id) : nullptr;
    judge_principal(context, call, decision, entry);
    judge_resource(context, call, decision);
    judge_approval_state(context, call, decision);
    judge_accepted_approval(context, call, decision);
    judge_unrecorded(context, call, decision, entry);
  }
}

void judge_environment(Context& context) {
  const grading::Manifest* manifest = context.manifest();
  if (manifest == nullptr) return;
  const std::string digest = digest_text(sha256(context.criteria.manifest_text));
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind != EventKind::kRunStarted) continue;
    const std::string environment = event.get(Field::kEnvironment);
    const std::string said = event.get(Field::kManifestDigest);
    const bool is_other_place =
        manifest->environment && !environment.empty() && environment != *manifest->environment;
    const bool is_other_manifest = !said.empty() && said != digest;
    if (!is_other_place && !is_other_manifest) continue;
    add(context, "wrong_environment", "",
        saying(is_other_place && is_other_manifest ? "environment, manifest_digest"
               : is_other_place                    ? "environment"
                                                   : "manifest_digest",
               {is_other_place ? *manifest->environment : digest,
                is_other_place ? environment : said,
                {&event}}));
  }
}

}  // namespace remit::twin
