// A ledger in SQLite, for one node, or PostgreSQL, for several.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/random.h"
#include "ledger/ledger.h"
#include "ledger/store.h"

namespace remit::ledger {

/// A process's hold on a ledger. It owns what it claims as long as its lease runs, which a thread
/// of its own renews; of an owner whose lease ran out, the claims that were not finished are
/// `unknown`, and never free. No lock is held while the database is busy.
class DatabaseLedger final : public Ledger {
 public:
  struct Options {
    Location location;
    std::string key_check = {};  ///< see `open_store`
    std::chrono::milliseconds lease = kLedgerLease;
    std::size_t max_open_ends = kMaxUnwrittenEnds;  ///< claims whose end is not written
    /// Renews the lease by a thread; a test without one calls `renew` itself.
    bool renews_by_itself = true;
  };

  /// Opens the ledger, which is made if it is absent. Errors: as of `open_store`; `unavailable`
  /// where there is no thread. `clock` and `random` outlive the object. Wall time is what leases
  /// and expiry are told in: the clocks of the nodes of one ledger have to agree within seconds.
  static Result<std::unique_ptr<DatabaseLedger>> open(Options options, const Clock& clock,
                                                      Random& random);
  /// Writes what is left to write, and gives the lease up if nothing is claimed any more.
  ~DatabaseLedger() override;
  DatabaseLedger(const DatabaseLedger&) = delete;
  DatabaseLedger& operator=(const DatabaseLedger&) = delete;

  Result<ApprovalFinding> find_approval(const ApprovalQuery& query) override;
  Status note_request(const ApprovalRequest& request) override;
  Result<ClaimOutcome> claim(const ClaimQuery& query) override;
  Status start(const Claim& claim) override;
  void finish(const Claim& claim, Outcome outcome) noexcept override;
  void release(const Claim& claim) noexcept override;

  /// Makes the lease run anew, writes what could not be written before, and forgets requests that
  /// are too old. Errors: as of the database.
  Status renew();

  /// Ends and releases that are still to be written.
  [[nodiscard]] std::size_t unwritten() const;

 private:
  /// An end or a release that is still to be written.
  struct Owed {
    std::string claim;  ///< key
    bool is_release = false;
    /// A release that finds nothing is tried until then: what it undoes may yet be committed.
    std::optional<MonotonicTime> in_doubt_until = std::nullopt;
    std::function<Result<bool>()> write = {};  ///< whether there was something to write
  };

  DatabaseLedger(Options options, Store store, std::string owner, const Clock& clock);
  [[nodiscard]] MonotonicTime deadline() const;
  [[nodiscard]] std::int64_t now_ns() const { return clock_.wall_now().unix_ns; }
  /// Runs a statement that changes at most one row, and says whether it did.
  Result<bool> change(std::string_view statement, std::span<const database::Parameter> parameters);
  Status hold_lease();
  Result<bool> write_finish(const Claim& claim, Outcome outcome, std::int64_t now);
  Result<bool> write_release(const Claim& claim);
  void write_or_keep(Owed owed);
  void keep(Owed owed);
  void settle();
  Status write_kept();
  Status write_one(const Owed& owed) noexcept;
  Status reserve_end();
  [[nodiscard]] bool owes_release(std::string_view claim) const;
  Status forget_old_requests();
  void keep_lease();
  bool wait_for_renewal();

  const Options options_;
  const Store store_;
  const std::string owner_;
  const Clock& clock_;
  std::atomic<std::int64_t> lease_until_ns_{0};
  mutable Mutex mutex_;
  CondVar wake_;
  bool is_closing_ REMIT_GUARDED_BY(mutex_) = false;
  std::list<Owed> unwritten_ REMIT_GUARDED_BY(mutex_);
  std::size_t being_written_ REMIT_GUARDED_BY(mutex_) = 0;
  /// Claims whose end was not written yet, those under way among them.
  std::size_t open_ends_ REMIT_GUARDED_BY(mutex_) = 0;
  std::thread keeper_;
};

}  // namespace remit::ledger
