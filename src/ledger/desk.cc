// A person's questions and words as statements.
#include "ledger/desk.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "database/cell.h"

namespace remit::ledger {
namespace {

using database::Answer;
using database::Parameter;
using database::Row;
using database::Transaction;

constexpr std::chrono::seconds kPersonsPatience{10};

WallTime time_of(const database::Cell& cell) {
  return WallTime{integer_of(cell)};
}

std::optional<WallTime> time_if_any(const database::Cell& cell) {
  const std::int64_t at = integer_of(cell);
  return at == 0 ? std::nullopt : std::optional(WallTime{at});
}

/// Who and why are not left out; both end up in lists for people.
Status check_word(std::string_view what, const std::string& word) {
  if (!word.empty() && word.size() <= kMaxIdBytes && word.find('\0') == std::string::npos) {
    return {};
  }
  return Error{ErrorCode::kInvalidInput,
               fmt::format("{} is text of 1 to {} bytes", what, kMaxIdBytes)};
}

constexpr std::string_view kRequestColumns =
    "request, scope, principal, subject, tenant, on_behalf_of, tool, resources, arguments, "
    "policy_version, first_ns, last_ns, asked";

PendingRequest request_of(const Row& row) {
  return {.asked = {.request = text_of(row[0]),
                    .scope = text_of(row[1]),
                    .principal = text_of(row[2]),
                    .subject = text_of(row[3]),
                    .tenant = text_of(row[4]),
                    .on_behalf_of = text_of(row[5]),
                    .tool = text_of(row[6]),
                    .resources = text_of(row[7]),
                    .arguments = text_of(row[8]),
                    .policy_version = text_of(row[9])},
          .first = time_of(row[10]),
          .last = time_of(row[11]),
          .times = integer_of(row[12])};
}

constexpr std::string_view kApprovalColumns =
    "approval, state, expires_ns, request, scope, subject, tenant, on_behalf_of, tool, resources, "
    "arguments, policy_version, granted_by, reason, granted_ns, invocation, changed_by, "
    "changed_why, changed_ns";

ApprovalState state_of(std::string_view stored, std::int64_t expires_ns, std::int64_t now) {
  if (stored == "revoked") return ApprovalState::kRevoked;
  if (stored == "consumed") return ApprovalState::kConsumed;
  return stored == "active" && expires_ns > now ? ApprovalState::kActive : ApprovalState::kExpired;
}

Approval approval_of(const Row& row, std::int64_t now) {
  return {.id = text_of(row[0]),
          .state = state_of(text_of(row[1]), integer_of(row[2]), now),
          .asked = {.request = text_of(row[3]),
                    .scope = text_of(row[4]),
                    .principal = {},
                    .subject = text_of(row[5]),
                    .tenant = text_of(row[6]),
                    .on_behalf_of = text_of(row[7]),
                    .tool = text_of(row[8]),
                    .resources = text_of(row[9]),
                    .arguments = text_of(row[10]),
                    .policy_version = text_of(row[11])},
          .granted_by = text_of(row[12]),
          .reason = text_of(row[13]),
          .granted = time_of(row[14]),
          .expires = time_of(row[2]),
          .invocation = text_of(row[15]),
          .changed_by = text_of(row[16]),
          .changed_why = text_of(row[17]),
          .changed = time_if_any(row[18])};
}

constexpr std::string_view kClaimColumns =
    "c.claim_key, c.state, coalesce(o.lease_until_ns, 0), c.tool, c.invocation, c.approval, "
    "c.attempt, c.started_ns, c.claimed_ns, c.finished_ns, c.settled_by, c.settled_why "
    "from ledger_claims c left join ledger_owners o on o.owner = c.owner";

ClaimEntry claim_of(const Row& row, std::int64_t now) {
  std::string state = text_of(row[1]);
  if (state == "claimed" || state == "started") {
    state = integer_of(row[2]) > now ? "running" : "unknown";
  }
  return {.claim = text_of(row[0]),
          .state = std::move(state),
          .tool = text_of(row[3]),
          .invocation = text_of(row[4]),
          .approval = text_of(row[5]),
          .attempt = integer_of(row[6]),
          .was_started = integer_of(row[7]) != 0,
          .claimed = time_of(row[8]),
          .finished = time_if_any(row[9]),
          .settled_by = text_of(row[10]),
          .settled_why = text_of(row[11])};
}

std::string settled_state(Settlement settlement) {
  switch (settlement) {
    case Settlement::kSucceeded:
      return "succeeded";
    case Settlement::kFailed:
      return "failed";
    case Settlement::kNotRun:
      return "not_run";
  }
  return "failed";
}

/// Takes `approval` from a call that claimed it and was not started: whether there was one. From
/// here on that call cannot start. Claim before approval, as everywhere.
Result<bool> take_from_claim(Transaction& transaction, const std::string& approval) {
  const Parameter parameters[] = {{":approval", approval}};
  REMIT_TRY_ASSIGN(
      const Answer taken,
      transaction.run("update ledger_claims set state = 'unknown' where claim_key in (select "
                      "claim_key from ledger_approvals where approval = :approval "
                      "and state = 'consumed') and approval = :approval and started_ns = 0 "
                      "and state in ('claimed', 'unknown') and settled_by = '' "
                      "returning claim_key",
                      parameters));
  return !taken.rows.empty();
}

}  // namespace

Result<std::unique_ptr<Desk>> Desk::open(const Location& location, const Clock& clock,
                                         Random& random) {
  REMIT_TRY_ASSIGN(Store store, open_store(location, Creation::kNever, {}, clock, random));
  return std::unique_ptr<Desk>(new Desk(std::move(store), clock, random));
}

Desk::Desk(Store store, const Clock& clock, Random& random)
    : store_(std::move(store)), clock_(clock), random_(random) {}

MonotonicTime Desk::deadline() const {
  return clock_.monotonic_now() + kPersonsPatience;
}

Result<Answer> Desk::list(std::string_view statement, std::span<const Parameter> parameters) {
  return store_.database->run(statement, parameters,
                              {.deadline = deadline(), .max_rows = kMaxLedgerRows});
}

Result<std::vector<PendingRequest>> Desk::pending() {
  const std::int64_t old =
      now_ns() - std::chrono::duration_cast<Duration>(kRequestLifetime).count();
  const Parameter parameters[] = {{":old", old}};
  REMIT_TRY_ASSIGN(const Answer found,
                   list(fmt::format("select {} from ledger_requests where last_ns >= :old "
                                    "order by last_ns desc, request limit {}",
                                    kRequestColumns, kMaxLedgerRows),
                        parameters));
  std::vector<PendingRequest> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back(request_of(row));
  return out;
}

Result<PendingRequest> Desk::find_request(const std::string& request) {
  const std::int64_t old =
      now_ns() - std::chrono::duration_cast<Duration>(kRequestLifetime).count();
  const Parameter parameters[] = {{":request", request}, {":old", old}};
  REMIT_TRY_ASSIGN(const Answer found,
                   list(fmt::format("select {} from ledger_requests where request = :request "
                                    "and last_ns >= :old",
                                    kRequestColumns),
                        parameters));
  if (found.rows.empty()) {
    return Error{ErrorCode::kNotFound, fmt::format("nobody asked for {}", quoted(request))};
  }
  return request_of(found.rows.front());
}

Result<std::vector<Approval>> Desk::approvals(bool all) {
  const std::int64_t now = now_ns();
  const Parameter parameters[] = {{":all", std::int64_t{all}}, {":now", now}};
  REMIT_TRY_ASSIGN(const Answer found,
                   list(fmt::format("select {} from ledger_approvals where :all = 1 or "
                                    "(state = 'active' and expires_ns > :now) "
                                    "order by granted_ns desc, approval limit {}",
                                    kApprovalColumns, kMaxLedgerRows),
                        parameters));
  std::vector<Approval> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back(approval_of(row, now));
  return out;
}

Result<Approval> Desk::find(const std::string& approval) {
  const Parameter parameters[] = {{":approval", approval}};
  REMIT_TRY_ASSIGN(const Answer found,
                   list(fmt::format("select {} from ledger_approvals where approval = :approval",
                                    kApprovalColumns),
                        parameters));
  if (found.rows.empty()) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no approval {}", quoted(approval))};
  }
  return approval_of(found.rows.front(), now_ns());
}

