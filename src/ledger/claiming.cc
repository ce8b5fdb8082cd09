// The order within the transaction is always claim, then approval, so that no two can wait for one
// another.
#include "ledger/claiming.h"

#include "database/cell.h"
#include "ledger/store.h"

namespace remit::ledger {
namespace {

using database::Answer;
using database::Parameter;
using database::Transaction;

std::string text(std::string_view view) {
  return std::string(view);
}

ClaimVerdict verdict_of(std::string_view state) {
  if (state == "succeeded") return ClaimVerdict::kSucceeded;
  if (state == "failed") return ClaimVerdict::kFailed;
  if (state == "cancelled") return ClaimVerdict::kCancelled;
  return ClaimVerdict::kUnknown;
}

}  // namespace

Status Claiming::run(Transaction& transaction) {
  REMIT_TRY_ASSIGN(const bool is_new, insert(transaction));
  if (is_new) return granted(transaction, 1);
  return look_at(transaction);
}

// Whether the key was free.
Result<bool> Claiming::insert(Transaction& transaction) {
  const Parameter parameters[] = {
      {":claim", text(query_.claim)},       {":call", text(query_.call)},
      {":tool", text(query_.tool)},         {":owner", claimant_.owner},
      {":approval", text(query_.approval)}, {":invocation", text(query_.invocation)},
      {":now", claimant_.now_ns},           {":ledger", claimant_.ledger}};
  REMIT_TRY_ASSIGN(
      const Answer inserted,
      transaction.run(
          "insert into ledger_claims(claim_key, call_digest, tool, owner, attempt, state, "
          "approval, invocation, claimed_ns, started_ns, finished_ns, settled_by, settled_why) "
          "select :claim, :call, :tool, :owner, 1, 'claimed', :approval, :invocation, :now, 0, 0, "
          "'', '' where exists (select 1 from ledger_meta where ledger = :ledger) "
          "on conflict(claim_key) do nothing returning attempt",
          parameters));
  return !inserted.rows.empty();
}

Status Claiming::look_at(Transaction& transaction) {
  const Parameter parameters[] = {{":claim", text(query_.claim)}, {":ledger", claimant_.ledger}};
  REMIT_TRY_ASSIGN(
      const Answer found,
      transaction.run("select c.call_digest, c.state, c.attempt, coalesce(o.lease_until_ns, 0) "
                      "from ledger_claims c left join ledger_owners o on o.owner = c.owner "
                      "where c.claim_key = :claim "
                      "and exists (select 1 from ledger_meta where ledger = :ledger)",
                      parameters));
  if (found.rows.empty()) {
    // Whoever held it released it between the two statements, or there is no such ledger any more.
    return Error{
        ErrorCode::kUnavailable,
        "the claim went just now, or another ledger has taken the place of the one in use"};
  }
  const database::Row& row = found.rows.front();
  std::string state = text_of(row[1]);
  const std::int64_t attempt = integer_of(row[2]);
  if (text_of(row[0]) != query_.call) {
    outcome_.verdict = ClaimVerdict::kConflict;
    return {};
  }
  if (state == "claimed" || state == "started") {
    if (integer_of(row[3]) > claimant_.now_ns) {
      outcome_.verdict = ClaimVerdict::kRunning;
      return {};
    }
    // Its owner has not been heard of: from here on it cannot start any more.
    const Parameter lapsed[] = {{":claim", text(query_.claim)}, {":attempt", attempt}};
    REMIT_TRY_ASSIGN(const Answer moved,
                     transaction.run("update ledger_claims set state = 'unknown' "
                                     "where claim_key = :claim and attempt = :attempt "
                                     "and state in ('claimed', 'started') returning attempt",
                                     lapsed));
    if (moved.rows.empty()) {  // it moved by itself just now
      outcome_.verdict = ClaimVerdict::kRunning;
      return {};
    }
    state = "unknown";
  }
  was_unknown_ = state == "unknown";
  if (state == "not_run" || (was_unknown_ && query_.is_repeatable)) {
    return again(transaction, attempt);
  }
  outcome_.verdict = verdict_of(state);
  return {};
}

// A further attempt, by whoever is first.
Status Claiming::again(Transaction& transaction, std::int64_t attempt) {
  const Parameter parameters[] = {{":claim", text(query_.claim)},
                                  {":attempt", attempt},
                                  {":owner", claimant_.owner},
                                  {":approval", text(query_.approval)},
                                  {":invocation", text(query_.invocation)},
                                  {":now", claimant_.now_ns}};
  REMIT_TRY_ASSIGN(
      const Answer taken,
      transaction.run("update ledger_claims set owner = :owner, attempt = attempt + 1, "
                      "state = 'claimed', approval = :approval, invocation = :invocation, "
                      "claimed_ns = :now, started_ns = 0, finished_ns = 0, settled_by = '', "
                      "settled_why = '' where claim_key = :claim and attempt = :attempt "
                      "and state in ('unknown', 'not_run') returning attempt",
                      parameters));
  if (taken.rows.empty()) {
    outcome_.verdict = ClaimVerdict::kRunning;
    return {};
  }
  return granted(transaction, integer_of(taken.rows.front().front()));
}

// The key is held; the approval goes with it, or neither does.
Status Claiming::granted(Transaction& transaction, std::int64_t attempt) {
  if (!query_.approval.empty()) {
    const Parameter parameters[] = {{":approval", text(query_.approval)},
                                    {":request", text(query_.request)},
                                    {":claim", text(query_.claim)},
                                    {":invocation", text(query_.invocation)},
                                    {":now", claimant_.now_ns}};
    REMIT_TRY_ASSIGN(
        const Answer consumed,
        transaction.run("update ledger_approvals set state = 'consumed', claim_key = :claim, "
                        "invocation = :invocation, changed_ns = :now "
                        "where approval = :approval and request = :request "
                        "and state = 'active' and expires_ns > :now returning approval",
                        parameters));
    if (consumed.rows.empty()) {
      outcome_.verdict = ClaimVerdict::kApprovalGone;
      is_refused_ = true;
      return Error{ErrorCode::kFailedPrecondition, "the approval is not active any more"};
    }
  }
  outcome_.verdict = ClaimVerdict::kClaimed;
  outcome_.claim = {.claim = text(query_.claim),
                    .invocation = text(query_.invocation),
                    .approval = text(query_.approval),
                    .attempt = attempt,
                    .was_unknown = was_unknown_};
  return {};
}

}  // namespace remit::ledger
