// The ledger as a person sees it: what waits for an approval, what was granted, what is claimed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "ledger/store.h"

namespace remit::ledger {

/// A request that nobody granted yet.
struct PendingRequest {
  ApprovalRequest asked;
  WallTime first;
  WallTime last;
  std::int64_t times = 0;
};

/// An approval, with what it is for.
struct Approval {
  std::string id;
  ApprovalState state = ApprovalState::kExpired;  ///< now
  ApprovalRequest asked;                          ///< without `principal`
  std::string granted_by;
  std::string reason;
  WallTime granted;
  WallTime expires;
  std::string invocation;  ///< that used it up; else empty
  std::string changed_by;  ///< who revoked it; else empty
  std::string changed_why;
  std::optional<WallTime> changed;
};

struct Grant {
  std::string request;
  std::string by;      ///< who answers for it
  std::string reason;  ///< why, in words
  std::chrono::seconds lifetime{0};
};

/// A key that was claimed.
struct ClaimEntry {
  std::string claim;
  std::string state;  ///< `running`, `succeeded`, `failed`, `cancelled`, `unknown`, `not_run`
  std::string tool;
  std::string invocation;
  std::string approval;
  std::int64_t attempt = 0;
  bool was_started = false;  ///< the handler was about to be entered
  WallTime claimed;
  std::optional<WallTime> finished;
  std::string settled_by;  ///< a person; else empty
  std::string settled_why;
};

/// What a person says became of a claim whose end nobody knows.
enum class Settlement : std::uint8_t { kFailed, kSucceeded, kNotRun };

struct Resolution {
  std::string claim;
  Settlement as = Settlement::kFailed;
  std::string by;
  std::string reason;
};

/// The operator's side of a ledger. It owns no claims and has no lease. Thread-safe. Errors of
/// every operation: as of the database. Lists have at most kMaxLedgerRows entries, the newest
/// first.
class Desk {
 public:
  /// Errors: as of `open_store`; the ledger is not made.
  static Result<std::unique_ptr<Desk>> open(const Location& location, const Clock& clock,
                                            Random& random);

  Result<std::vector<PendingRequest>> pending();
  /// Those that are active, or all.
  Result<std::vector<Approval>> approvals(bool all);
  /// The approval of that id. Errors: `not_found`.
  Result<Approval> find(const std::string& approval);
  /// The request of that id. Errors: `not_found`.
  Result<PendingRequest> find_request(const std::string& request);

  /// Grants a request that was asked for, and gives the approval's id. It is good once, for that
  /// very call under that very policy. Errors: `not_found` for a request that nobody made, or that
  /// is too old; `already_exists` where an approval for it is active; `invalid_input` for a
  /// lifetime that is not above 0 and at most kMaxApprovalLifetime, or without a name or a reason.
  Result<std::string> grant(const Grant& grant);

  /// From the next call on it is not active; a call that has claimed it and was not started does
  /// not start. Errors: `not_found`; `failed_precondition` for one that is not active any more.
  Status revoke(const std::string& approval, const std::string& by, const std::string& reason);

  /// Those whose end is not known or that are under way, or all.
  Result<std::vector<ClaimEntry>> claims(bool all);

  /// Settles a claim whose end nobody knows: its key then tells what the person said, or, as
  /// kNotRun, may be used again. An approval that it used up stays used up. Errors: `not_found`;
  /// `failed_precondition` for a claim that is under way or has ended; `invalid_input` without a
  /// name or a reason.
  Status resolve(const Resolution& resolution);

 private:
  Desk(Store store, const Clock& clock, Random& random);
  [[nodiscard]] MonotonicTime deadline() const;
  [[nodiscard]] std::int64_t now_ns() const { return clock_.wall_now().unix_ns; }
  Result<database::Answer> list(std::string_view statement,
                                std::span<const database::Parameter> parameters);

  const Store store_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace remit::ledger
