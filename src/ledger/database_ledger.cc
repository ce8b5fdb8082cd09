// Claims, approvals and leases as statements that both databases understand.
#include "ledger/database_ledger.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "database/cell.h"
#include "ledger/claiming.h"

namespace remit::ledger {
namespace {

using database::Answer;
using database::Parameter;
using database::Transaction;

constexpr std::chrono::milliseconds kTryAgain{500};

// A commit that the client gave up may still be under way: for as long as one may take, and until
// the server ends a transaction that stands still.
constexpr std::chrono::seconds kCommitInDoubt{15};

std::string outcome_state(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSucceeded:
      return "succeeded";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kNotRun:
      return "not_run";
    case Outcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

// A repetition that did nothing leaves what nobody knew of the attempt before it.
std::string state_after(const Claim& claim, Outcome outcome) {
  const bool did_nothing = outcome == Outcome::kNotRun || outcome == Outcome::kCancelled;
  return outcome_state(claim.was_unknown && did_nothing ? Outcome::kUnknown : outcome);
}

ApprovalState stored_state(std::string_view state, std::int64_t expires_ns, std::int64_t now) {
  if (state == "revoked") return ApprovalState::kRevoked;
  if (state == "consumed") return ApprovalState::kConsumed;
  if (state == "active" && expires_ns > now) return ApprovalState::kActive;
  return ApprovalState::kExpired;
}

}  // namespace

Result<std::unique_ptr<DatabaseLedger>> DatabaseLedger::open(Options options, const Clock& clock,
                                                             Random& random) {
  REMIT_TRY_ASSIGN(Store store, open_store(options.location, Creation::kIfAbsent, options.key_check,
                                           clock, random));
  const bool renews_by_itself = options.renews_by_itself;
  std::unique_ptr<DatabaseLedger> ledger(
      new DatabaseLedger(std::move(options), std::move(store), random_id(random), clock));
  REMIT_TRY(ledger->renew());
  if (!renews_by_itself) return ledger;
  try {
    ledger->keeper_ = std::thread([raw = ledger.get()] { raw->keep_lease(); });
  } catch (const std::system_error&) {
    return Error{ErrorCode::kUnavailable, "there is no thread to renew the ledger's lease"};
  }
  return ledger;
}

DatabaseLedger::DatabaseLedger(Options options, Store store, std::string owner, const Clock& clock)
    : options_(std::move(options)),
      store_(std::move(store)),
      owner_(std::move(owner)),
      clock_(clock) {}

DatabaseLedger::~DatabaseLedger() {
  {
    const MutexLock lock(mutex_);
    is_closing_ = true;
    wake_.notify_all();
  }
  if (keeper_.joinable()) keeper_.join();
  if (!write_kept()) return;
  // An owner that is gone without a claim leaves no trace; else its lease runs out.
  const Parameter parameters[] = {{":owner", owner_}};
  (void)change(
      "delete from ledger_owners where owner = :owner and not exists (select 1 from ledger_claims "
      "where ledger_claims.owner = :owner and state in ('claimed', 'started')) returning owner",
      parameters);
}

MonotonicTime DatabaseLedger::deadline() const {
  return clock_.monotonic_now() + kLedgerDeadline;
}

Result<bool> DatabaseLedger::change(std::string_view statement,
                                    std::span<const Parameter> parameters) {
  bool is_changed = false;
  // In a transaction, which waits for its turn instead of trying again and again.
  REMIT_TRY(store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(const Answer changed, transaction.run(statement, parameters));
    is_changed = !changed.rows.empty();
    return {};
  }));
  return is_changed;
}

Status DatabaseLedger::renew() {
  const std::int64_t until =
      now_ns() + std::chrono::duration_cast<Duration>(options_.lease).count();
  const Parameter parameters[] = {{":owner", owner_}, {":until", until}, {":ledger", store_.id}};
  REMIT_TRY_ASSIGN(
      const bool is_renewed,
      change("insert into ledger_owners(owner, lease_until_ns) select :owner, :until "
             "where exists (select 1 from ledger_meta where ledger = :ledger) "
             "on conflict(owner) do update set lease_until_ns = excluded.lease_until_ns "
             "returning owner",
             parameters));
  if (!is_renewed) {
    return Error{ErrorCode::kUnavailable, "another ledger has taken the place of the one in use"};
  }
  lease_until_ns_ = until;
  const Status kept = write_kept();
  (void)forget_old_requests();  // the next renewal tries again
  return kept;
}

