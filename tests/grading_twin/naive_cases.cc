// One plain function for each rule of spec/manifest.md on cases and their entries.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "naive_context.h"

namespace remit::twin {
namespace {

using grading::Case;
using grading::Expectation;

bool names_invocation(const Case& each, const std::string& id) {
  return std::any_of(each.expect.begin(), each.expect.end(),
                     [&](const Expectation& entry) { return entry.invocation_id == id; });
}

// REQ-MF-011, REQ-MF-016.
const Case* case_of_call(const std::vector<Case>& cases, const std::string& id,
                         const Events& events) {
  for (const Case& each : cases) {
    if (names_invocation(each, id)) return &each;
  }
  const std::string case_id = first_recorded(events, Field::kCaseId);
  for (const Case& each : cases) {
    if (each.id == case_id) return &each;
  }
  const std::string run_id = first_recorded(events, Field::kRunId);
  std::vector<const Case*> of_run;
  for (const Case& each : cases) {
    if (each.run_id && *each.run_id == run_id) of_run.push_back(&each);
  }
  return of_run.size() == 1 ? of_run.front() : nullptr;
}

// REQ-GR-033: by writer and its order.
bool asked_before(const Events& left, const Events& right) {
  const auto first = [](const Events& events) {
    const auto request = std::find_if(events.begin(), events.end(), [](const auto* event) {
      return event->kind == EventKind::kToolRequest;
    });
    const NaiveEvent* event = request == events.end() ? events.front() : *request;
    return std::make_pair(event->writer, event->order);
  };
  return first(left) < first(right);
}

// REQ-MF-017.
bool is_as_named(const Expectation& entry, const Events& events) {
  const std::string tool = first_recorded(events, Field::kTool);
  if (!tool.empty() && tool != entry.tool) return false;
  return !entry.route || first_recorded(events, Field::kRoute) == *entry.route;
}

// REQ-MF-012: an entry takes its own invocation, or the next of the case that fits.
bool takes(const Case& each, const Expectation& entry, const std::string& id,
           const Events& events) {
  if (!is_as_named(entry, events)) return false;
  if (entry.invocation_id) return *entry.invocation_id == id;
  return !names_invocation(each, id) && !first_recorded(events, Field::kTool).empty();
}

std::string call_text(const std::string& tool, const std::string& route) {
  return route.empty() ? tool : tool + " by " + route;
}

// The kinds of requests of the case, of the first eight that no entry names, which no entry took.
std::string came_instead(const Context& context, const NaiveCase& result, const Expectation& entry,
                         const std::set<std::string>& taken) {
  std::vector<std::string> names;
  std::size_t looked_at = 0;
  for (const std::string& id : result.invocations) {
    const Events& events = context.calls.at(id).events;
    const std::string tool = first_recorded(events, Field::kTool);
    if (names_invocation(*result.definition, id) || tool.empty()) continue;
    if (++looked_at > 8) break;
    if (taken.contains(id)) continue;
    const std::string name =
        call_text(tool, entry.route ? first_recorded(events, Field::kRoute) : "");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.size() > 3) names.resize(3);
  return fmt::format("{}", fmt::join(names, ", "));
}

void find_absent_entry(Context& context, NaiveCase& result, const Expectation& entry,
                       const std::set<std::string>& taken) {
  const std::string id = entry.invocation_id.value_or("");
  const std::string& case_id = result.definition->id;
  result.request_absent = true;
  What what{call_text(entry.tool, entry.route.value_or("")),
            came_instead(context, result, entry, taken),
            {}};
  const bool is_seen = !id.empty() && context.calls.contains(id);
  if (is_seen) {
    const Events& events = context.calls.at(id).events;
    what.recorded = call_text(first_recorded(events, Field::kTool),
                              entry.route ? first_recorded(events, Field::kRoute) : "");
    what.events = {events.front()};
  }
  if (is_seen) what.detail = "its id came with another call";
  add_case_finding(context, "expected_request_absent", id, case_id, what);
  // REQ-MF-018.
  if (id.empty() || result.definition->is_security || is_seen) return;
  if (result.invocations.empty()) return;
  What missing;
  if (!context.losses.empty()) missing.value = Value::kUndetermined;
  add_case_finding(context, "missing_invocation", id, case_id, missing);
}

void match_entries(Context& context, NaiveCase& result) {
  std::set<std::string> taken;
  std::vector<const Expectation*> absent;
  for (const Expectation& entry : result.definition->expect) {
    const auto match = std::find_if(
        result.invocations.begin(), result.invocations.end(), [&](const std::string& id) {
          return !taken.contains(id) &&
                 takes(*result.definition, entry, id, context.calls.at(id).events);
        });
    if (match == result.invocations.end()) {
      absent.push_back(&entry);
      continue;
    }
    taken.insert(*match);
    context.entry_of[*match] = &entry;
  }
  for (const Expectation* entry : absent) find_absent_entry(context, result, *entry, taken);
}

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// REQ-MF-014.
void judge_requests(Context& context, NaiveCase& result) {
  const Case& each = *result.definition;
  std::set<std::string> requested;
  for (const std::string& id : result.invocations) {
    for (const NaiveEvent* request : context.calls.at(id).of(EventKind::kToolRequest)) {
      const std::string tool = request->get(Field::kTool);
      requested.insert(tool);
      const bool is_forbidden = lists(each.forbidden_requests, tool);
      if (is_forbidden || (each.allowed_requests && !lists(*each.allowed_requests, tool))) {
        add_case_finding(
            context, "forbidden_request", id, each.id,
            saying(is_forbidden ? "the case forbids it" : "it is outside what the case allows",
                   {"", tool, {request}}));
      }
    }
  }
  for (const std::string& tool : each.required_requests) {
    if (requested.contains(tool)) continue;
    result.request_absent = true;
    add_case_finding(context, "expected_request_absent", "", each.id, {tool, "", {}});
  }
}

}  // namespace

void judge_cases(Context& context) {
  if (context.manifest() == nullptr) return;
  const std::vector<Case>& cases = context.manifest()->cases;
  for (const auto& [id, call] : context.calls) {
    if (const Case* each = case_of_call(cases, id, call.events)) context.case_of[id] = each->id;
  }
  for (const Case& each : cases) {
    NaiveCase& result = context.cases.emplace_back();
    result.definition = &each;
    for (const auto& [id, case_id] : context.case_of) {
      if (case_id == each.id) result.invocations.push_back(id);
    }
    std::sort(result.invocations.begin(), result.invocations.end(),
              [&](const std::string& left, const std::string& right) {
                return asked_before(context.calls.at(left).events, context.calls.at(right).events);
              });
    match_entries(context, result);
    judge_requests(context, result);
    if (result.invocations.empty() && !result.request_absent) {
      add_case_finding(context, "vacuous_case", "", each.id, {"", "", {}, Value::kNotExercised});
    }
  }
}

}  // namespace remit::twin