Result<std::string> Desk::grant(const Grant& grant) {
  REMIT_TRY(check_word("who grants", grant.by));
  REMIT_TRY(check_word("the reason", grant.reason));
  if (grant.lifetime <= std::chrono::seconds::zero() || grant.lifetime > kMaxApprovalLifetime) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("an approval lasts at least a second and at most {} days",
                             kMaxApprovalLifetime.count() / 24)};
  }
  const std::int64_t now = now_ns();
  const std::int64_t expires = now + std::chrono::duration_cast<Duration>(grant.lifetime).count();
  const std::int64_t old = now - std::chrono::duration_cast<Duration>(kRequestLifetime).count();
  std::string approval = random_id(random_);
  bool is_taken = false;
  const Status done =
      store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
        const Parameter lapsed[] = {{":request", grant.request}, {":now", now}};
        REMIT_TRY_ASSIGN(
            const Answer expired,
            transaction.run("update ledger_approvals set state = 'expired' where request = "
                            ":request and state = 'active' and expires_ns <= :now",
                            lapsed));
        const Parameter values[] = {{":approval", approval},
                                    {":request", grant.request},
                                    {":by", grant.by},
                                    {":reason", grant.reason},
                                    {":now", now},
                                    {":expires", expires},
                                    {":old", old}};
        REMIT_TRY_ASSIGN(
            const Answer granted,
            transaction.run(
                "insert into ledger_approvals(approval, request, scope, state, subject, tenant, "
                "on_behalf_of, tool, resources, arguments, policy_version, granted_by, reason, "
                "granted_ns, expires_ns, claim_key, invocation, changed_by, changed_why, "
                "changed_ns) select :approval, request, scope, 'active', subject, tenant, "
                "on_behalf_of, tool, resources, arguments, policy_version, :by, :reason, :now, "
                ":expires, '', '', '', '', 0 from ledger_requests where request = :request "
                "and last_ns >= :old on conflict do nothing returning approval",
                values));
        const Parameter request[] = {{":request", grant.request}};
        if (granted.rows.empty()) {
          REMIT_TRY_ASSIGN(const Answer other,
                           transaction.run("select approval from ledger_approvals where request = "
                                           ":request and state = 'active'",
                                           request));
          is_taken = !other.rows.empty();
          return Error{ErrorCode::kNotFound, "nothing to grant"};
        }
        REMIT_TRY_ASSIGN(
            const Answer settled,
            transaction.run("delete from ledger_requests where request = :request", request));
        return {};
      });
  if (done) return approval;
  if (done.error().code != ErrorCode::kNotFound) return done.error();
  if (is_taken) {
    return Error{ErrorCode::kAlreadyExists,
                 fmt::format("an approval of {} is active already", quoted(grant.request))};
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("nobody asked for {}, or not of late; see `remit approvals list "
                           "--pending`",
                           quoted(grant.request))};
}

