// Claims, approvals and leases as statements that both databases understand.
#include "ledger/database_ledger.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include "database/cell.h"
#include "ledger/claiming.h"

namespace remit::ledger {
namespace {

using database::Answer;
using database::Parameter;
using database::Transaction;

constexpr std::chrono::milliseconds kTryAgain{500};

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
  return write_kept();
}

// Owned claims need an owner that is alive for everybody to see.
Status DatabaseLedger::hold_lease() {
  const std::int64_t third = std::chrono::duration_cast<Duration>(options_.lease).count() / 3;
  if (lease_until_ns_ - now_ns() > third) return {};
  return renew();
}

void DatabaseLedger::keep_lease() {
  // One that fails is tried again in a while; meanwhile claims say that the ledger is away.
  while (wait_for_renewal()) (void)renew();
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
  constexpr std::size_t kLooked = 16;
  const std::int64_t now = now_ns();
  const Parameter parameters[] = {{":request", std::string(query.request)},
                                  {":scope", std::string(query.scope)},
                                  {":now", now},
                                  {":ledger", store_.id}};
  REMIT_TRY_ASSIGN(
      const Answer found,
      store_.database->run(
          "select m.ledger, a.approval, a.request, a.state, a.expires_ns, a.claim_key "
          "from ledger_meta m left join ledger_approvals a on a.request = :request "
          "or (a.scope = :scope and a.state = 'active' and a.expires_ns > :now) "
          "where m.ledger = :ledger "
          "order by case when a.request = :request then 0 else 1 end, a.granted_ns desc "
          "limit 16",
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
  const std::int64_t old = now - std::chrono::duration_cast<Duration>(kRequestLifetime).count();
  return store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    const Parameter age[] = {{":old", old}};
    REMIT_TRY_ASSIGN(const Answer forgotten,
                     transaction.run("delete from ledger_requests where last_ns < :old", age));
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
  const Claimant claimant{store_.id, owner_, now_ns()};
  Claiming claiming(claimant, query);
  const Status done = store_.database->transact(
      deadline(), [&](Transaction& transaction) { return claiming.run(transaction); });
  if (done || claiming.is_refused()) return claiming.outcome();
  // It may have been committed all the same. The call is not going to run.
  Claim perhaps{.claim = std::string(query.claim),
                .invocation = std::string(query.invocation),
                .approval = std::string(query.approval),
                .was_unknown = true};
  keep([this, perhaps = std::move(perhaps)] { return write_release(perhaps); });
  return done.error();
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
Status DatabaseLedger::write_finish(const Claim& claim, Outcome outcome, std::int64_t now) {
  const Parameter parameters[] = {{":claim", claim.claim},
                                  {":invocation", claim.invocation},
                                  {":owner", owner_},
                                  {":state", state_after(claim, outcome)},
                                  {":now", now}};
  REMIT_TRY_ASSIGN(
      [[maybe_unused]] const bool is_written,
      change("update ledger_claims set state = :state, finished_ns = :now "
             "where claim_key = :claim and invocation = :invocation and owner = :owner "
             "and state in ('claimed', 'started', 'unknown') and settled_by = '' "
             "returning claim_key",
             parameters));
  return {};
}

Status DatabaseLedger::write_release(const Claim& claim) {
  const std::int64_t now = now_ns();
  return store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
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
    if (claim.approval.empty() || (freed.rows.empty() && reverted.rows.empty())) return {};
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
  });
}

void DatabaseLedger::finish(const Claim& claim, Outcome outcome) noexcept {
  try {
    write_or_keep(
        [this, claim, outcome, now = now_ns()] { return write_finish(claim, outcome, now); });
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the claim's end is unknown
  }
}

void DatabaseLedger::release(const Claim& claim) noexcept {
  try {
    write_or_keep([this, claim] { return write_release(claim); });
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): likewise
  }
}

void DatabaseLedger::write_or_keep(Work work) {
  if (!work()) keep(std::move(work));
}

void DatabaseLedger::keep(Work work) {
  const MutexLock lock(mutex_);
  if (unwritten_.size() >= kMaxUnwrittenEnds) unwritten_.pop_front();
  unwritten_.push_back(std::move(work));
  wake_.notify_all();
}

Status DatabaseLedger::write_kept() {
  std::deque<Work> kept;
  {
    const MutexLock lock(mutex_);
    kept.swap(unwritten_);
  }
  Status written;
  while (!kept.empty()) {
    Work work = std::move(kept.front());
    kept.pop_front();
    written = work();
    if (written) continue;
    kept.push_back(std::move(work));  // others may go before it the next time
    break;
  }
  const MutexLock lock(mutex_);
  std::move(kept.rbegin(), kept.rend(), std::front_inserter(unwritten_));
  return written;
}

std::size_t DatabaseLedger::unwritten() const {
  const MutexLock lock(mutex_);
  return unwritten_.size();
}

}  // namespace remit::ledger
