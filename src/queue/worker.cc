// From a claimed row to its end.
#include "queue/worker.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "access/reason.h"

namespace remit::queue {
namespace {

using access::ReasonCode;
using enforcement::CallOutcome;
using enforcement::Denial;
using enforcement::HandlerOutcome;
using enforcement::HandlerResult;
using enforcement::Retry;
using std::chrono::milliseconds;

// Between two tries to write what became of a row.
constexpr milliseconds kWriteAgain{200};

std::string_view route_of(const Row& row) {
  // A row names its route, and it is one of three: nobody's row comes by `admin`.
  if (row.route == kScheduledRoute) return kScheduledRoute;
  return row.route == kRetryRoute ? kRetryRoute : kQueuedRoute;
}

access::Deferral deferral_of(const Row& row) {
  return {.queue = row.queue,
          .enqueued_policy_version = row.enqueued_policy_version,
          .worker = row.worker,
          .attempt = row.attempt,
          .was_started = row.was_started()};
}

}  // namespace

milliseconds pause_after(std::int64_t attempt, Random& random) {
  milliseconds pause = kFirstRetryPause;
  for (std::int64_t i = 1; i < attempt && pause < kLongestRetryPause; ++i) pause *= 2;
  pause = std::min(pause, kLongestRetryPause);
  std::byte byte{};
  random.fill({&byte, 1});
  return pause - pause * std::to_integer<int>(byte) / (4 * 255);
}

/// The handler that the boundary is given: makes the claim good, then runs the tool's own.
class Worker::Attempt final : public enforcement::ToolHandler {
 public:
  Attempt(const WorkerParts& parts, const Row& row) : parts_(parts), row_(row) {}

  HandlerResult run(const enforcement::GrantedCall& call) override {
    invocation_ = call.invocation_id();
    // Nothing was done, and the ledger is to know it: whoever has the row now has the same key.
    const auto refused = [](const char* why) {
      return HandlerResult{.outcome = HandlerOutcome::kCancelled, .error_type = why};
    };
    if (!parts_.queue.is_sealed(row_)) return refused("not_sealed");
    // As long again as the decision may be old is what the database may take; then it is too old.
    const MonotonicTime end =
        parts_.clock.monotonic_now() + milliseconds{call.tool().permit_lifetime_ms};
    started_ = parts_.queue.start(row_, end);
    if (!started_) return refused("claim_lost");
    if (parts_.clock.monotonic_now() > end) return refused("permit_expired");
    is_entered_ = true;
    return parts_.tools.run(call);
  }

  [[nodiscard]] const std::string& invocation() const { return invocation_; }
  /// Whether the boundary came as far as a handler: then the ledger holds the key to be used.
  [[nodiscard]] bool was_reached() const { return !invocation_.empty(); }
  /// Whether the tool's own handler was entered.
  [[nodiscard]] bool is_entered() const { return is_entered_; }
  /// What making the claim good came to, if it came to that.
  [[nodiscard]] const Status& started() const { return started_; }

