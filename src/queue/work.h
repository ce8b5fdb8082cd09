// What is put off, and what a row of the queue says of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace remit::queue {

inline constexpr std::string_view kDefaultQueue = "default";

/// Routes by which deferred work comes to the boundary (REQ-QU-009).
inline constexpr std::string_view kQueuedRoute = "queued";
inline constexpr std::string_view kScheduledRoute = "scheduled";
inline constexpr std::string_view kRetryRoute = "retry";

/// Work to be put off. Nothing in it is authority: when it is run everything is asked anew.
struct Work {
  std::string queue = std::string(kDefaultQueue);
  std::string principal;       ///< reference: a name that the worker's authenticator resolves
  std::string lane;            ///< whose turn it uses up: the principal's tenant
  std::string tool;            ///< catalogue name
  std::string arguments_json;  ///< JSON text of an object, references as the caller wrote them
  std::string key = {};        ///< the enqueuer's own; empty: each enqueuing is new work
  /// The caller's idempotency key: what the ledger knows the call by, at whichever door it comes
  /// (REQ-QU-022). Empty: the row has one of its own.
  std::string call_key = {};
  std::string run_id = {};  ///< these four are context
  std::string case_id = {};
  std::string enqueued_by = {};  ///< the enqueuing invocation
  std::string enqueued_policy_version = {};
  std::optional<WallTime> not_before = std::nullopt;
  std::chrono::milliseconds repeat{0};  ///< 0: once
  std::int64_t max_attempts = 5;
};

/// Where a row stands. Starts at what says least.
enum class State : std::uint8_t {
  kUnknown,    ///< it was started, and what became of it is not known: a person decides
  kWaiting,    ///< its turn comes when it is due
  kClaimed,    ///< a worker asks the boundary for it
  kStarted,    ///< its handler may have been entered
  kDenied,     ///< ended by a denial
  kFailed,     ///< ended: the tool said that it failed, or its attempts were used up by crashes
  kSucceeded,  ///< ended
};
std::string_view state_name(State state);
std::optional<State> parse_state(std::string_view name);

/// A row as it stands. A row that somebody else wrote may lack anything.
struct Row {
  std::int64_t number = 0;  ///< in order of enqueuing
  std::string id;
  std::string queue;
  std::string lane;
  std::string principal;  ///< empty: none
  std::string tool;
  std::string arguments_json;
  std::string key;
  std::string run_id;
  std::string case_id;
  std::string enqueued_by;
  std::string enqueued_policy_version;
  WallTime not_before;
  std::int64_t repeat_ms = 0;
  std::int64_t max_attempts = 0;
  WallTime enqueued;
  std::string seal;
  std::string call_key;  ///< empty: the row's own

  State state = State::kUnknown;
  std::string route;            ///< of its next attempt, or of its last
  WallTime due;                 ///< kWaiting: when its turn comes; kClaimed, kStarted: until when
  std::int64_t attempt = 0;     ///< attempts so far, under this key
  std::int64_t generation = 0;  ///< of its key
  std::int64_t started_generation = -1;  ///< the last one that a worker started under; -1: none
  std::string claim;                     ///< of the worker that has or had it; empty: none
  std::string worker;                    ///< likewise
  std::string reason;                    ///< reason code of the last denial
  std::string error_type;                ///< of the last failure
  std::string last_invocation;           ///< of the last attempt that has one
  WallTime changed;

  /// Whether a handler may have been entered under its present key.
  [[nodiscard]] bool was_started() const {
    return state == State::kStarted || started_generation == generation;
  }
  /// What the ledger knows the row's runs by.
  [[nodiscard]] std::string invocation_key() const {
    if (call_key.empty()) return "queue:" + id + ":" + std::to_string(generation);
    return generation == 0 ? call_key : call_key + "#" + std::to_string(generation);
  }
};

/// A person's word about a row.
struct Note {
  std::string by;
  std::string reason;
  std::string from_state;
  WallTime at;
};

}  // namespace remit::queue
