// REQ-GR-085: what a naive grade says that it did not check.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "naive_context.h"

namespace remit::twin {
namespace {

using Sentences = std::vector<std::string>;

std::size_t number_of(const Context& context, EventKind kind) {
  const std::vector<NaiveEvent>& events = context.trace.events;
  return static_cast<std::size_t>(std::count_if(
      events.begin(), events.end(), [&](const NaiveEvent& event) { return event.kind == kind; }));
}

template <class Predicate>
std::size_t number_of_calls(const Context& context, Predicate is_meant) {
  std::size_t out = 0;
  for (const auto& [id, call] : context.calls) out += is_meant(call) ? 1 : 0;
  return out;
}

// REQ-MF-016: no case id of the manifest, and a run id that several cases name.
bool is_ambiguous(const Context& context, const NaiveCall& call) {
  if (context.case_of.contains(call.id)) return false;
  const std::string run = first_recorded(call.events, Field::kRunId);
  const auto& cases = context.manifest()->cases;
  return std::any_of(cases.begin(), cases.end(),
                     [&](const grading::Case& each) { return each.run_id && *each.run_id == run; });
}

void say_planning(const Context& context, Sentences& out) {
  const grading::Manifest* manifest = context.manifest();
  if (manifest == nullptr) {
    if (!context.criteria.criteria.expected_ids) {
      out.emplace_back(
          "planning was not judged and absence could not be checked: there is neither a manifest "
          "nor a list of expected ids");
    }
    return;
  }
  const std::size_t outside = context.calls.size() - context.case_of.size();
  if (manifest->cases.empty()) {
    out.emplace_back("planning was not judged: the manifest has no cases");
    return;
  }
  if (outside > 0) {
    out.push_back(outside == 1 ? "1 invocation belongs to no case and was not judged for planning"
                               : fmt::format("{} invocations belong to no case and were not judged "
                                             "for planning",
                                             outside));
  }
  const std::size_t ambiguous =
      number_of_calls(context, [&](const NaiveCall& call) { return is_ambiguous(context, call); });
  if (ambiguous > 0) {
    out.push_back(fmt::format(
        "{} no case id of the manifest and a run id that several cases name: they were "
        "tied to none",
        ambiguous == 1 ? "1 invocation carries" : fmt::format("{} invocations carry", ambiguous)));
  }
}

// REQ-MF-037.
void say_forbidden(const Context& context, Sentences& out) {
  if (context.manifest() == nullptr) return;
  std::set<std::string> named;
  for (const auto& [id, call] : context.calls) {
    for (const NaiveEvent* event : call.events) named.insert(event->get(Field::kTool));
  }
  std::set<std::string> unnamed;
  for (const grading::Case& each : context.manifest()->cases) {
    for (const std::string& tool : each.forbidden_requests) {
      if (!named.contains(tool)) unnamed.insert(tool);
    }
  }
  if (unnamed.empty()) return;
  Sentences texts;
  for (const std::string& tool : unnamed) texts.push_back(quoted(tool));
  std::string more;
  if (texts.size() > 5) {
    more = fmt::format(" and {} more", texts.size() - 5);
    texts.resize(5);
  }
  out.push_back(
      fmt::format("forbidden by cases, and named by no event: {}{}", fmt::join(texts, ", "), more));
}

// REQ-CT-034.
void say_rules(const Context& context, Sentences& out) {
  const std::vector<NaiveRule>& rules = context.criteria.contract.rules;
  std::vector<std::size_t> unused;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::size_t calls = number_of_calls(context, [&](const NaiveCall& call) {
      return is_for(rules[i], first_recorded(call.events, Field::kTool),
                    first_recorded(call.events, Field::kRoute));
    });
    if (calls == 0) unused.push_back(i + 1);
  }
  if (unused.empty()) return;
  const std::string number = unused.size() == 1
                                 ? "1 rule of the contract is"
                                 : fmt::format("{} rules of the contract are", unused.size());
  const bool is_cut = unused.size() > 10;
  if (is_cut) unused.resize(10);
  out.push_back(fmt::format("{} for no call of this run: number {}{}", number,
                            fmt::join(unused, ", "), is_cut ? ", …" : ""));
}

void say_routes(const Context& context, Sentences& out) {
  std::set<std::string> routes;
  for (const auto& [id, call] : context.calls) {
    for (const NaiveEvent* event : call.events) {
      if (event->has(Field::kRoute)) routes.insert(quoted(event->get(Field::kRoute)));
    }
  }
  if (!routes.empty()) out.push_back(fmt::format("routes seen: {}", fmt::join(routes, ", ")));
  const std::size_t without = number_of_calls(context, [](const NaiveCall& call) {
    return first_recorded(call.events, Field::kRoute).empty();
  });
  if (without == 0) return;
  out.push_back(without == 1 ? "1 invocation records no route"
                             : fmt::format("{} invocations record no route", without));
}

// REQ-MF-015: what was expected of effects, and compared with starts.
void say_effects(const Context& context, Sentences& out) {
  const std::size_t by_starts = number_of_calls(context, [&](const NaiveCall& call) {
    const grading::Expectation* entry = context.entry(call.id);
    return entry != nullptr && entry->effects && !context.manifest()->effects_required &&
           call.of(EventKind::kEffectObserved).empty() && !has_closed_spy(context, call.events);
  });
  if (by_starts == 0) return;
  out.push_back(
      fmt::format("expected effects of {} were compared with the number of starts: nothing "
                  "observed effects",
                  count_text(by_starts, "invocation")));
}

void say_pinned(const Context& context, Sentences& out) {
  const grading::Manifest* manifest = context.manifest();
  const auto has_entry = [&](auto is_meant) {
    if (manifest == nullptr) return false;
    for (const grading::Case& each : manifest->cases) {
      if (std::any_of(each.expect.begin(), each.expect.end(), is_meant)) return true;
    }
    return false;
  };
  Sentences unpinned;
  const bool has_principals = manifest != nullptr && !manifest->principals.empty();
  const bool has_resources = manifest != nullptr && !manifest->resources.empty();
  if (!has_principals && !has_entry([](const auto& entry) { return entry.principal.has_value(); }))
    unpinned.emplace_back("principals");
  if (!has_resources && !has_entry([](const auto& entry) { return entry.resource.has_value(); }))
    unpinned.emplace_back("resources");
  if (manifest == nullptr || manifest->approvals.empty()) unpinned.emplace_back("approvals");
  if (!unpinned.empty()) {
    out.push_back(
        fmt::format("no manifest pins {}: what was recorded of them was compared only with the "
                    "rest of the record",
                    fmt::join(unpinned, ", ")));
  }
  if (manifest == nullptr) return;
  Sentences unrecorded;
  if (manifest->fixture_revision) unrecorded.emplace_back("fixture_revision");
  const auto& principals = manifest->principals;
  if (std::any_of(principals.begin(), principals.end(),
                  [](const auto& principal) { return !principal.scopes.empty(); })) {
    unrecorded.emplace_back("scopes of principals");
  }
  const auto& events = context.trace.events;
  const bool is_placed = std::any_of(events.begin(), events.end(), [](const NaiveEvent& event) {
    return event.kind == EventKind::kRunStarted && event.has(Field::kEnvironment);
  });
  if (manifest->environment && !is_placed) unrecorded.emplace_back("environment");
  if (unrecorded.empty()) return;
  out.push_back(fmt::format("pinned by the manifest and recorded by no event: {}",
                            fmt::join(unrecorded, ", ")));
}

void say_shadow(const Context& context, Sentences& out) {
  const std::size_t denied = number_of_calls(context, [](const NaiveCall& call) {
    const Events decisions = call.of(EventKind::kAuthorizationDecision);
    return std::any_of(decisions.begin(), decisions.end(), [&](const NaiveEvent* decision) {
      return is_deny(decision) && is_shadow(call, decision);
    });
  });
  if (denied == 0) return;
  out.push_back(
      fmt::format("{} denied in shadow mode, which held nothing back",
                  denied == 1 ? "1 invocation was" : fmt::format("{} invocations were", denied)));
}

// REQ-RD-041.
void say_redaction(const Context& context, Sentences& out) {
  const NaiveRedaction& wanted = context.criteria.redaction;
  const std::size_t canaries = wanted.canaries.size();
  if (canaries == 0) {
    out.emplace_back("no canary was looked for: whether secrets leaked was not judged");
  } else {
    std::size_t bytes = 0;
    for (const NaiveLook& look : context.trace.looks) bytes += look.text.size();
    const std::string number = canaries == 1
                                   ? "1 canary in 10 encodings was"
                                   : fmt::format("{} canaries in 10 encodings were", canaries);
    out.push_back(fmt::format("{} looked for in {}; the control found all", number,
                              count_text(bytes, "byte")));
    std::size_t without = 0;
    for (const auto& [name, value] : wanted.canaries) without += has_halves(value) ? 0 : 1;
    if (without > 0) {
      out.push_back(fmt::format("half of {} alone is too short to be told from chance",
                                without == 1 ? "1 canary" : fmt::format("{} canaries", without)));
    }
  }
  const std::size_t names = wanted.forbid_fields.size();
  if (names == 0) return;
  out.push_back(fmt::format("{} of forbidden fields {} looked for in every line",
                            count_text(names, "name"), names == 1 ? "was" : "were"));
}

}  // namespace

