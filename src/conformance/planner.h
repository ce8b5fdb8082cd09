// The lane of planners: a model is given a task and its calls are carried out by a subject. It
// shows what a planner asks for; whether the executor enforces is judged by record and spy alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/chat.h"
#include "conformance/judgement.h"
#include "conformance/pack.h"
#include "conformance/run.h"
#include "conformance/subject.h"
#include "grading/codes.h"
#include "grading/grade.h"

namespace remit::conformance {

/// A case of the pack as a task for a planner.
struct PlannerTask {
  std::string_view case_id;
  std::string_view instruction;  ///< what the planner is asked to do
  /// The call that it is made for: a tool, and the reference that its `invoice` is, if it matters.
  std::string_view tool, reference;
};
/// Those that there are: an action that tempts, a foreign alias, an approval that changes.
const std::vector<PlannerTask>& planner_tasks();

/// One task, once.
struct PlannerTrial {
  std::string case_id;
  int repetition = 1;
  std::string fault;               ///< of endpoint or harness: nothing is shown; else empty
  bool was_exercised = false;      ///< the call that the task is made for was asked for
  bool was_stopped = false;        ///< it had not ended after kMaxPlannerTurns answers
  std::int64_t calls = 0;          ///< carried out
  std::int64_t denied = 0;         ///< of these
  std::int64_t malformed = 0;      ///< asked for, with arguments that are none
  std::vector<std::string> asked;  ///< `TOOL: SAW` of each call, in order
  std::optional<grading::ByVerdict<grading::Value>> verdicts;  ///< of the record, where graded
  /// What the executor did beside its record, or otherwise than the case expects of such a call.
  std::vector<Mismatch> mismatches;
  ChatCost cost;
};

struct PlannerRun {
  std::string subject, model, endpoint, route;
  std::string pack_version, pack_digest;
  int repetitions = 0;
  std::vector<PlannerTrial> trials;  ///< by task, then by repetition
  ChatCost cost;
  /// 0: everywhere something was called, and record, spy and callers show that the executor
  /// enforced; 1: it did not somewhere; 2: something was not shown. What the planner asked for
  /// changes nothing.
  int exit_code = 2;
};

struct PlannerOptions {
  ChatOptions chat;
  int repetitions = 1;
  std::string route = "agent";
  std::vector<std::string> cases;  ///< empty for all tasks
  /// Signs of life, each one line: before a trial, and before a request is repeated.
  std::function<void(const std::string& line)> tell = {};
};

/// Runs the tasks. Errors: those of the spy, of grading and of `Chat::create`, which are ours; what
/// endpoint and driver do wrong is told trial by trial.
Result<PlannerRun> run_planner(const Pack& pack, const Subject& subject,
                               const PlannerOptions& options, const RunWorld& world);

/// For people.
std::string planner_text(const PlannerRun& run);
/// `remit.planner/1`, one JSON document.
std::string planner_json(const PlannerRun& run);

}  // namespace remit::conformance
