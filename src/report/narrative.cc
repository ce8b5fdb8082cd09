// Events as sentences.
#include "report/narrative.h"

#include <algorithm>

#include <fmt/format.h>

#include "grading/counted.h"

namespace remit::report {
namespace {

using event::Event;
using event::EventKind;
using event::Field;

bool is_plain(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
}

// Recorded text fit for a terminal: plain words stand as they are, anything else is quoted.
std::string shown(std::string_view text) {
  return is_plain(text) ? std::string(text) : quoted(text, 128);
}

std::string list_of(const std::vector<std::string_view>& items) {
  std::string out;
  for (const std::string_view item : items) {
    out += (out.empty() ? "" : ", ") + shown(item);
  }
  return out;
}

std::string short_digest(std::string_view digest) {
  constexpr std::size_t kShown = 19;  // `sha256:` and twelve digits
  return digest.size() > kShown ? shown(digest.substr(0, kShown)) + "…" : shown(digest);
}

std::string resource_words(const Event& event) {
  if (!event.has(Field::kResourceId) || event.resource_id_is_null) return "no resource";
  std::string out;
  if (event.has(Field::kResourceType)) out += shown(event.text(Field::kResourceType)) + " ";
  out += shown(event.text(Field::kResourceId));
  if (event.has(Field::kResourceTenant)) {
    out += " of " + shown(event.text(Field::kResourceTenant));
  }
  return out;
}

std::string request_words(const Event& event) {
  std::string out = "requested";
  if (event.has(Field::kRoute)) out += " by the route " + shown(event.text(Field::kRoute));
  if (event.has(Field::kPrincipalState)) {
    out += fmt::format(", credential {}", shown(event.text(Field::kPrincipalState)));
  }
  return out;
}

std::string resolution_words(const Event& event) {
  const std::string_view outcome = event.text(Field::kOutcome);
  std::string out = outcome == "found" ? "resolved to " + resource_words(event)
                                       : "resource not resolved: " + shown(outcome);
  if (event.has(Field::kResolutionSource)) {
    out += ", from " + shown(event.text(Field::kResolutionSource));
  }
  if (event.has(Field::kResolutionRevision)) {
    out += " revision " + shown(event.text(Field::kResolutionRevision));
  }
  return out;
}

std::string decision_words(const Event& event) {
  std::string out = fmt::format("decided: {}", shown(event.text(Field::kDecision)));
  if (event.has(Field::kReason)) out += ", " + shown(event.text(Field::kReason));
  if (!event.determining_policies.empty()) out += ", by " + list_of(event.determining_policies);
  if (event.has(Field::kResourceId) && !event.resource_id_is_null) {
    out += ", on " + resource_words(event);
  }
  if (event.has(Field::kPrincipalClass)) {
    out +=
        fmt::format(", for a {}{}{}", shown(event.text(Field::kPrincipalClass)),
                    event.has(Field::kPrincipalTenant) ? " of " : "",
                    event.has(Field::kPrincipalTenant) ? shown(event.text(Field::kPrincipalTenant))
                                                       : std::string{});
  }
  if (event.has(Field::kPolicyVersion)) {
    out += ", under policy " + shown(event.text(Field::kPolicyVersion));
    if (event.has(Field::kPolicyDigest)) {
      out += " (" + short_digest(event.text(Field::kPolicyDigest)) + ")";
    }
  }
  if (event.has(Field::kMode) && event.text(Field::kMode) == "shadow") {
    out += ", in shadow mode: recorded, not enforced";
  }
  return out;
}

std::string finish_words(const Event& event) {
  std::string out = "finished: " + (event.has(Field::kOutcome) ? shown(event.text(Field::kOutcome))
                                                               : std::string("outcome unrecorded"));
  if (event.has(Field::kErrorType)) out += ", " + shown(event.text(Field::kErrorType));
  if (event.has(Field::kDurationUs)) {
    out += fmt::format(", after {:.1f} ms",
                       static_cast<double>(event.integer(Field::kDurationUs)) / 1000.0);
  }
  return out;
}

std::string step_words(const Event& event) {
  switch (event.kind) {
    case EventKind::kToolRequest:
      return request_words(event);
    case EventKind::kResourceResolved:
      return resolution_words(event);
    case EventKind::kApprovalChecked:
      return fmt::format("approval {}: {}", shown(event.text(Field::kApprovalId)),
                         shown(event.text(Field::kApprovalState)));
    case EventKind::kAuthorizationDecision:
      return decision_words(event);
    case EventKind::kPermitUnspent:
      return "allowed, and the permit was never spent";
    case EventKind::kExecutorStart:
      return "started";
    case EventKind::kExecutorFinish:
      return finish_words(event);
    case EventKind::kEffectObserved:
      return fmt::format(
          "{} observed by {}",
          grading::counted(static_cast<std::uint64_t>(event.integer(Field::kEffects)), "effect",
                           "effects"),
          shown(event.text(Field::kSource)));
    default:
      return std::string(event::event_kind_name(event.kind));
  }
}

}  // namespace

bool Narrative::selects(const Event& event) const {
  const std::string_view id = event.text(Field::kInvocationId);
  if (!filter_.invocation_ids.empty() && !filter_.invocation_ids.contains(id)) return false;
  if (!filter_.run_id.empty() && event.text(Field::kRunId) != filter_.run_id) return false;
  return filter_.case_id.empty() || event.text(Field::kCaseId) == filter_.case_id;
}

void Narrative::add(const Event& event) {
  const std::string_view name = event.text(Field::kWriter);
  auto known = writers_.find(name);
  if (known == writers_.end()) known = writers_.emplace(name, Writer{}).first;
  Writer& writer = known->second;
  const std::int64_t before = writer.events++;
  if (event.has(Field::kSeq)) writer.numbers.add(event.integer(Field::kSeq));
  if (event.kind == EventKind::kEvidenceLost) writer.has_lost = true;
  if (event.kind == EventKind::kRunFinished && event.has(Field::kSource)) {
    closed_spies_[{std::string(event.text(Field::kSource)),
                   std::string(event.text(Field::kRunId))}] =
        event.has(Field::kEvents) && event.integer(Field::kEvents) == before;
    return;
  }
  const std::string_view id = event.text(Field::kInvocationId);
  if (id.empty()) return;
  if (ids_.size() < kKeptIds && std::ranges::find(ids_, id) == ids_.end()) ids_.emplace_back(id);
  if (!selects(event)) return;
  auto found = invocations_.find(id);
  if (found == invocations_.end()) {
    found = invocations_.emplace(std::string(id), Invocation{}).first;
    order_.emplace_back(id);
  }
  Invocation& invocation = found->second;
  const auto keep = [&](std::string& slot, Field field) {
    if (slot.empty()) slot = std::string(event.text(field));
  };
  keep(invocation.tool, Field::kTool);
  keep(invocation.case_id, Field::kCaseId);
  keep(invocation.run_id, Field::kRunId);
  invocation.seen.insert(event.kind);
  if (!invocation.writers.contains(name)) invocation.writers.emplace(name);
  if (event.kind == EventKind::kEffectObserved) invocation.has_effects = true;
  invocation.steps.push_back({event.kind, step_words(event)});
}

std::vector<std::string> Narrative::missing() const {
  std::vector<std::string> out;
  for (const std::string& id : filter_.invocation_ids) {
    if (!invocations_.contains(id)) out.push_back(id);
  }
  return out;
}

bool Narrative::has_loss(const Invocation& invocation) const {
  return std::ranges::any_of(invocation.writers, [&](const std::string& name) {
    const Writer& writer = writers_.find(name)->second;
    const auto& ranges = writer.numbers.ranges();
    const bool has_gap = ranges.size() > 1 || (ranges.size() == 1 && ranges.begin()->first > 1);
    return writer.has_lost || has_gap;
  });
}

// What a record without a start says: that nothing started only where it would hold the start.
std::string_view Narrative::start_words(const Invocation& invocation) const {
  const auto seen = [&](EventKind kind) { return invocation.seen.contains(kind); };
  if (seen(EventKind::kExecutorFinish) || invocation.has_effects) return "no start is recorded";
  if (!seen(EventKind::kAuthorizationDecision)) {
    return "whether it started this record cannot say: it holds neither a decision nor a start";
  }
  if (has_loss(invocation)) {
    return "whether it started this record cannot say: no start is recorded, and events were lost";
  }
  return "never started: no start is recorded";
}

std::string Narrative::paragraph(const std::string& id, const Invocation& invocation) const {
  std::string out = fmt::format("{}  invocation {}", shown(invocation.tool), shown(id));
  if (!invocation.case_id.empty()) out += ", case " + shown(invocation.case_id);
  out += "\n";
  // Effects stand last: they come from another writer, whose place among these events means
  // nothing.
  for (const Step& step : invocation.steps) {
    if (step.kind != EventKind::kEffectObserved) out += "  " + step.words + "\n";
  }
  const auto seen = [&](EventKind kind) { return invocation.seen.contains(kind); };
  if (!seen(EventKind::kToolRequest)) out += "  no request is recorded\n";
  if (!seen(EventKind::kAuthorizationDecision)) out += "  no decision is recorded\n";
  if (!seen(EventKind::kExecutorStart)) out += fmt::format("  {}\n", start_words(invocation));
  if (seen(EventKind::kExecutorStart) && !seen(EventKind::kExecutorFinish)) {
    out += "  no finish is recorded: the outcome is unknown\n";
  }
  for (const Step& step : invocation.steps) {
    if (step.kind == EventKind::kEffectObserved) out += "  " + step.words + "\n";
  }
  if (!invocation.has_effects) {
    for (const auto& [spy, whole] : closed_spies_) {
      const auto& [source, run_id] = spy;
      if (!run_id.empty() && run_id != invocation.run_id) continue;
      out += fmt::format("  no effect observed by {}, whose record is {}\n", shown(source),
                         whole ? "complete" : "not whole: it says nothing of what did not happen");
    }
  }
  return out;
}

std::string Narrative::text() const {
  std::string out;
  for (const std::string& id : order_) {
    if (!out.empty()) out += "\n";
    out += paragraph(id, invocations_.at(id));
  }
  return out;
}

}  // namespace remit::report
