// The worker: takes rows up one by one, asks the boundary for each as if it had never been asked,
// and says what became of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "enforcement/enforcement_point.h"
#include "queue/work_queue.h"

namespace remit::queue {

/// What a worker stands on. All outlive it.
struct WorkerParts {
  WorkQueue& queue;
  enforcement::EnforcementPoint& point;
  enforcement::ToolHandler& tools;  ///< the handlers of all tools; used by all threads at once
  const Clock& clock;
  Random& random;
  /// Asked before a row is claimed: an error is a reason to claim none now. May be empty.
  std::function<Status()> is_ready = {};
  /// Whether there is a `tool` of that name to be called; false: `unknown_tool`, and the row is
  /// denied. Empty: the catalogue alone says so.
  std::function<bool(std::string_view tool)> is_offered = {};
  /// Whether a call of `tool` whose end nobody knows may be asked for again: the ledger knows
  /// what became of it by its key (REQ-QU-018). Empty: none may.
  std::function<bool(std::string_view tool)> may_ask_again = {};
  /// Gets lines for the operator, outside text quoted; from any thread. May be empty.
  std::function<void(std::string_view)> notice = {};
};

struct WorkerOptions {
  std::string name = "worker";  ///< in events and rows: who took the work up
  std::string queue = std::string(kDefaultQueue);
  std::size_t threads = 1;
  std::chrono::milliseconds poll = kQueuePoll;
};

/// What a look for work came to.
enum class Turn : std::uint8_t {
  kUnavailable,  ///< the queue, or what the worker needs, is not there
  kIdle,         ///< nothing is due
  kWorked,       ///< a row was taken up
};

/// When `run` comes back by itself.
enum class Until : std::uint8_t { kStopped, kIdle };

/// How long a row rests after its attempt of that number failed for the time being (REQ-QU-016).
std::chrono::milliseconds pause_after(std::int64_t attempt, Random& random);

/// One worker process. Several may work on one database, on one machine or many.
class Worker {
 public:
  Worker(WorkerParts parts, WorkerOptions options);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes up one row, on this thread, to its end. `stop` keeps a handler from being entered and
  /// asks one that was entered to end.
  Turn work_once(std::stop_token stop = {});

  /// Works with `threads` threads until `stop` is asked for, or with Until::kIdle until nothing is
  /// due or the queue is unavailable. Handlers that were entered are waited for; `hurry` asks them
  /// to end. Claims are renewed meanwhile. Not from two threads at once. Errors: `unavailable`
  /// where there is no thread, or with Until::kIdle where the queue is.
  Status run(std::stop_token stop, std::stop_token hurry, Until until = Until::kStopped);

  /// Renews all claims that this worker holds; `run` does it by itself.
  void renew();

  /// How often work on a row ended in each state; `kWaiting` where it is to be tried again.
  [[nodiscard]] std::map<State, std::size_t> ends() const;

 private:
  class Attempt;
  class Held;
  void process(const Row& row, const std::stop_token& stop);
  std::optional<access::ReasonCode> refusal_of(const Row& row) const;
  Status end_denied(const Row& row, const enforcement::Denial& denial);
  Status end_repeated(const Row& row, const enforcement::Denial& denial);
  Status end_run(const Row& row, const Attempt& attempt, const enforcement::HandlerResult& result);
  void write(const Row& row, const std::function<Status()>& step);
  Status finish(const Row& row, const Ending& ending);
  Status put_back(const Row& row, const PutBack& how);
  void count(State state);
  void say_denied(const Row& row, const enforcement::Denial& denial) const;
  Turn turn(const std::stop_token& stop);
  void work(const std::stop_token& stop, const std::stop_token& hurry, Until until);
  void keep(const std::stop_token& stop);
  void rest(const std::stop_token& stop, std::chrono::milliseconds span);
  void say(std::string_view text) const;
  void say_at_least(std::string_view text) const noexcept;

  const WorkerParts parts_;
  const WorkerOptions options_;
  mutable Mutex mutex_;
  CondVar woken_;
  std::map<std::string, Row> held_ REMIT_GUARDED_BY(mutex_);  // by claim
  bool was_unavailable_ REMIT_GUARDED_BY(mutex_) = false;
  bool has_failed_ REMIT_GUARDED_BY(mutex_) = false;  ///< an exception ended a turn
  std::map<State, std::size_t> ends_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::queue
