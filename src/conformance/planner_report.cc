// What the lane of planners shows, with what it cost, in two forms.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "conformance/planner.h"
#include "report/finding_words.h"
#include "report/json_writer.h"

namespace remit::conformance {
namespace {

constexpr std::string_view kWhatItIs =
    "What a planner asks for decides nothing here: whether the executor enforces is judged by its "
    "record and by the spy.";

// `passed 2, failed 1`, over the repetitions that were graded.
std::string counted(const std::vector<const PlannerTrial*>& trials, grading::Verdict verdict) {
  std::map<std::string_view, int> counts;
  for (const PlannerTrial* trial : trials) {
    if (trial->verdicts) ++counts[grading::value_name((*trial->verdicts)[verdict])];
  }
  std::string out;
  for (const auto& [name, count] : counts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, count);
  }
  return out.empty() ? "not graded" : out;
}

// `1 call`, `2 calls`.
std::string number_of(std::int64_t number, std::string_view what) {
  return report::counted(static_cast<std::uint64_t>(number), what, fmt::format("{}s", what));
}

std::string cost_words(const ChatCost& cost) {
  std::string out = fmt::format(
      "{}, {} of them repeated, {} told to slow down, {} ms waited; {} + {} tokens (prompt + "
      "completion, as the endpoint counts)",
      number_of(cost.requests, "request"), cost.retries, number_of(cost.rate_limited, "time"),
      cost.waited.count(), cost.prompt_tokens, cost.completion_tokens);
  if (cost.answers_without_usage > 0) {
    out += fmt::format(", {} without a count", number_of(cost.answers_without_usage, "answer"));
  }
  return out;
}

void write_cost(const ChatCost& cost, report::JsonWriter& out) {
  out.open_member("cost", '{');
  out.plain_member("requests", cost.requests);
  out.plain_member("retries", cost.retries);
  out.plain_member("rate_limited", cost.rate_limited);
  out.plain_member("waited_ms", cost.waited.count());
  out.plain_member("prompt_tokens", cost.prompt_tokens);
  out.plain_member("completion_tokens", cost.completion_tokens);
  out.plain_member("answers_without_usage", cost.answers_without_usage);
  out.close('}');
}

void write_trial(const PlannerTrial& trial, report::JsonWriter& out) {
  out.open('{');
  out.member("case", trial.case_id);
  out.plain_member("repetition", trial.repetition);
  out.member("fault", trial.fault);
  out.plain_member("exercised", trial.was_exercised);
  out.plain_member("stopped", trial.was_stopped);
  out.plain_member("calls", trial.calls);
  out.plain_member("denied", trial.denied);
  out.plain_member("malformed", trial.malformed);
  out.open_member("asked", '[');
  for (const std::string& asked : trial.asked) {
    out.item();
    out.text(asked);
  }
  out.close(']');
  if (trial.verdicts) {
    out.open_member("verdicts", '{');
    for (const grading::Verdict verdict : grading::kVerdicts) {
      out.member(grading::verdict_name(verdict), grading::value_name((*trial.verdicts)[verdict]));
    }
    out.close('}');
  }
  out.open_member("mismatches", '[');
  for (const Mismatch& each : trial.mismatches) {
    out.item();
    out.open('{');
    out.member("what", each.what);
    if (!each.call.empty()) out.member("call", each.call);
    out.member("message", mismatch_words(each));
    out.close('}');
  }
  out.close(']');
  write_cost(trial.cost, out);
  out.close('}');
}

}  // namespace

std::string planner_text(const PlannerRun& run) {
  std::string out =
      fmt::format("planner {} at {}, subject {}, route {}, {}, pack v{}\n{}\n", quoted(run.model),
                  run.endpoint, quoted(run.subject), run.route,
                  number_of(run.repetitions, "repetition"), run.pack_version, kWhatItIs);
  std::vector<std::pair<std::string, std::vector<const PlannerTrial*>>> tasks;
  for (const PlannerTrial& trial : run.trials) {
    if (tasks.empty() || tasks.back().first != trial.case_id) tasks.push_back({trial.case_id, {}});
    tasks.back().second.push_back(&trial);
  }
  for (const auto& [id, trials] : tasks) {
    out += fmt::format("\n{}\n", id);
    for (const grading::Verdict verdict :
         {grading::Verdict::kPlanning, grading::Verdict::kEnforcement,
          grading::Verdict::kExecution}) {
      out += fmt::format("  {}: {}\n", grading::verdict_name(verdict), counted(trials, verdict));
    }
    for (const PlannerTrial* trial : trials) {
      out += fmt::format("  {}: {}, {} denied, {} malformed{}\n", trial->repetition,
                         number_of(trial->calls, "call"), trial->denied, trial->malformed,
                         trial->was_stopped ? ", stopped: it did not end" : "");
      for (const std::string& asked : trial->asked) out += "     " + quoted(asked) + "\n";
      for (const Mismatch& each : trial->mismatches) {
        out += fmt::format("     {}: {}\n", each.what, mismatch_words(each));
      }
      if (!trial->fault.empty()) out += "     nothing shown: " + trial->fault + "\n";
    }
  }
  const auto exercised = std::count_if(run.trials.begin(), run.trials.end(),
                                       [](const auto& each) { return each.was_exercised; });
  out += fmt::format("\nscope: in {} of {} the planner asked for the call that the task is for\n",
                     exercised, report::counted(run.trials.size(), "trial", "trials"));
  const std::string_view words[] = {"enforces", "does not enforce", "undetermined"};
  return out + fmt::format("cost: {}\n{}\n", cost_words(run.cost),
                           words[static_cast<std::size_t>(run.exit_code)]);
}

std::string planner_json(const PlannerRun& run) {
  std::string text;
  report::JsonWriter out(text);
  out.open('{');
  out.member("schema", "remit.planner/1");
  out.member("subject", run.subject);
  out.member("model", run.model);
  out.member("endpoint", run.endpoint);
  out.member("route", run.route);
  out.member("pack_version", run.pack_version);
  out.member("pack_digest", run.pack_digest);
  out.plain_member("repetitions", run.repetitions);
  out.plain_member("exit_code", run.exit_code);
  write_cost(run.cost, out);
  out.open_member("trials", '[');
  for (const PlannerTrial& trial : run.trials) {
    out.item_on_line("  ");
    write_trial(trial, out);
  }
  out.close(']');
  out.close('}');
  return text + "\n";
}

}  // namespace remit::conformance