 private:
  const WorkerParts& parts_;
  const Row& row_;
  std::string invocation_;
  Status started_;
  bool is_entered_ = false;
};

Worker::Worker(WorkerParts parts, WorkerOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

void Worker::say(std::string_view text) const {
  if (parts_.notice) parts_.notice(text);
}

/// A claim that is renewed as long as it is worked on.
class Worker::Held {
 public:
  Held(Worker& worker, const Row& row) : worker_(worker), row_(row) {
    const MutexLock lock(worker_.mutex_);
    worker_.held_.emplace(row_.claim, row_);
  }
  ~Held() {
    const MutexLock lock(worker_.mutex_);
    worker_.held_.erase(row_.claim);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Worker& worker_;
  const Row& row_;
};

void Worker::say_at_least(std::string_view text) const noexcept {
  try {
    say(text);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nor is there a way to say so
  }
}

void Worker::renew() {
  std::vector<Row> held;
  {
    const MutexLock lock(mutex_);
    for (const auto& [claim, row] : held_) held.push_back(row);
  }
  // One that is lost is found so where it is made good or ended.
  for (const Row& row : held) static_cast<void>(parts_.queue.renew(row));
}

// What could not be written is tried until the claim ran out: by then the row says of itself that
// nobody knows.
void Worker::write(const Row& row, const std::function<Status()>& step) {
  const MonotonicTime end = parts_.clock.monotonic_now() + parts_.queue.claim_time();
  while (true) {
    const Status written = step();
    if (written) return;
    const ErrorCode code = written.error().code;
    const bool is_final = code == ErrorCode::kFailedPrecondition ||
                          code == ErrorCode::kInvalidInput || code == ErrorCode::kInternal;
    if (is_final || parts_.clock.monotonic_now() >= end) {
      return say("row " + quoted(row.id) +
                 ": what became of it is not written: " + written.error().to_string());
    }
    rest({}, kWriteAgain);
  }
}

Turn Worker::work_once(std::stop_token stop) {
  Status ready = parts_.is_ready ? parts_.is_ready() : Status{};
  Result<std::optional<Row>> claimed = std::optional<Row>();
  if (ready) {
    const auto may_ask_again = [this](const Row& row) {
      return parts_.may_ask_again && parts_.may_ask_again(row.tool);
    };
    claimed = parts_.queue.claim(options_.queue, options_.name, may_ask_again);
    if (!claimed) ready = claimed.error();
  }
  bool was_unavailable = false;
  {
    const MutexLock lock(mutex_);
    was_unavailable = std::exchange(was_unavailable_, !ready);
  }
  if (!ready) {
    if (!was_unavailable) say("no work is taken up: " + ready.error().to_string());
    return Turn::kUnavailable;
  }
  if (was_unavailable) say("work is taken up again");
  if (!*claimed) return Turn::kIdle;
  const Row row = **std::move(claimed);
  const Held held(*this, row);
  process(row, stop);
  return Turn::kWorked;
}

Turn Worker::turn(const std::stop_token& stop) {
  try {
    return work_once(stop);
  } catch (...) {
    // Out of memory, for one. What was claimed is let go: it says of itself what it is once its
    // claim ran out.
    say_at_least("no work is taken up: something failed on the way");
    const MutexLock lock(mutex_);
    has_failed_ = true;
    return Turn::kUnavailable;
  }
}

// Why a row is refused before it is a call.
std::optional<ReasonCode> Worker::refusal_of(const Row& row) const {
  if (!row.principal.empty() && !parts_.queue.is_sealed(row)) {
    say("row " + quoted(row.id) + " is not as it was enqueued, or not enqueued by us");
    return ReasonCode::kInvalidRequest;
  }
  if (parts_.is_offered && !parts_.is_offered(row.tool)) return ReasonCode::kUnknownTool;
  return std::nullopt;
}

void Worker::process(const Row& row, const std::stop_token& stop) {
  if (stop.stop_requested()) {
    return write(row, [&] { return parts_.queue.release(row); });
  }
  const access::Credential credential =
      row.principal.empty() ? access::Credential() : access::Credential::reference(row.principal);
  if (const auto reason = refusal_of(row)) {
    const Denial denial = parts_.point.refuse({.reason = *reason,
                                               .route = std::string(route_of(row)),
                                               .tool = row.tool,
                                               .credential = credential,
                                               .run_id = row.run_id,
                                               .case_id = row.case_id,
                                               .deferral = deferral_of(row)});
    say_denied(row, denial);
    return write(row, [&] { return end_denied(row, denial); });
  }
  const access::ProposedCall call{.route = std::string(route_of(row)),
                                  .credential = credential,
                                  .tool = row.tool,
                                  .arguments_json = row.arguments_json,
                                  .idempotency_key = row.invocation_key(),
                                  .run_id = row.run_id,
                                  .case_id = row.case_id,
                                  .deferral = deferral_of(row)};
  Attempt attempt(parts_, row);
  const CallOutcome outcome = parts_.point.invoke(call, attempt, stop);
  if (const Denial* denial = std::get_if<Denial>(&outcome)) {
    say_denied(row, *denial);
    return write(row, [&] { return end_denied(row, *denial); });
  }
  const auto& result = std::get<HandlerResult>(outcome);
  write(row, [&] { return end_run(row, attempt, result); });
}

// Every denial alike, whoever denied: who watches a worker must not take silence for success.
void Worker::say_denied(const Row& row, const Denial& denial) const {
  say("row " + quoted(row.id) + " denied, " + std::string(access::reason_name(denial.reason)) +
      (denial.detail.empty() ? "" : ": " + denial.detail));
}

Status Worker::finish(const Row& row, const Ending& ending) {
  Status done = parts_.queue.finish(row, ending);
  if (done) count(ending.state);
  return done;
}

Status Worker::put_back(const Row& row, const PutBack& how) {
  Status done = parts_.queue.put_back(row, how);
  if (done) count(State::kWaiting);
  return done;
}

void Worker::count(State state) {
  const MutexLock lock(mutex_);
  ++ends_[state];
}

std::map<State, std::size_t> Worker::ends() const {
  const MutexLock lock(mutex_);
  return ends_;
}

// REQ-QU-015, REQ-QU-016.
Status Worker::end_denied(const Row& row, const Denial& denial) {
  if (!denial.first_attempt.empty()) return end_repeated(row, denial);
  const std::string reason(access::reason_name(denial.reason));
  if (denial.retry == Retry::kLater && row.attempt < row.max_attempts) {
    return put_back(row, {.pause = pause_after(row.attempt, parts_.random),
                          .reason = reason,
                          .invocation = denial.invocation_id});
  }
  // Of an attempt that was started this denial says nothing.
  const State state = row.was_started() ? State::kUnknown : State::kDenied;
  return finish(row, {.state = state, .reason = reason, .invocation = denial.invocation_id});
}

// What the ledger knows of an earlier attempt under the row's key is what became of the row
// (REQ-QU-018).
Status Worker::end_repeated(const Row& row, const Denial& denial) {
  const std::string& state = denial.first_attempt;
  const std::string reason(access::reason_name(denial.reason));
  const bool may_come_again = row.attempt < row.max_attempts;
  if ((state == "running" || state == "cancelled") && may_come_again) {
    return put_back(row, {.pause = pause_after(row.attempt, parts_.random),
                          .reason = reason,
                          .invocation = denial.invocation_id,
                          .needs_new_key = state == "cancelled"});
  }
  Ending ending{.state = State::kUnknown, .reason = reason, .invocation = denial.invocation_id};
  if (state == "succeeded") ending.state = State::kSucceeded;
  if (state == "failed" || state == "cancelled") ending.state = State::kFailed;
  if (state == "conflict" && !row.was_started()) ending.state = State::kDenied;
  return finish(row, ending);
}

// REQ-QU-013, REQ-QU-017.
Status Worker::end_run(const Row& row, const Attempt& attempt, const HandlerResult& result) {
  Ending ending{.error_type = result.error_type, .invocation = attempt.invocation()};
  if (!attempt.started()) {
    say("row " + quoted(row.id) + ": " + attempt.started().error().to_string());
    // Another's by now. (Any other error may have come after the commit: then it is ours to undo.)
    if (attempt.started().error().code == ErrorCode::kFailedPrecondition) return {};
  }
  // A new key would hide that an earlier attempt under this one may have had its effect.
  const bool needs_new_key = attempt.was_reached() && !row.was_started();
  const bool has_no_effect = !attempt.is_entered() || result.outcome == HandlerOutcome::kCancelled;
  if (has_no_effect) {
    if (row.attempt < row.max_attempts) {
      return put_back(row, {.pause = pause_after(row.attempt, parts_.random),
                            .error_type = result.error_type,
                            .invocation = ending.invocation,
                            .needs_new_key = needs_new_key});
    }
    if (!row.was_started()) ending.state = State::kFailed;
    return finish(row, ending);
  }
  if (result.outcome == HandlerOutcome::kSucceeded) ending.state = State::kSucceeded;
  if (result.outcome == HandlerOutcome::kFailed) ending.state = State::kFailed;
  return finish(row, ending);
}

void Worker::rest(const std::stop_token& stop, milliseconds span) {
  const std::stop_callback on_stop(stop, [this] {
    const MutexLock lock(mutex_);
    woken_.notify_all();
  });
  const MutexLock lock(mutex_);
  if (!stop.stop_requested()) woken_.wait_for(mutex_, span);
}

void Worker::work(const std::stop_token& stop, const std::stop_token& hurry, Until until) {
  while (!stop.stop_requested()) {
    if (turn(hurry) == Turn::kWorked) continue;
    if (until == Until::kIdle) return;
    rest(stop, options_.poll);
  }
}

void Worker::keep(const std::stop_token& stop) {
  const milliseconds third = parts_.queue.claim_time() / 3;
  MonotonicTime tidied = parts_.clock.monotonic_now();
  while (!stop.stop_requested()) {
    rest(stop, third);
    if (stop.stop_requested()) return;
    try {
      renew();
      if (parts_.clock.monotonic_now() - tidied < kQueueTidy) continue;
      tidied = parts_.clock.monotonic_now();
      static_cast<void>(parts_.queue.tidy(options_.queue));
    } catch (...) {  // out of memory: claims may run out, and are renewed again in a while
      say_at_least("claims were not renewed: something failed on the way");
    }
  }
}

Status Worker::run(std::stop_token stop, std::stop_token hurry, Until until) {
  if (const Status tidied = parts_.queue.tidy(options_.queue); !tidied) {
    if (until == Until::kIdle) return tidied;
    say("the queue cannot be reached yet: " + tidied.error().to_string());
  }
  std::stop_source end;
  std::vector<std::thread> threads;
  Status status;
  const auto begin = [&](const auto& body) {
    try {
      threads.emplace_back(body);
    } catch (const std::system_error&) {
      status = Error{ErrorCode::kUnavailable, "no thread can be started for the queue"};
    }
  };
  // Without a keeper a long call would lose its claim.
  begin([&] { keep(end.get_token()); });
  const std::size_t wanted = std::clamp<std::size_t>(options_.threads, 1, kMaxQueueThreads);
  std::vector<std::thread> keeper = std::exchange(threads, {});
  for (std::size_t i = 0; status && i < wanted; ++i) {
    begin([&] { work(stop, hurry, until); });
  }
  if (!threads.empty()) status = {};  // fewer do as well
  for (std::thread& thread : threads) thread.join();
  end.request_stop();
  for (std::thread& thread : keeper) thread.join();
  if (!status) return status;
  const MutexLock lock(mutex_);
  if (until == Until::kIdle && was_unavailable_) {
    return Error{ErrorCode::kUnavailable, "the queue, or what its worker needs, is not there"};
  }
  if (until == Until::kIdle && std::exchange(has_failed_, false)) {
    return Error{ErrorCode::kUnavailable,
                 "something failed on the way: not every row that was claimed was worked on"};
  }
  return {};
}

}  // namespace remit::queue
