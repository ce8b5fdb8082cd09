// The one path: decide, make it durable, run, record the finish.
#include "enforcement/enforcement_point.h"

#include <atomic>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/mutex.h"
#include "base/rfc3339.h"
#include "base/token_bucket.h"
#include "enforcement/assessment.h"
#include "enforcement/call_record.h"
#include "enforcement/claims.h"
#include "enforcement/denial.h"
#include "enforcement/guarded.h"
#include "enforcement/permit_register.h"
#include "enforcement/recorded_text.h"
#include "enforcement/refusal_meter.h"

namespace remit::enforcement {
namespace {

using access::ReasonCode;
using event::Event;
using event::EventKind;
using event::Field;

constexpr std::int64_t kEventsOfRefusal = 2;  // request and decision

/// Whether the start becomes durable together with the decision, or later, when a permit is spent.
enum class StartCommit : std::uint8_t { kLater, kWithDecision };

// Whether a call was refused before anybody was known to have sent it.
bool is_strangers(const Assessment& assessment) {
  return assessment.reached <= Step::kIdentify;
}

// Whether it was refused because its principal, who is known, calls too often.
bool is_hasty(const Assessment& assessment) {
  return is_strangers(assessment) && assessment.decision.reason() == ReasonCode::kLimitExceeded;
}

Denial denial_of(const CallRecord& record) {
  const Assessment& facts = record.assessment();
  Denial out =
      make_denial(facts.decision.reason(), record.invocation_id(), facts.decision.detail());
  if (out.reason == ReasonCode::kMissingScope && facts.tool != nullptr) {
    out.scopes_needed = facts.tool->scopes;
  }
  if (out.reason == ReasonCode::kInvalidArguments) out.arguments = facts.wrong_arguments;
  if (facts.lacks_key) say_key_is_missing(out);
  if (facts.wants_approval()) out.approval_request = facts.once.request;
  if (facts.earlier) say_first_attempt(*facts.earlier, out);
  return out;
}

Denial denial_of(const CallRecord& record, const Error& fault) {
  access::Decision refusal = refusal_of(Step::kRecord, fault);
  return make_denial(refusal.reason(), record.invocation_id(), refusal.detail());
}

// What the ledger keeps of a handler's word.
ledger::Outcome kept_outcome(HandlerOutcome outcome) {
  switch (outcome) {
    case HandlerOutcome::kSucceeded:
      return ledger::Outcome::kSucceeded;
    case HandlerOutcome::kFailed:
      return ledger::Outcome::kFailed;
    case HandlerOutcome::kCancelled:
      return ledger::Outcome::kCancelled;
    case HandlerOutcome::kUnknown:
      return ledger::Outcome::kUnknown;
  }
  return ledger::Outcome::kUnknown;
}

// The handler's word on what kind of error it was, if it can be recorded.
std::string_view recorded_error_type(const HandlerResult& result) {
  if (result.error_type.empty() || is_plain_name(result.error_type)) return result.error_type;
  return "unnamed";
}

HandlerResult entered(ToolHandler& handler, const GrantedCall& call) {
  try {
    return handler.run(call);
  } catch (...) {
    // Whatever it was about to say is lost, and its effect may have happened.
    return HandlerResult{.outcome = HandlerOutcome::kUnknown, .error_type = "exception"};
  }
}

}  // namespace

std::string_view outcome_name(HandlerOutcome outcome) {
  switch (outcome) {
    case HandlerOutcome::kSucceeded:
      return "succeeded";
    case HandlerOutcome::kFailed:
      return "failed";
    case HandlerOutcome::kCancelled:
      return "cancelled";
    case HandlerOutcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

struct EnforcementPoint::Impl {
  explicit Impl(Surroundings surroundings)
      : world(std::move(surroundings)),
        assessor(world),
        principals(world.principal_calls_per_second, kMaxMeteredCallers),
        permits(std::make_shared<PermitRegister>(world.evidence, world.ledger)) {}

  /// Steps 1 to 12. `assess` gives the assessment under a snapshot. Nothing when the call may run:
  /// then everything up to here is durable.
  template <class Assess>
  std::optional<Denial> decide(CallRecord& record, StartCommit start, const Assess& assess);

  /// Counts one call of its principal, however often it is assessed.
  Assessor::Admits admission() {
    return [this, is_admitted = std::optional<bool>()](const access::Principal& caller) mutable {
      if (!is_admitted) {
        is_admitted = principals.take(
            json::write(json::Array{caller.tenant, caller.subject, caller.on_behalf_of}),
            world.clock.monotonic_now());
      }
      return *is_admitted;
    };
  }

  CallRecord new_record(const access::ProposedCall& call, WallTime now) {
    return CallRecord{call, random_id(world.random), now, world.digest_key};
  }
  Status commit(const std::vector<Event>& events, std::uint64_t generation);
  Status commit_decision(const CallRecord& record, StartCommit start, std::uint64_t generation);
  Denial denial_with_request(const CallRecord& record);
  Denial overrule(CallRecord& record, const access::Decision& refusal);
  Status publish(const decision::PolicySnapshot& snapshot);
  Status publish_if_new(const decision::PolicySnapshot* snapshot);
  CallOutcome run(CallRecord& record, ToolHandler& handler, std::stop_token stop);
  Status start_claim(const Assessment& facts);
  void count_refusal(RefusalMeter& meter, MonotonicTime now);
  void report_all_lost() noexcept;
  void report_lost(std::int64_t events) noexcept;
  Status covers(const PermitState& permit, std::string_view tool, std::string_view arguments_json);

  const Surroundings world;
  const Assessor assessor;
  TokenBuckets principals;
  RefusalMeter refusals;        // of strangers
  RefusalMeter hasty_refusals;  // of principals beyond their bound: their haste hides no stranger
  const std::shared_ptr<PermitRegister> permits;
  std::atomic<std::uint64_t> published_generation{0};
  std::atomic<std::int64_t> invocations{0};
  Mutex run_mutex;
  std::string run_id REMIT_GUARDED_BY(run_mutex);
};

template <class Assess>
std::optional<Denial> EnforcementPoint::Impl::decide(CallRecord& record, StartCommit start,
                                                     const Assess& assess) {
  Status recorded;
  for (int made = 0; made <= kMaxRemakesAfterPublication; ++made) {
    const auto snapshot = world.policy.get();
    Assessment assessed = assess(snapshot);
    const bool is_last = made == kMaxRemakesAfterPublication;
    if (claim_once(world, record.invocation_id(), is_last, assessed) == ClaimStep::kApprovalMoved) {
      continue;
    }
    record.set_assessment(std::move(assessed), random_id(world.random), world.digest_key);
    Assessment& facts = record.assessment();
    if (is_strangers(facts)) {
      const MonotonicTime now = world.clock.monotonic_now();
      RefusalMeter& meter = is_hasty(facts) ? hasty_refusals : refusals;
      if (!meter.admit(now)) {
        count_refusal(meter, now);
        return denial_of(record);
      }
    }
    // A decision never stands in the log before the policy that made it.
    const std::uint64_t generation = snapshot == nullptr ? 0 : snapshot->generation;
    recorded = publish_if_new(snapshot.get());
    if (recorded) recorded = commit_decision(record, start, generation);
    if (recorded) {
      if (facts.may_run()) return std::nullopt;
      return denial_with_request(record);
    }
    release_claim(world.ledger, facts);
    if (recorded.error().code != ErrorCode::kFailedPrecondition) break;
  }
  if (recorded.error().code != ErrorCode::kFailedPrecondition) {
    return denial_of(record, recorded.error());
  }
  return overrule(record, refusal_of(Step::kRecord, recorded.error()));
}

// What a person has to know comes after the denial is on record, and the denial stands without it.
Denial EnforcementPoint::Impl::denial_with_request(const CallRecord& record) {
  Denial denial = denial_of(record);
  if (!record.assessment().wants_approval()) return denial;
  if (const Status noted = note_approval_request(world, record.assessment()); !noted) {
    denial.approval_request.clear();
    denial.detail = "the request for an approval was not kept: " + noted.error().to_string();
  }
  return denial;
}

// Each time a newer policy was published while this one was asked: no policy has the last word. The
// refusal stands in the log under the policy in force at its place, as every decision does.
Denial EnforcementPoint::Impl::overrule(CallRecord& record, const access::Decision& refusal) {
  constexpr int kMaxPlaces = 16;
  Status recorded;
  for (int place = 0; place < kMaxPlaces; ++place) {
    const auto in_force = world.policy.get();
    record.overrule(refusal, in_force);
    recorded = publish_if_new(in_force.get());
    const std::uint64_t generation = in_force == nullptr ? 0 : in_force->generation;
    if (recorded) recorded = commit_decision(record, StartCommit::kLater, generation);
    if (recorded) return denial_of(record);
    if (recorded.error().code != ErrorCode::kFailedPrecondition) break;
  }
  return denial_of(record, Error{ErrorCode::kUnavailable, recorded.error().to_string()});
}

Status EnforcementPoint::Impl::commit(const std::vector<Event>& events, std::uint64_t generation) {
  return guarded("evidence", [&] {
    return world.evidence.commit({.events = events, .policy_generation = generation});
  });
}

Status EnforcementPoint::Impl::commit_decision(const CallRecord& record, StartCommit start,
                                               std::uint64_t generation) {
  constexpr std::size_t kRequestToStart = 4;
  std::vector<Event> events;
  events.reserve(kRequestToStart + record.assessment().resolutions.size());
  record.append_decision(events);
  if (start == StartCommit::kWithDecision && record.assessment().may_run()) {
    record.append_start({}, events);
  }
  REMIT_TRY(commit(events, generation));
  invocations.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status EnforcementPoint::Impl::publish_if_new(const decision::PolicySnapshot* snapshot) {
  if (snapshot == nullptr) return {};
  if (snapshot->generation <= published_generation.load(std::memory_order_acquire)) return {};
  return publish(*snapshot);
}

Status EnforcementPoint::Impl::publish(const decision::PolicySnapshot& snapshot) {
  Event published;
  published.kind = EventKind::kPolicyPublished;
  published.set(Field::kPolicyVersion, snapshot.bundle->version);
  published.set_if_any(Field::kPolicyDigest, snapshot.bundle->digest);
  REMIT_TRY(
      guarded("evidence", [&] { return world.evidence.publish(published, snapshot.generation); }));
  std::uint64_t known = published_generation.load(std::memory_order_relaxed);
  while (known < snapshot.generation &&
         !published_generation.compare_exchange_weak(known, snapshot.generation,
                                                     std::memory_order_release)) {
  }
  return {};
}

CallOutcome EnforcementPoint::Impl::run(CallRecord& record, ToolHandler& handler,
                                        std::stop_token stop) {
  Assessment& facts = record.assessment();
  GrantedCall granted;
  granted.bundle_ = facts.snapshot->bundle;
  granted.tool_ = facts.tool;
  granted.invocation_id_ = record.invocation_id();
  granted.principal_ = std::move(*facts.identity->principal);
  granted.resources_ = std::move(facts.resources);
  granted.arguments_ = std::move(facts.arguments);
  granted.arguments_json_ = std::move(facts.granted_json);
  granted.run_id_ = record.run_id();
  granted.case_id_ = record.case_id();
  granted.stop_ = std::move(stop);

  const Status started = start_claim(facts);
  const MonotonicTime before = world.clock.monotonic_now();
  HandlerResult result;
  bool is_entered = false;
  if (granted.stop_.stop_requested()) {
    result.outcome = HandlerOutcome::kCancelled;
  } else if (!started) {
    // Taken from a process that was not heard of, or a ledger that is away: nobody may run it here.
    result = {.outcome = HandlerOutcome::kFailed, .error_type = std::string(kClaimLost)};
  } else if (before > facts.expires()) {
    // The log took its time. What was resolved and decided may no longer hold, and the start is
    // recorded already: its finish says that nothing was done.
    result = {.outcome = HandlerOutcome::kFailed, .error_type = std::string(kPermitExpired)};
  } else {
    is_entered = true;
    result = entered(handler, granted);
  }
  const Duration taken = world.clock.monotonic_now() - before;
  const Event finish = record.finish(
      granted.resources_.front(), outcome_name(result.outcome), recorded_error_type(result),
      std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  // What the handler did is done, whether or not the log can still take it: a sink that cannot
  // refuses every later call, and the start without a finish says that the outcome is unknown.
  static_cast<void>(
      guarded("evidence", [&] { return world.evidence.append({.events = {&finish, 1}}); }));
  if (facts.claim) {
    world.ledger->finish(*facts.claim,
                         is_entered ? kept_outcome(result.outcome) : ledger::Outcome::kNotRun);
  }
  return result;
}

Status EnforcementPoint::Impl::start_claim(const Assessment& facts) {
  if (!facts.claim) return {};
  return guarded("ledger", [&] { return world.ledger->start(*facts.claim); });
}

void EnforcementPoint::Impl::count_refusal(RefusalMeter& meter, MonotonicTime now) {
  report_lost(meter.count_lost(kEventsOfRefusal, now));
}

void EnforcementPoint::Impl::report_all_lost() noexcept {
  report_lost(refusals.take_lost() + hasty_refusals.take_lost());
}

void EnforcementPoint::Impl::report_lost(std::int64_t events) noexcept {
  if (events == 0) return;
  Event lost;
  lost.kind = EventKind::kEvidenceLost;
  lost.set(Field::kEvents, events);
  lost.set(Field::kCause, "refusal_flood");
  static_cast<void>(
      guarded("evidence", [&] { return world.evidence.append({.events = {&lost, 1}}); }));
}

// Whether `permit` was given for just this: the same tool, the same references, the same digested
// arguments.
Status EnforcementPoint::Impl::covers(const PermitState& permit, std::string_view tool,
                                      std::string_view arguments_json) {
  const Assessment& facts = permit.record.assessment();
  if (tool != facts.tool->name) {
    return Error{ErrorCode::kFailedPrecondition, "the permit is for another tool"};
  }
  json::Value arguments = json::Object{};
  if (!arguments_json.empty()) {
    REMIT_TRY_ASSIGN(arguments, json::parse(arguments_json, {.max_bytes = kMaxCallBytes}));
  }
  REMIT_TRY_ASSIGN(const References references, take_references(*facts.tool, arguments));
  if (references.texts != facts.references.texts ||
      digested_form(references, arguments) != facts.digested_form) {
    return Error{ErrorCode::kFailedPrecondition, "the permit is for other arguments"};
  }
  return {};
}

EnforcementPoint::EnforcementPoint(Surroundings surroundings)
    : impl_(std::make_unique<Impl>(std::move(surroundings))) {}

EnforcementPoint::~EnforcementPoint() {
  impl_->permits->close();
  impl_->report_all_lost();
}

CallOutcome EnforcementPoint::invoke(const access::ProposedCall& call, ToolHandler& handler,
                                     std::stop_token stop) {
  const WallTime now = impl_->world.clock.wall_now();
  CallRecord record = impl_->new_record(call, now);
  const Assessor::Admits admits = impl_->admission();
  std::optional<Denial> denial = impl_->decide(
      record, StartCommit::kWithDecision,
      [&](const auto& snapshot) { return impl_->assessor.assess(call, snapshot, now, admits); });
  if (denial) return *std::move(denial);
  return impl_->run(record, handler, std::move(stop));
}

AuthorizeOutcome EnforcementPoint::authorize(const access::ProposedCall& call) {
  if (impl_->permits->size() >= kMaxOutstandingPermits) {
    return refuse({.reason = ReasonCode::kLimitExceeded,
                   .route = call.route,
                   .tool = call.tool,
                   .credential = call.credential,
                   .run_id = call.run_id,
                   .case_id = call.case_id});
  }
  const WallTime now = impl_->world.clock.wall_now();
  CallRecord record = impl_->new_record(call, now);
  const Assessor::Admits admits = impl_->admission();
  std::optional<Denial> denial = impl_->decide(
      record, StartCommit::kLater,
      [&](const auto& snapshot) { return impl_->assessor.assess(call, snapshot, now, admits); });
  if (denial) return *std::move(denial);
  auto permit = std::make_shared<PermitState>(
      PermitState{.record = std::move(record), .home = impl_->permits});
  impl_->permits->add(permit);
  return CallPermit{std::move(permit)};
}

CallOutcome EnforcementPoint::spend(CallPermit permit, std::string_view tool,
                                    std::string_view arguments_json, ToolHandler& handler,
                                    std::stop_token stop) {
  const std::string id{permit.invocation_id()};
  if (permit.state_ == nullptr) return refused_permit(id, Retry::kNever, "the permit is spent");
  PermitState& state = *permit.state_;
  if (state.home != impl_->permits) {
    return refused_permit(id, Retry::kNever, "the permit is another enforcement point's");
  }
  if (const Status same = impl_->covers(state, tool, arguments_json); !same) {
    return refused_permit(id, Retry::kNever, same.error().to_string());
  }
  // Looked at again by `run`, once the start is durable: here it saves a start that comes to
  // nothing.
  if (impl_->world.clock.monotonic_now() > state.record.assessment().expires()) {
    return refused_permit(id, Retry::kLater, "the permit has expired");
  }
  const std::string now = format_rfc3339(impl_->world.clock.wall_now());
  std::vector<Event> events;
  state.record.append_start(now, events);
  const Status started = impl_->commit(events, state.record.assessment().snapshot->generation);
  // Not started: destroying the permit records that it was never spent.
  if (!started) return denial_of(state.record, started.error());
  REMIT_CHECK(impl_->permits->take(state));
  const std::shared_ptr<PermitState> spent = std::exchange(permit.state_, nullptr);
  return impl_->run(spent->record, handler, std::move(stop));
}

access::Decision EnforcementPoint::would_allow(const access::ProposedCall& call) const {
  return impl_->assessor.assess(call, impl_->world.policy.get(), impl_->world.clock.wall_now())
      .decision;
}

std::vector<const policy::Tool*> EnforcementPoint::visible_tools(
    const access::Credential& credential,
    std::shared_ptr<const decision::PolicySnapshot>& snapshot) const {
  std::vector<const policy::Tool*> out;
  snapshot = impl_->world.policy.get();
  if (snapshot == nullptr) return out;
  const identity::Identity identity =
      impl_->assessor.identify(credential, impl_->world.clock.wall_now());
  if (!identity.principal) return out;
  for (const policy::Tool& tool : snapshot->bundle->tools) {
    if (holds_scopes(*identity.principal, tool)) out.push_back(&tool);
  }
  return out;
}

Denial EnforcementPoint::refuse(const TransportRefusal& refusal) {
  access::ProposedCall call;
  call.route = refusal.route;
  call.tool = refusal.tool;
  call.run_id = refusal.run_id;
  call.case_id = refusal.case_id;
  call.deferral = refusal.deferral;
  call.trace_id = refusal.trace_id;
  call.span_id = refusal.span_id;
  const WallTime now = impl_->world.clock.wall_now();
  CallRecord record = impl_->new_record(call, now);
  std::optional<Denial> denial = impl_->decide(
      record, StartCommit::kLater,
      [&](const auto& snapshot) { return impl_->assessor.refuse(refusal, snapshot, now); });
  REMIT_CHECK(denial.has_value());  // Assessor::refuse makes nothing but denials of steps 1 to 5
  return *std::move(denial);
}

Status EnforcementPoint::record_publication(const decision::PolicySnapshot& snapshot) {
  return impl_->publish(snapshot);
}

Status EnforcementPoint::begin_run(const RunFacts& run) {
  const DigestKey& key = impl_->world.digest_key;
  const std::string run_id = recorded_text(run.run_id, key);
  const std::string manifest = recorded_text(run.manifest_digest, key);
  const std::string environment = recorded_text(run.environment, key);
  const std::string contract = recorded_text(run.contract, key);
  Event started;
  started.kind = EventKind::kRunStarted;
  started.set_if_any(Field::kRunId, run_id);
  started.set_if_any(Field::kManifestDigest, manifest);
  started.set_if_any(Field::kEnvironment, environment);
  started.set_if_any(Field::kContract, contract);
  REMIT_TRY(impl_->commit({started}, 0));
  const MutexLock lock(impl_->run_mutex);
  impl_->run_id = run_id;
  return {};
}

Status EnforcementPoint::end_run() {
  impl_->report_all_lost();
  std::string run_id;
  {
    const MutexLock lock(impl_->run_mutex);
    run_id = impl_->run_id;
  }
  Event finished;
  finished.kind = EventKind::kRunFinished;
  finished.set_if_any(Field::kRunId, run_id);
  finished.set(Field::kInvocations, impl_->invocations.load(std::memory_order_relaxed));
  return impl_->commit({finished}, 0);
}

CallPermit::CallPermit(std::shared_ptr<PermitState> state) : state_(std::move(state)) {}
CallPermit::CallPermit(CallPermit&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)) {}
CallPermit& CallPermit::operator=(CallPermit&& other) noexcept {
  if (this == &other) return *this;
  retire();
  state_ = std::exchange(other.state_, nullptr);
  return *this;
}
CallPermit::~CallPermit() {
  retire();
}

std::string_view CallPermit::invocation_id() const {
  return state_ == nullptr ? std::string_view{} : std::string_view{state_->record.invocation_id()};
}

void CallPermit::retire() noexcept {
  if (state_ != nullptr) state_->home->retire(*state_);
  state_ = nullptr;
}

}  // namespace remit::enforcement
