// The ledger's verdicts as decisions.
#include "enforcement/claims.h"

#include <string>
#include <utility>

#include "base/limits.h"
#include "enforcement/guarded.h"

namespace remit::enforcement {
namespace {

using access::Decision;
using access::ReasonCode;
using ledger::ClaimVerdict;

constexpr std::string_view kLedger = "ledger";

void refuse_claim(Decision denial, Assessment& facts) {
  facts.decision = std::move(denial);
  facts.reached = Step::kClaim;
  facts.decision_point = kLedger;
}

std::string_view detail_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::kUnknown:
      return "an earlier attempt with this key may have had its effect";
    case ClaimVerdict::kRunning:
      return "an earlier attempt with this key is under way";
    case ClaimVerdict::kConflict:
      return "the key was used for another call";
    case ClaimVerdict::kSucceeded:
    case ClaimVerdict::kFailed:
    case ClaimVerdict::kCancelled:
    case ClaimVerdict::kApprovalGone:
    case ClaimVerdict::kClaimed:
      return "an earlier attempt with this key has ended";
  }
  return {};
}

// The end of an earlier attempt is not known, and by whatever the ledger says it is not to be.
void refuse_as_unknown(std::string detail, Assessment& facts) {
  facts.earlier = ClaimVerdict::kUnknown;
  refuse_claim(Decision::deny(ReasonCode::kOutcomeUnknown, {}, std::move(detail)), facts);
}

}  // namespace

ClaimStep claim_once(const Surroundings& world, std::string_view invocation_id, bool is_last,
                     Assessment& facts) {
  if (facts.is_beyond_telling()) {
    refuse_as_unknown("an earlier attempt was begun, and the ledger keeps no key of this call",
                      facts);
  }
  while (facts.needs_claim()) {
    // Without a key of the caller's, each invocation is its own.
    const std::string_view key = facts.once.key.empty() ? invocation_id : facts.once.key;
    Result<ledger::ClaimOutcome> outcome = guarded("ledger", [&] {
      return world.ledger->claim({.claim = key,
                                  .call = facts.once.call,
                                  .tool = facts.tool->name,
                                  .invocation = invocation_id,
                                  .approval = facts.approval_to_use(),
                                  .request = facts.once.request,
                                  .is_repeatable = facts.tool->idempotent});
    });
    if (!outcome) {
      // That the approval is still active where this call stands in the log, nobody can say now.
      if (facts.approval && facts.approval->state == ledger::ApprovalState::kActive) {
        facts.approval.reset();
      }
      refuse_claim(refusal_of(Step::kClaim, outcome.error()), facts);
      break;
    }
    if (outcome->verdict == ClaimVerdict::kClaimed) {
      facts.claim = std::move(outcome->claim);
      // What was started was claimed before it. A key that is new has another name by now (another
      // principal, tool or ledger), and what became of the attempt is kept under the old one.
      if (facts.was_started && facts.claim->attempt == 1) {
        release_claim(world.ledger, facts);
        refuse_as_unknown("the ledger does not know the key that an earlier attempt began under",
                          facts);
      }
      break;
    }
    if (outcome->verdict != ClaimVerdict::kApprovalGone) {
      // What used the key may have used up the approval since it was looked up, and stand in the
      // log before this call, where "active" would then be wrong.
      const bool is_perhaps_used_up = facts.approval &&
                                      facts.approval->state == ledger::ApprovalState::kActive &&
                                      outcome->verdict != ClaimVerdict::kConflict;
      if (is_perhaps_used_up && !is_last) return ClaimStep::kApprovalMoved;
      facts.earlier = outcome->verdict;
      const ReasonCode reason = outcome->verdict == ClaimVerdict::kUnknown
                                    ? ReasonCode::kOutcomeUnknown
                                    : ReasonCode::kDuplicateInvocation;
      refuse_claim(Decision::deny(reason, {}, std::string(detail_of(outcome->verdict))), facts);
      break;
    }
    const bool is_known = facts.approval->state != ledger::ApprovalState::kActive;
    if (!is_known && !is_last) return ClaimStep::kApprovalMoved;
    // Used up by an earlier attempt of this key, or changing for ever. It is step 10's to say, so
    // that shadow mode relaxes it; then the key alone is claimed.
    if (!is_known) facts.approval->state = ledger::ApprovalState::kConsumed;
    facts.decision = Decision::deny(ReasonCode::kStaleApproval, {"catalogue:approval"},
                                    "the approval is not active any more");
  }
  return ClaimStep::kDone;
}

void release_claim(ledger::Ledger* ledger, Assessment& facts) noexcept {
  if (!facts.claim || ledger == nullptr) return;
  ledger->release(*facts.claim);
  facts.claim.reset();
}

Status note_approval_request(const Surroundings& world, const Assessment& facts) {
  if (world.ledger == nullptr) return {};
  const access::Principal& principal = *facts.identity->principal;
  // As the handler would get them: of two resources of one type it matters which stands where.
  json::Value granted = facts.arguments;
  if (has_places(facts.references)) {
    REMIT_TRY(put_canonical_ids(facts.references, facts.resources, granted));
  }
  std::string arguments = json::canonical(granted);
  if (arguments.size() > kMaxRequestArgumentBytes) arguments.clear();
  return guarded("ledger", [&] {
    return world.ledger->note_request({.request = facts.once.request,
                                       .scope = facts.once.scope,
                                       .principal = facts.once.principal,
                                       .subject = principal.subject,
                                       .tenant = principal.tenant,
                                       .on_behalf_of = principal.on_behalf_of,
                                       .tool = facts.tool->name,
                                       .resources = resources_in_words(facts.resources),
                                       .arguments = std::move(arguments),
                                       .policy_version = facts.snapshot->bundle->version});
  });
}

}  // namespace remit::enforcement