// Of whatever principal, so in a transaction of its own that waits for nobody.
Status DatabaseLedger::forget_old_requests() {
  const std::int64_t old =
      now_ns() - std::chrono::duration_cast<Duration>(kRequestLifetime).count();
  const Parameter age[] = {{":old", old}};
  const bool is_postgres = store_.database->dialect() == database::Dialect::kPostgres;
  return store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    REMIT_TRY(transaction.run(
        fmt::format("delete from ledger_requests where request in (select request from "
                    "ledger_requests where last_ns < :old{})",
                    is_postgres ? " for update skip locked" : ""),
        age));
    return {};
  });
}

// Owned claims need an owner that is alive for everybody to see.
Status DatabaseLedger::hold_lease() {
  const std::int64_t third = std::chrono::duration_cast<Duration>(options_.lease).count() / 3;
  if (lease_until_ns_ - now_ns() > third) return {};
  return renew();
}

void DatabaseLedger::keep_lease() {
  // One that fails is tried again in a while; meanwhile claims say that the ledger is away.
  while (wait_for_renewal()) {
    try {
      (void)renew();
    } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease runs out or not
    }
  }
}

bool DatabaseLedger::wait_for_renewal() {
  const MutexLock lock(mutex_);
  if (is_closing_) return false;
  std::chrono::milliseconds pause = options_.lease / 3;
  if (!unwritten_.empty()) pause = std::min(pause, kTryAgain);
  wake_.wait_for(mutex_, pause);
  return !is_closing_;
}

Result<ApprovalFinding> DatabaseLedger::find_approval(const ApprovalQuery& query) {
  constexpr int kLooked = 16;
  const std::int64_t now = now_ns();
  const Parameter parameters[] = {{":request", std::string(query.request)},
                                  {":scope", std::string(query.scope)},
                                  {":now", now},
                                  {":ledger", store_.id}};
  REMIT_TRY_ASSIGN(
      const Answer found,
      store_.database->run(
          fmt::format("select m.ledger, a.approval, a.request, a.state, a.expires_ns, a.claim_key "
                      "from ledger_meta m left join ledger_approvals a on a.request = :request "
                      "or (a.scope = :scope and a.state = 'active' and a.expires_ns > :now) "
                      "where m.ledger = :ledger "
                      "order by case when a.request = :request then 0 else 1 end, "
                      "a.granted_ns desc limit {}",
                      kLooked),
          parameters, {.deadline = deadline(), .max_rows = kLooked}));
  if (found.rows.empty()) {
    return Error{ErrorCode::kUnavailable, "another ledger has taken the place of the one in use"};
  }
  ApprovalFinding out;
  for (const database::Row& row : found.rows) {
    std::string approval = text_of(row[1]);
    if (approval.empty()) break;  // the join found none
    if (text_of(row[2]) != query.request) {
      if (out.state == ApprovalState::kAbsent) out = {ApprovalState::kMismatched, approval};
      break;
    }
    const ApprovalState state = stored_state(text_of(row[3]), integer_of(row[4]), now);
    const bool is_of_this_claim =
        state == ApprovalState::kConsumed && text_of(row[5]) == query.claim;
    if (state == ApprovalState::kActive) return ApprovalFinding{state, std::move(approval)};
    // The newest speaks, unless one of them was used up by this very key.
    if (out.state == ApprovalState::kAbsent || (is_of_this_claim && !out.is_of_this_claim)) {
      out = {state, std::move(approval), is_of_this_claim};
    }
  }
  return out;
}

Status DatabaseLedger::note_request(const ApprovalRequest& request) {
  const std::int64_t now = now_ns();
  return store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    // One principal's requests are noted one after the other: each transaction changes several of
    // them, and two could wait for one another.
    if (store_.database->dialect() == database::Dialect::kPostgres) {
      const Parameter turn[] = {{":principal", "remit.ledger.requests:" + request.principal}};
      REMIT_TRY(
          transaction.run("select pg_advisory_xact_lock(hashtextextended(:principal, 0))", turn));
    }
    const Parameter values[] = {{":request", request.request},
                                {":scope", request.scope},
                                {":principal", request.principal},
                                {":subject", request.subject},
                                {":tenant", request.tenant},
                                {":behalf", request.on_behalf_of},
                                {":tool", request.tool},
                                {":resources", request.resources},
                                {":arguments", request.arguments},
                                {":version", request.policy_version},
                                {":now", now}};
    REMIT_TRY_ASSIGN(
        const Answer noted,
        transaction.run(
            "insert into ledger_requests(request, scope, principal, subject, tenant, on_behalf_of, "
            "tool, resources, arguments, policy_version, first_ns, last_ns, asked) values("
            ":request, :scope, :principal, :subject, :tenant, :behalf, :tool, :resources, "
            ":arguments, :version, :now, :now, 1) on conflict(request) do update set "
            "last_ns = excluded.last_ns, asked = ledger_requests.asked + 1",
            values));
    const Parameter bound[] = {{":principal", request.principal},
                               {":most", kMaxRequestsPerPrincipal}};
    REMIT_TRY_ASSIGN(
        const Answer bounded,
        transaction.run("delete from ledger_requests where principal = :principal and request not "
                        "in (select request from ledger_requests where principal = :principal "
                        "order by last_ns desc, request limit :most)",
                        bound));
    return {};
  });
}

