// Where the boundary's events go: the interface that makes "durable before the handler" a return
// value.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "event/event.h"

namespace remit::evidence {

/// Events that enter the log together and in order. `policy_generation`, where not 0, is the
/// snapshot the events were decided by.
struct EventBatch {
  std::span<const event::Event> events;
  std::uint64_t policy_generation = 0;
};

/// The sink of one writer. It sets `seq`, `writer` and, where absent, `time`, and in a
/// `run.finished` without `events` the number of this writer's events before it. Thread-safe. A
/// call may wait for room where events come faster than they can be written.
class EvidenceSink {
 public:
  virtual ~EvidenceSink() = default;

  /// Appends the batch and returns when it is durable (*record before run*). Errors:
  /// `failed_precondition` when a newer policy was published than the batch's generation: nothing
  /// of it was written, decide anew; `limit_exceeded` when an event is longer than
  /// kMaxEventLineBytes: nothing of the batch was written, and the sink goes on; anything else
  /// (`unavailable`, `data_loss`): the batch may not be relied on, deny with
  /// `evidence_unavailable`. After such an error the sink refuses until it is reopened, so that
  /// nothing acknowledged is ever followed by a hole.
  virtual Status commit(const EventBatch& batch) = 0;

  /// Appends the batch in order without waiting: it is durable with the next commit, at `flush`, or
  /// after the sink's own interval, whichever is first. For events that release nothing (finishes).
  /// Errors as of `commit`; what goes wrong later shows in the calls that follow.
  virtual Status append(const EventBatch& batch) = 0;

  /// Appends the `policy.published` event of `generation`; batches of older generations are refused
  /// from then on. Durable on return. A generation that was published already is success and writes
  /// nothing; an older one is `failed_precondition`: publications stand in the log in order.
  virtual Status publish(const event::Event& published, std::uint64_t generation) = 0;

  /// Returns when everything appended so far is durable.
  virtual Status flush() = 0;
};

}  // namespace remit::evidence