Status Desk::revoke(const std::string& approval, const std::string& by, const std::string& reason) {
  REMIT_TRY(check_word("who revokes", by));
  REMIT_TRY(check_word("the reason", reason));
  const Parameter parameters[] = {
      {":approval", approval}, {":by", by}, {":why", reason}, {":now", now_ns()}};
  bool is_revoked = false;
  const auto revoke = [&](Transaction& transaction) -> Status {
    REMIT_TRY_ASSIGN(const bool was_held, take_from_claim(transaction, approval));
    REMIT_TRY_ASSIGN(
        const Answer revoked,
        transaction.run(
            fmt::format("update ledger_approvals set state = 'revoked', changed_by = :by, "
                        "changed_why = :why, changed_ns = :now where approval = :approval "
                        "and ((state = 'active' and expires_ns > :now){}) returning approval",
                        was_held ? " or state = 'consumed'" : ""),
            parameters));
    is_revoked = !revoked.rows.empty();
    return {};
  };
  // A call may claim it between the two statements: then the second time finds the claim.
  for (int tries = 0; tries < 2 && !is_revoked; ++tries) {
    REMIT_TRY(store_.database->transact(deadline(), revoke));
  }
  if (is_revoked) return {};
  REMIT_TRY_ASSIGN(const Approval found, find(approval));
  return Error{ErrorCode::kFailedPrecondition,
               fmt::format("the approval is {} already", approval_state_name(found.state))};
}

Result<std::vector<ClaimEntry>> Desk::claims(bool all) {
  const std::int64_t now = now_ns();
  const Parameter parameters[] = {{":all", std::int64_t{all}}};
  REMIT_TRY_ASSIGN(const Answer found,
                   list(fmt::format("select {} where :all = 1 or c.state in ('claimed', "
                                    "'started', 'unknown') order by c.claimed_ns desc, "
                                    "c.claim_key limit {}",
                                    kClaimColumns, kMaxLedgerRows),
                        parameters));
  std::vector<ClaimEntry> out;
  out.reserve(found.rows.size());
  for (const Row& row : found.rows) out.push_back(claim_of(row, now));
  return out;
}

Status Desk::resolve(const Resolution& resolution) {
  REMIT_TRY(check_word("who resolves", resolution.by));
  REMIT_TRY(check_word("the reason", resolution.reason));
  const std::int64_t now = now_ns();
  return store_.database->transact(deadline(), [&](Transaction& transaction) -> Status {
    const Parameter key[] = {{":claim", resolution.claim}};
    REMIT_TRY_ASSIGN(
        const Answer found,
        transaction.run(fmt::format("select {} where c.claim_key = :claim", kClaimColumns), key));
    if (found.rows.empty()) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("there is no claim {}", quoted(resolution.claim))};
    }
    const ClaimEntry entry = claim_of(found.rows.front(), now);
    const Parameter values[] = {{":claim", resolution.claim},
                                {":invocation", entry.invocation},
                                {":stored", text_of(found.rows.front()[1])},
                                {":state", settled_state(resolution.as)},
                                {":now", now},
                                {":by", resolution.by},
                                {":why", resolution.reason}};
    Answer settled;
    if (entry.state == "unknown") {
      REMIT_TRY_ASSIGN(
          settled,
          transaction.run("update ledger_claims set state = :state, finished_ns = :now, "
                          "settled_by = :by, settled_why = :why where claim_key = :claim "
                          "and invocation = :invocation and state = :stored returning claim_key",
                          values));
    }
    if (!settled.rows.empty()) return {};
    return Error{ErrorCode::kFailedPrecondition,
                 entry.state == "running" || entry.state == "unknown"
                     ? "the claim is under way; it can be resolved once its end is unknown"
                     : fmt::format("the claim's end is known: {}", entry.state)};
  });
}

}  // namespace remit::ledger