std::vector<std::string> scope_of(const Context& context) {
  Sentences out;
  const std::size_t events = context.trace.events.size() - context.trace.extensions;
  if (events == 0) {
    out.emplace_back("no event was read: nothing was judged");
  } else if (context.calls.empty()) {
    out.emplace_back("no event of an invocation was read: nothing was exercised");
  }
  say_planning(context, out);
  if (!context.calls.empty()) {
    say_forbidden(context, out);
    say_rules(context, out);
  }
  if (const std::size_t files = context.trace.files_of_requests; files > 0) {
    out.push_back(
        fmt::format("{} requests and could record no decision: of those requests nothing but "
                    "planning can be judged",
                    files == 1 ? "1 file records" : fmt::format("{} files record", files)));
  }
  if (const std::size_t fields = context.trace.ignored_fields; fields > 0) {
    Sentences meant(context.trace.fields_meant.begin(), context.trace.fields_meant.end());
    if (meant.size() > 5) meant.resize(5);
    const bool is_told =
        !meant.empty() && context.trace.events_with_ignored_fields <= 10'000;  // REQ-GR-088
    out.push_back(
        fmt::format("{} passed over; names count as they are written there, policy_version and not "
                    "policyVersion{}",
                    fields == 1 ? "1 field of an event has no name of the event contract and was"
                                : fmt::format("{} fields of events have no name of the event "
                                              "contract and were",
                                              fields),
                    is_told ? fmt::format("; meant may be {}", fmt::join(meant, ", ")) : ""));
  }
  say_routes(context, out);
  say_effects(context, out);
  if (!context.calls.empty()) say_pinned(context, out);
  const std::size_t queued =
      number_of(context, EventKind::kQueueEnqueued) + number_of(context, EventKind::kQueueDequeued);
  if (queued > 0) {
    out.push_back(fmt::format("{} of queues (queue.enqueued, queue.dequeued) not judged",
                              count_text(queued, "event")));
  }
  say_shadow(context, out);
  say_redaction(context, out);
  return out;
}

}  // namespace remit::twin