Result<ClaimOutcome> DatabaseLedger::claim(const ClaimQuery& query) {
  REMIT_TRY(hold_lease());
  REMIT_TRY(reserve_end());
  const Claimant claimant{store_.id, owner_, now_ns()};
  Claiming claiming(claimant, query);
  const Status done = store_.database->transact(
      deadline(), [&](Transaction& transaction) { return claiming.run(transaction); });
  const ClaimOutcome& outcome = claiming.outcome();
  const bool was_claimed = outcome.verdict == ClaimVerdict::kClaimed;
  if (!was_claimed) settle();
  if (done && outcome.verdict == ClaimVerdict::kRunning && owes_release(query.claim)) {
    return Error{ErrorCode::kUnavailable,
                 "what was claimed under this key could not be given back yet"};
  }
  if (done || claiming.is_refused()) return outcome;
  if (!was_claimed) return done.error();
  // It may have been committed all the same, or be yet. The call is not going to run.
  Claim perhaps{.claim = std::string(query.claim),
                .invocation = std::string(query.invocation),
                .approval = std::string(query.approval),
                .was_unknown = true};
  keep({.claim = perhaps.claim,
        .is_release = true,
        .in_doubt_until = clock_.monotonic_now() + kCommitInDoubt,
        .write = [this, perhaps] { return write_release(perhaps); }});
  return done.error();
}

// Each claim owes an end, and there is room for as many: none is ever dropped.
Status DatabaseLedger::reserve_end() {
  const MutexLock lock(mutex_);
  if (open_ends_ >= options_.max_open_ends) {
    return Error{ErrorCode::kUnavailable, "too many ends of calls are not written yet"};
  }
  ++open_ends_;
  return {};
}

void DatabaseLedger::settle() {
  const MutexLock lock(mutex_);
  if (open_ends_ > 0) --open_ends_;
}

bool DatabaseLedger::owes_release(std::string_view claim) const {
  const MutexLock lock(mutex_);
  return std::any_of(unwritten_.begin(), unwritten_.end(),
                     [&](const Owed& owed) { return owed.is_release && owed.claim == claim; });
}

Status DatabaseLedger::start(const Claim& claim) {
  const Parameter parameters[] = {{":claim", claim.claim},
                                  {":invocation", claim.invocation},
                                  {":owner", owner_},
                                  {":now", now_ns()},
                                  {":ledger", store_.id}};
  REMIT_TRY_ASSIGN(
      const bool is_started,
      change("update ledger_claims set state = 'started', started_ns = :now "
             "where claim_key = :claim and invocation = :invocation and owner = :owner "
             "and state = 'claimed' and exists (select 1 from ledger_meta where ledger = :ledger) "
             "returning claim_key",
             parameters));
  if (is_started) return {};
  return Error{ErrorCode::kFailedPrecondition,
               "the claim was taken away: this process was not heard of for too long"};
}

// A late finish is the truth as well, unless a person has spoken or another attempt was made.
Result<bool> DatabaseLedger::write_finish(const Claim& claim, Outcome outcome, std::int64_t now) {
  const Parameter parameters[] = {{":claim", claim.claim},
                                  {":invocation", claim.invocation},
                                  {":owner", owner_},
                                  {":state", state_after(claim, outcome)},
                                  {":now", now}};
  return change(
      "update ledger_claims set state = :state, finished_ns = :now "
      "where claim_key = :claim and invocation = :invocation and owner = :owner "
      "and state in ('claimed', 'started', 'unknown') and settled_by = '' "
      "returning claim_key",
      parameters);
}

