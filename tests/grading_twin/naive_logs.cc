// One plain function for each rule of spec/grades.md on writers' logs: numbers, losses, closings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "naive_context.h"

namespace remit::twin {
namespace {

// REQ-GR-076, REQ-GR-062: closed is a denial that nothing contradicts, a finish, or a permit that
// was never spent. `events` are some of the call's.
bool closed_by(const Events& events, const NaiveCall& call) {
  const bool is_allowed = any_allow(call.of(EventKind::kAuthorizationDecision));
  return std::any_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    if (event->kind == EventKind::kExecutorFinish) return true;
    if (event->kind == EventKind::kPermitUnspent) return true;
    return event->kind == EventKind::kAuthorizationDecision && is_deny(event) &&
           !is_shadow(call, event) && !is_allowed;
  });
}

// ---- Losses (REQ-EV-040, REQ-GR-070 to REQ-GR-074).

void judge_gaps(Context& context) {
  std::map<NaiveWriter, std::map<std::int64_t, const NaiveEvent*>> numbers;
  for (const NaiveEvent& event : context.trace.events) {
    if (event.has(Field::kSeq)) numbers[event.writer][event.integers.at(Field::kSeq)] = &event;
  }
  for (const auto& [writer, seen] : numbers) {
    std::int64_t expected = 1;
    for (const auto& [number, event] : seen) {
      if (number > expected) {
        context.losses.push_back({writer, {number, 0}, false});
        const std::string missing = number - expected == 1
                                        ? std::to_string(expected)
                                        : fmt::format("{} to {}", expected, number - 1);
        add(context, "sequence_gap", "",
            saying(fmt::format("{} of writer {}", missing, quoted(writer.name, 200)),
                   {std::to_string(expected), std::to_string(number), {event}}));
      }
      expected = number + 1;
    }
  }
}

void judge_closing_counts(Context& context, const NaiveEvent& closing) {
  std::int64_t events = 0;
  std::set<std::string> invocations;
  for (const NaiveEvent& event : context.trace.events) {
    if (!before(&event, &closing)) continue;
    ++events;
    if (event::is_call_event(event.kind)) invocations.insert(event.get(Field::kInvocationId));
  }
  const auto compare = [&](Field field, std::string_view noun, std::int64_t seen) {
    if (!closing.has(field) || closing.integers.at(field) <= seen) return;
    context.losses.push_back({closing.writer, closing.order, true});
    add(context, "evidence_lost", "",
        saying(fmt::format("writer {} wrote more {}", quoted(closing.writer.name, 200), noun),
               {fmt::format("{} {}", closing.integers.at(field), noun),
                fmt::format("{} {}", seen, noun),
                {&closing}}));
  };
  compare(Field::kEvents, "events", events);
  compare(Field::kInvocations, "invocations", static_cast<std::int64_t>(invocations.size()));
}

std::string loss_text(const NaiveEvent& lost) {
  const auto number = lost.integers.find(Field::kEvents);
  const bool is_known = number != lost.integers.end() && number->second >= 0;
  const std::string cause = lost.get(Field::kCause);
  return fmt::format("writer {} lost {}{}", quoted(lost.writer.name, 200),
                     is_known ? std::to_string(number->second) : "an unknown number",
                     cause.empty() ? "" : ", " + quoted(cause));
}

void judge_said_losses(Context& context) {
  for (const NaiveEvent& event : context.trace.events) {
    if (event.kind == EventKind::kEvidenceLost) {
      context.losses.push_back({event.writer, event.order, false});
      add(context, "evidence_lost", "", saying(loss_text(event), {"", "", {&event}}));
    }
    if (event.kind == EventKind::kRunFinished) judge_closing_counts(context, event);
  }
}

// REQ-GR-071, REQ-GR-077.
bool touched_by(const NaiveLoss& loss, const NaiveCall& call) {
  Events own;
  Events earlier;
  for (const NaiveEvent* event : call.events) {
    if (event->writer != loss.writer) continue;
    own.push_back(event);
    if (event->order < loss.before) earlier.push_back(event);
  }
  if (own.empty()) return false;
  if (earlier.empty()) return own.front()->kind != EventKind::kToolRequest;
  return loss.is_anywhere_before || !closed_by(earlier, call);
}

// REQ-GR-074, REQ-GR-078, REQ-GR-079.
bool closes(const NaiveEvent& closing, const NaiveEvent* event, const std::string& run_of_call) {
  if (closing.kind != EventKind::kRunFinished) return false;
  const bool is_spy = closing.has(Field::kSource);
  if (is_spy || !closing.has(Field::kRunId)) return before(event, &closing);
  const std::string run = event->has(Field::kRunId) ? event->get(Field::kRunId) : run_of_call;
  return closing.get(Field::kRunId) == run;
}

bool record_is_closed(const Context& context, const Events& events) {
  const std::string run = first_recorded(events, Field::kRunId);
  return std::all_of(events.begin(), events.end(), [&](const NaiveEvent* event) {
    return std::any_of(context.trace.events.begin(), context.trace.events.end(),
                       [&](const NaiveEvent& closing) { return closes(closing, event, run); });
  });
}

}  // namespace

void add_absence(Context& context, const std::string& code, const NaiveCall& call, What what) {
  const bool is_touched = std::any_of(context.losses.begin(), context.losses.end(),
                                      [&](const auto& loss) { return touched_by(loss, call); });
  if (is_touched) what.value = Value::kUndetermined;
  add(context, code, call.id, std::move(what));
  if (is_touched) context.findings.back().message += " (events of this writer were lost)";
}

void judge_open(Context& context, const NaiveCall& call) {
  if (!closed_by(call.events, call) && !record_is_closed(context, call.events)) {
    add(context, "missing_run_finished", call.id, {"run.finished", "", {call.events.back()}});
  }
}

void judge_repeats(Context& context) {
  for (const NaiveRepeat& repeat : context.trace.repeats) {
    const bool is_seen = context.calls.contains(repeat.invocation);
    add(context, repeat.is_verified ? "conflicting_repeat" : "unverified_repeat",
        is_seen ? repeat.invocation : "");
    context.findings.back().places = {repeat.place};
  }
}

void judge_logs(Context& context) {
  judge_gaps(context);
  judge_said_losses(context);
}

}  // namespace remit::twin
