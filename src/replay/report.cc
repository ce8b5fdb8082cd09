// Counting, and two forms of what was counted.
#include "replay/report.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "json/value.h"

namespace remit::replay {
namespace {

using enforcement::HandlerOutcome;

void count(const ReplayedCall& call, Counts& out) {
  ++out.calls;
  if (call.denied) {
    ++out.denied;
    return;
  }
  ++out.allowed;
  out.would_deny += call.would_deny.empty() ? 0 : 1;
  switch (call.outcome) {
    case HandlerOutcome::kSucceeded:
      ++out.succeeded;
      return;
    case HandlerOutcome::kFailed:
      ++out.failed;
      return;
    case HandlerOutcome::kCancelled:
    case HandlerOutcome::kUnknown:
      ++out.unknown;
      return;
  }
}

struct Summary {
  Counts all;
  std::uint64_t runs_denied = 0;
  std::map<DenialKind, std::uint64_t> denials;
  std::map<std::string, LabelCounts> labels;
};

std::string policies_text(const ReplayedCall& call) {
  return fmt::format("{}", fmt::join(call.policies, ","));
}

Summary summary_of(const Report& report) {
  Summary out;
  for (const ReplayedRun& run : report.runs) {
    LabelCounts& label = out.labels[run.caller.label];
    bool is_denied = false;
    for (const ReplayedCall& call : run.calls) {
      count(call, out.all);
      count(call, label.calls);
      if (!call.denied) continue;
      is_denied = true;
      ++out.denials[{std::string(access::reason_name(*call.denied)), policies_text(call),
                     call.tool}];
    }
    ++label.runs;
    label.runs_denied += is_denied ? 1 : 0;
    out.runs_denied += is_denied ? 1 : 0;
  }
  return out;
}

json::Value number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

json::Object counts_json(const Counts& counts) {
  return {{"calls", number(counts.calls)},    {"allowed", number(counts.allowed)},
          {"denied", number(counts.denied)},  {"succeeded", number(counts.succeeded)},
          {"failed", number(counts.failed)},  {"would_deny", number(counts.would_deny)},
          {"unknown", number(counts.unknown)}};
}

json::Object call_json(const ReplayedCall& call) {
  json::Object out{{"tool", call.tool},
                   {"invocation_id", call.invocation_id},
                   {"decision", call.denied ? "deny" : "allow"}};
  if (call.denied) out.set("reason", access::reason_name(*call.denied));
  if (!call.would_deny.empty()) out.set("would_deny", call.would_deny);
  json::Array policies;
  for (const std::string& policy : call.policies) policies.emplace_back(policy);
  out.set("policies", std::move(policies));
  if (!call.denied) out.set("outcome", outcome_name(call.outcome));
  if (!call.error_type.empty()) out.set("error_type", call.error_type);
  return out;
}

json::Object run_json(const ReplayedRun& run) {
  json::Object out{{"run_id", run.id}};
  if (!run.case_id.empty()) out.set("case_id", run.case_id);
  out.set("principal", run.caller.principal);
  if (!run.caller.label.empty()) out.set("label", run.caller.label);
  json::Array calls;
  for (const ReplayedCall& call : run.calls) calls.emplace_back(call_json(call));
  out.set("calls", std::move(calls));
  return out;
}

// What a model, a trace or an operator wrote is outside text.
std::string shown(std::string_view text) {
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("_./:@- ").find(c) != std::string_view::npos;
    if (!is_plain) return quoted(text);
  }
  return text.empty() ? "-" : std::string(text);
}

std::string reason_text(std::string_view reason, std::string_view policies) {
  return policies.empty() ? std::string(reason) : fmt::format("{}, by {}", reason, policies);
}

void append_labels(const Summary& summary, std::string& out) {
  const bool has_labels = summary.labels.size() > 1 || !summary.labels.contains("");
  if (summary.labels.empty() || !has_labels) return;
  out += fmt::format("\n{:<24}{:>8}{:>14}{:>8}{:>9}{:>8}\n", "label", "runs", "with a denial",
                     "calls", "allowed", "denied");
  for (const auto& [label, counts] : summary.labels) {
    out += fmt::format("{:<24}{:>8}{:>14}{:>8}{:>9}{:>8}\n", shown(label), counts.runs,
                       counts.runs_denied, counts.calls.calls, counts.calls.allowed,
                       counts.calls.denied);
  }
}

void append_run(const ReplayedRun& run, bool all, std::string& out) {
  out += fmt::format("\n{}  for {}{}\n", shown(run.id), shown(run.caller.principal),
                     run.caller.label.empty() ? "" : ", " + shown(run.caller.label));
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    const ReplayedCall& call = run.calls[i];
    if (call.denied) {
      out += fmt::format("  {:>3} {}  denied, {}\n", i + 1, shown(call.tool),
                         reason_text(access::reason_name(*call.denied), policies_text(call)));
    } else if (all) {
      out +=
          fmt::format("  {:>3} {}  {}{}{}\n", i + 1, shown(call.tool), outcome_name(call.outcome),
                      call.error_type.empty() ? "" : ", " + shown(call.error_type),
                      call.would_deny.empty() ? "" : ", would be denied: " + call.would_deny);
    }
  }
}

