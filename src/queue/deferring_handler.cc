// A granted call as work for later.
#include "queue/deferring_handler.h"

#include <algorithm>
#include <utility>

#include "base/rfc3339.h"
#include "json/value.h"

namespace remit::queue {
namespace {

using enforcement::GrantedCall;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;
using event::Field;

HandlerResult failed(const char* error_type) {
  return {.outcome = HandlerOutcome::kFailed, .error_type = error_type};
}

// What is asked for, or nothing where it is not asked for rightly.
std::optional<Work> work_of(const GrantedCall& call) {
  Work out;
  const json::Value* arguments = call.arguments().find("arguments");
  if (arguments == nullptr || arguments->if_object() == nullptr) return std::nullopt;
  out.arguments_json = json::canonical(*arguments);
  if (const json::Value* given = call.arguments().find("not_before")) {
    if (given->if_string() == nullptr) return std::nullopt;
    const Result<WallTime> time = parse_rfc3339(*given->if_string());
    if (!time) return std::nullopt;
    out.not_before = *time;
  }
  return out;
}

}  // namespace

HandlerResult DeferringHandler::run(const GrantedCall& call) {
  const auto deferred = tools_.find(call.tool().name);
  std::optional<Work> work = work_of(call);
  if (deferred == tools_.end() || !work) return failed("invalid_work");
  work->queue = deferred->second.queue;
  work->tool = deferred->second.tool;
  work->max_attempts = deferred->second.max_attempts;
  work->principal = call.principal().subject;
  work->lane = call.principal().tenant;
  work->key = call.invocation_id();
  work->run_id = call.run_id();
  work->case_id = call.case_id();
  work->enqueued_by = call.invocation_id();
  work->enqueued_policy_version = call.policy_version();
  const Result<Enqueued> enqueued = queue_.enqueue(*work);
  if (!enqueued) {
    switch (enqueued.error().code) {
      case ErrorCode::kInvalidInput:
      case ErrorCode::kAlreadyExists:
        return failed("invalid_work");
      case ErrorCode::kLimitExceeded:
        return failed("queue_full");
      default:
        return {.outcome = HandlerOutcome::kUnknown, .error_type = "queue_unavailable"};
    }
  }
  record(call, *work, *enqueued);
  return {.outcome = HandlerOutcome::kSucceeded,
          .payload = json::write(json::Object{{"status", "queued"}, {"id", enqueued->id}})};
}

// REQ-QU-032. It releases nothing, and so is not waited for: without it the runs are joined to
// nothing, which is what is known then.
void DeferringHandler::record(const GrantedCall& call, const Work& work, const Enqueued& enqueued) {
  const std::string key_digest = key_.digest(enqueued.invocation_key);
  event::Event out;
  out.kind = event::EventKind::kQueueEnqueued;
  out.set(Field::kInvocationId, call.invocation_id());
  out.set_if_any(Field::kRunId, call.run_id());
  out.set_if_any(Field::kCaseId, call.case_id());
  out.set(Field::kTool, call.tool().name);
  out.set(Field::kIdempotencyKeyDigest, key_digest);
  out.set(Field::kQueue, work.queue);
  out.set_if_any(Field::kEnqueuedPolicyVersion, work.enqueued_policy_version);
  static_cast<void>(evidence_.append({.events = {&out, 1}}));
}

}  // namespace remit::queue