Result<bool> DatabaseLedger::write_release(const Claim& claim) {
  const std::int64_t now = now_ns();
  bool was_there = false;
  REMIT_TRY(store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    // What was started and then lapsed is `unknown` as well, and may have had its effect: only the
    // time of the start tells the two apart.
    const Parameter mine[] = {
        {":claim", claim.claim}, {":invocation", claim.invocation}, {":owner", owner_}};
    REMIT_TRY_ASSIGN(
        const Answer freed,
        transaction.run("delete from ledger_claims where claim_key = :claim "
                        "and invocation = :invocation and owner = :owner and attempt = 1 "
                        "and state in ('claimed', 'unknown') and started_ns = 0 "
                        "and settled_by = '' returning claim_key",
                        mine));
    // An earlier attempt is as it was: what nobody knew, nobody knows now.
    const Parameter back[] = {{":claim", claim.claim},
                              {":invocation", claim.invocation},
                              {":owner", owner_},
                              {":state", claim.was_unknown ? "unknown" : "not_run"}};
    REMIT_TRY_ASSIGN(
        const Answer reverted,
        transaction.run("update ledger_claims set state = :state where claim_key = :claim "
                        "and invocation = :invocation and owner = :owner and attempt > 1 "
                        "and state in ('claimed', 'unknown') and started_ns = 0 "
                        "and settled_by = '' returning claim_key",
                        back));
    was_there = !freed.rows.empty() || !reverted.rows.empty();
    if (claim.approval.empty() || !was_there) return {};
    const Parameter approval[] = {{":approval", claim.approval},
                                  {":claim", claim.claim},
                                  {":invocation", claim.invocation},
                                  {":now", now}};
    REMIT_TRY_ASSIGN(
        const Answer restored,
        transaction.run("update ledger_approvals set state = 'active', claim_key = '', "
                        "invocation = '', changed_ns = :now where approval = :approval "
                        "and state = 'consumed' and claim_key = :claim "
                        "and invocation = :invocation and not exists (select 1 from "
                        "ledger_approvals other where other.request = ledger_approvals.request "
                        "and other.state = 'active')",
                        approval));
    return {};
  }));
  return was_there;
}

void DatabaseLedger::finish(const Claim& claim, Outcome outcome) noexcept {
  try {
    write_or_keep({.claim = claim.claim, .write = [this, claim, outcome, now = now_ns()] {
                     return write_finish(claim, outcome, now);
                   }});
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, no lock: the claim's end is unknown
  }
}

void DatabaseLedger::release(const Claim& claim) noexcept {
  try {
    write_or_keep({.claim = claim.claim, .is_release = true, .write = [this, claim] {
                     return write_release(claim);
                   }});
  } catch (...) {  // NOLINT(bugprone-empty-catch): likewise
  }
}

void DatabaseLedger::write_or_keep(Owed owed) {
  if (owed.write()) return settle();
  keep(std::move(owed));
}

void DatabaseLedger::keep(Owed owed) {
  const MutexLock lock(mutex_);
  unwritten_.push_back(std::move(owed));
  wake_.notify_all();
}

// Each is tried once; what does not go stands behind the others, the next time too.
Status DatabaseLedger::write_kept() {
  for (std::size_t left = unwritten(); left > 0; --left) {
    std::list<Owed> one;
    {
      const MutexLock lock(mutex_);
      if (unwritten_.empty()) return {};
      one.splice(one.end(), unwritten_, unwritten_.begin());
      ++being_written_;
    }
    const Status written = write_one(one.front());
    const MutexLock lock(mutex_);
    --being_written_;
    if (written) {
      if (open_ends_ > 0) --open_ends_;
      continue;
    }
    unwritten_.splice(unwritten_.end(), one);
    if (written.error().code != ErrorCode::kFailedPrecondition) return written;
  }
  return {};
}

// Error: `failed_precondition` for a release in doubt that has found nothing yet.
Status DatabaseLedger::write_one(const Owed& owed) noexcept {
  try {
    REMIT_TRY_ASSIGN(const bool was_there, owed.write());
    const bool is_in_doubt =
        !was_there && owed.in_doubt_until && clock_.monotonic_now() < *owed.in_doubt_until;
    if (!is_in_doubt) return {};
    return Error{ErrorCode::kFailedPrecondition, "what may be claimed is not to be seen yet"};
  } catch (...) {
    return Error{ErrorCode::kInternal, {}};
  }
}

std::size_t DatabaseLedger::unwritten() const {
  const MutexLock lock(mutex_);
  return unwritten_.size() + being_written_;
}

}  // namespace remit::ledger