bool has_denial(const ReplayedRun& run) {
  for (const ReplayedCall& call : run.calls) {
    if (call.denied) return true;
  }
  return false;
}

}  // namespace

void RecordedDecisions::take(const event::Event& event) {
  using event::Field;
  if (event.kind != event::EventKind::kAuthorizationDecision) return;
  Decision decision{.is_allow = event.text(Field::kDecision) == "allow",
                    .is_binding = !event.has(Field::kEnforced) || event.enforced,
                    .reason = std::string(event.text(Field::kReason)),
                    .policies = {}};
  for (const std::string_view policy : event.determining_policies) {
    decision.policies.emplace_back(policy);
  }
  by_invocation_.insert_or_assign(std::string(event.text(Field::kInvocationId)),
                                  std::move(decision));
}

bool RecordedDecisions::is_same(const Decision& decision, const ReplayedCall& call) {
  if (call.denied) {
    return !decision.is_allow && decision.reason == access::reason_name(*call.denied);
  }
  return decision.is_allow || !decision.is_binding;
}

std::size_t RecordedDecisions::join(std::vector<ReplayedCall>& calls) const {
  std::size_t unrecorded = 0;
  for (ReplayedCall& call : calls) {
    if (call.invocation_id.empty() && !call.error_type.empty()) continue;
    const auto found = by_invocation_.find(call.invocation_id);
    if (found == by_invocation_.end() || !is_same(found->second, call)) {
      ++unrecorded;
      continue;
    }
    if (!found->second.is_allow && !call.denied) call.would_deny = found->second.reason;
    call.policies = found->second.policies;
  }
  return unrecorded;
}

std::string report_json(const Report& report) {
  const Summary summary = summary_of(report);
  json::Object head{{"schema", "remit.replay/1"}};
  if (!report.at.empty()) head.set("at", report.at);
  head.set("evidence", report.evidence);
  head.set("runs_replayed", number(report.runs.size()));
  head.set("runs_denied", number(summary.runs_denied));
  head.set("unrecorded", number(report.unrecorded));
  head.set("totals", counts_json(summary.all));
  json::Array denials;
  for (const auto& [kind, times] : summary.denials) {
    denials.emplace_back(json::Object{{"reason", kind.reason},
                                      {"policies", kind.policies},
                                      {"tool", kind.tool},
                                      {"calls", number(times)}});
  }
  head.set("denials", std::move(denials));
  json::Array labels;
  for (const auto& [label, counts] : summary.labels) {
    labels.emplace_back(json::Object{{"label", label},
                                     {"runs", number(counts.runs)},
                                     {"runs_denied", number(counts.runs_denied)},
                                     {"totals", counts_json(counts.calls)}});
  }
  head.set("labels", std::move(labels));
  std::string out = json::write(json::Value{std::move(head)});
  out.pop_back();
  out += ",\n\"runs\":[";
  bool is_first = true;
  for (const ReplayedRun& run : report.runs) {
    out += std::exchange(is_first, false) ? "\n" : ",\n";
    out += json::write(json::Value{run_json(run)});
  }
  return out + "]}\n";
}

std::string report_text(const Report& report, bool all) {
  const Summary summary = summary_of(report);
  std::string out;
  for (const ReplayedRun& run : report.runs) {
    if (all || has_denial(run)) append_run(run, all, out);
  }
  if (!out.empty()) out.erase(0, 1);
  if (!summary.denials.empty()) out += "\ndenied\n";
  for (const auto& [kind, times] : summary.denials) {
    out += fmt::format("{:>6}  {}  {}\n", times, shown(kind.tool),
                       reason_text(kind.reason, kind.policies));
  }
  append_labels(summary, out);
  const Counts& counts = summary.all;
  out += fmt::format(
      "\n{} runs, {} calls: {} allowed ({} succeeded, {} failed, {} unknown), {} denied in {} "
      "runs\n",
      report.runs.size(), counts.calls, counts.allowed, counts.succeeded, counts.failed,
      counts.unknown, counts.denied, summary.runs_denied);
  if (counts.would_deny > 0) {
    out += fmt::format("{} of those allowed would be denied where policy enforces\n",
                       counts.would_deny);
  }
  out += fmt::format("evidence: {}\n", quoted(report.evidence));
  if (!report.at.empty()) {
    out += fmt::format("the clock was set: each run began at {}\n", report.at);
  }
  if (report.unrecorded > 0) {
    out +=
        fmt::format("{} calls have no decision in the record, or another one\n", report.unrecorded);
  }
  return out;
}

std::uint64_t calls_of(const Report& report) {
  return summary_of(report).all.calls;
}

}  // namespace remit::replay
