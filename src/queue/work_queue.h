// The queue: rows in a database that several workers share.
//
// A row says what was asked for; whether it may run is asked when its turn comes (spec/queue.md).
// Each operation is one transaction. What one worker claims no other has until the claim runs out,
// and what was started is never claimed again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/result.h"
#include "database/database.h"
#include "queue/work.h"

namespace remit::queue {

struct QueueOptions {
  std::chrono::milliseconds claim_time = kQueueClaimTime;  ///< until a claim runs out
  std::chrono::milliseconds operation_deadline = kQueueOperationDeadline;
  std::int64_t max_open_rows = kMaxOpenQueueRows;
  std::int64_t max_open_rows_per_lane = kMaxOpenQueueRowsPerLane;
  std::int64_t max_ended_rows = kMaxEndedQueueRows;
};

struct Enqueued {
  std::string id;
  std::string invocation_key;
  bool is_new = true;  ///< false: the same work was enqueued before under its key
};

/// How an attempt ended a row.
struct Ending {
  State state = State::kUnknown;  ///< kUnknown, kDenied, kFailed or kSucceeded
  std::string reason = {};        ///< of kDenied
  std::string error_type = {};    ///< of kFailed
  std::string invocation = {};
};

/// How an attempt that had no effect is put back.
struct PutBack {
  std::chrono::milliseconds pause{0};
  std::string reason = {};
  std::string error_type = {};
  std::string invocation = {};
  bool needs_new_key = false;  ///< the ledger holds the present one to have been used
};

struct Requeue {
  std::string id;
  std::string by;                        ///< who answers for it
  std::string reason;                    ///< why, in words
  bool may_have_run_is_settled = false;  ///< for kUnknown: the person looked, and it may run
};

/// Which rows to list; newest first.
struct Listing {
  std::string queue = std::string(kDefaultQueue);
  std::vector<State> states = {};  ///< empty: all
  std::size_t max_rows = kMaxListedQueueRows;
};

/// Thread-safe. No lock is held while the database is busy. Errors of every operation: as of
/// database::Database. Times are wall times, in which the workers' machines have to agree within
/// seconds: a step of one delays rows or makes claims run out early, and never makes two effects.
class WorkQueue {
 public:
  /// The queues of `database`, whose tables are made where they are absent. `key` is the
  /// deployment's digest key, by which rows are sealed. All three outlive the object. Errors:
  /// `unsupported` for tables of another version.
  static Result<std::unique_ptr<WorkQueue>> open(database::Database& database, DigestKey key,
                                                 const Clock& clock, Random& random,
                                                 QueueOptions options = {});

  /// Puts work off. Errors: `invalid_input` for work without a principal or a tool, for arguments
  /// that are no JSON object or not strictly so, for text that no record can carry, for a period
  /// below kLeastRepeat; `already_exists` for other work under the same key; `limit_exceeded` for a
  /// row that is too large or too many open rows.
  Result<Enqueued> enqueue(const Work& work);

  /// Whether a row that a lost worker had started may be asked for again (REQ-QU-018).
  using MayAskAgain = std::function<bool(const Row&)>;

  /// Claims the row whose turn it is in `queue` (REQ-QU-011), for `worker`; nothing where none is
  /// due. A row that was started under its key, and whose claim ran out, is ended as `unknown` on
  /// the way, unless `may_ask_again` says otherwise (then Row::was_started says what it is), and
  /// one that used up its attempts without a start as `failed`.
  Result<std::optional<Row>> claim(std::string_view queue, std::string_view worker,
                                   const MayAskAgain& may_ask_again = {});

  /// Before the handler is entered: the row is started. Errors: `failed_precondition` where the
  /// claim does not hold any more: do not enter. `deadline` bounds the wait.
  Status start(const Row& claimed, MonotonicTime deadline);
  /// Ends the row. One that is ended as `unknown` for want of news may still be, by who started it;
  /// to say the same twice is no error.
  /// Errors: `failed_precondition` where the row is another's by now.
  Status finish(const Row& claimed, const Ending& ending);
  /// Puts the row back, to come again by the route `retry` after a pause. Errors: likewise.
  Status put_back(const Row& claimed, const PutBack& how);
  /// Gives up a claim that was of no use: the attempt does not count. Errors: likewise.
  Status release(const Row& claimed);
  /// Makes a claim run anew. Errors: likewise.
  Status renew(const Row& claimed);

  /// Makes a row that ended wait again (REQ-QU-020). Errors: `not_found`; `failed_precondition` for
  /// one that is not `denied`, `failed` or `unknown`, or `unknown` and not settled;
  /// `limit_exceeded` after kMaxRequeues; `invalid_input` without a name or a reason.
  Status requeue(const Requeue& request);

  Result<std::vector<Row>> list(const Listing& listing);
  /// Errors: `not_found`.
  Result<Row> find(std::string_view id);
  /// What people said of a row, the first first.
  Result<std::vector<Note>> notes(std::string_view id);

  /// Forgets ended rows that are old or too many, a part of them at a time (REQ-QU-008), and takes
  /// in lanes of rows that somebody else wrote.
  Status tidy(std::string_view queue);

  /// Whether a row is as it was when it was enqueued.
  [[nodiscard]] bool is_sealed(const Row& row) const;
  [[nodiscard]] std::chrono::milliseconds claim_time() const { return options_.claim_time; }

 private:
  enum class Found : std::uint8_t { kNothing, kSettled, kClaimed };

  WorkQueue(database::Database& database, DigestKey key, const Clock& clock, Random& random,
            QueueOptions options);
  [[nodiscard]] MonotonicTime deadline() const;
  [[nodiscard]] std::int64_t now() const { return clock_.wall_now().unix_ns; }
  [[nodiscard]] std::int64_t claim_end() const;
  Status transact(const std::function<Status(database::Transaction&)>& work);
  Result<Row> row_for(const Work& work) const;
  Status insert(database::Transaction& transaction, const Row& row);
  Status check_room(database::Transaction& transaction, const Row& row) const;
  Result<Found> claim_one(std::string_view queue, std::string_view worker,
                          const MayAskAgain& may_ask_again, Row& out);
  Result<std::optional<Row>> next_row(database::Transaction& transaction, std::string_view queue);
  static Status stands_as(database::Transaction& transaction, const Row& claimed, State state,
                          const std::string& invocation);
  Status note_turn(database::Transaction& transaction, const Row& row);
  Status enqueue_next_turn(database::Transaction& transaction, const Row& ended);

  database::Database& database_;
  const DigestKey key_;
  const Clock& clock_;
  Random& random_;
  const QueueOptions options_;
};

}  // namespace remit::queue
