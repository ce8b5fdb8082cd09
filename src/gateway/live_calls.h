// The client's calls in flight: who may stop them, how many there are, how fast they come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/token_bucket.h"
#include "mcp/message.h"

namespace remit::gateway {

/// One call of the client's from its admission to its answer.
struct LiveCall {
  LiveCall(mcp::RequestId request_id, std::size_t size) : id(std::move(request_id)), bytes(size) {}
  const mcp::RequestId id;
  const std::size_t bytes;  ///< of its arguments
  std::stop_source stop;
  std::atomic<bool> is_cancelled{false};  ///< by the client, which is then owed no answer
};

/// Calls by the client's id. Thread-safe.
class LiveCalls {
 public:
  enum class Admission : std::uint8_t {
    kFull,      ///< kMaxCallsInFlight or kMaxCallBytesInFlight are there; of `admit`
    kTooFast,   ///< more than the configured rate; of `knock`
    kRepeated,  ///< a live call has the id
    kAdmitted,
  };
  /// `calls_per_second` of 0 is no bound. `clock` outlives it.
  LiveCalls(std::int64_t calls_per_second, const Clock& clock) : clock_(clock) {
    if (calls_per_second > 0) rate_.emplace(calls_per_second);
  }

  struct Admitted {
    Admission admission = Admission::kFull;
    std::shared_ptr<LiveCall> call = nullptr;  ///< of kAdmitted
  };
  /// What comes before anything else is looked at, be it refused or admitted in the end: each
  /// request that is recorded by itself costs its part of the rate.
  Admission knock(const mcp::RequestId& id);
  /// Makes a live call of a request that has knocked.
  Admitted admit(const mcp::RequestId& id, std::size_t bytes = 0);
  void close(const mcp::RequestId& id);

  /// The client takes a call back; false if none has the id.
  bool cancel(const mcp::RequestId& id);
  /// Asks every call to stop.
  void stop_all();
  /// True once no call is live, false if that took longer than `span`.
  bool wait_until_empty(std::chrono::milliseconds span);

 private:
  bool take_token() REMIT_REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  CondVar closed_;
  std::map<mcp::RequestId, std::shared_ptr<LiveCall>> calls_ REMIT_GUARDED_BY(mutex_);
  std::size_t bytes_ REMIT_GUARDED_BY(mutex_) = 0;
  std::optional<TokenBucket> rate_ REMIT_GUARDED_BY(mutex_);  // null: no bound
};

}  // namespace remit::gateway
