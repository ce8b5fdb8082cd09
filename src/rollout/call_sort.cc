// The rules of spec/rollout.md, Calls, one by one.
#include "rollout/call_sort.h"

#include <algorithm>

#include "access/reason.h"

namespace remit::rollout {
namespace {

using access::ReasonCode;
using grading::CallView;
using grading::DecisionWord;
using grading::EventRecord;
using grading::Fact;
using grading::OutcomeWord;
using grading::RecordStore;

constexpr std::string_view kUnknownReason = "unknown reason";

/// What became of a call.
enum class Happened : std::uint8_t { kUnknown, kRan, kRefused };

std::string_view reason_of(const EventRecord& decision, const RecordStore& store) {
  const auto reason = access::parse_reason(store.text(decision.fact(Fact::kReason)));
  return reason ? access::reason_name(*reason) : kUnknownReason;
}

/// What the decisions of a call say, those in earnest and those in shadow mode apart.
struct Decisions {
  const EventRecord* live_denial = nullptr;
  const EventRecord* shadow_denial = nullptr;
  bool is_live_allowed = false;
  bool has_shadow_allow = false;
  bool has_other_word = false;    ///< one is neither allow nor deny
  bool has_other_policy = false;  ///< one is by a policy that is not asked about

  Decisions(const CallView& call, const RecordStore& store, const Criteria& criteria) {
    for (const EventRecord* decision : call.decisions) {
      has_other_policy |=
          !is_asked_about(criteria, store.text(decision->fact(Fact::kPolicyVersion)),
                          store.text(decision->fact(Fact::kPolicyDigest)));
      switch (decision->decision) {
        case DecisionWord::kDeny:
          (decision->is_shadow ? shadow_denial : live_denial) = decision;
          break;
        case DecisionWord::kAllow:
          (decision->is_shadow ? has_shadow_allow : is_live_allowed) = true;
          break;
        case DecisionWord::kAbsent:
        case DecisionWord::kOther:
          has_other_word = true;
          break;
      }
    }
  }
  [[nodiscard]] bool has_shadow() const { return shadow_denial != nullptr || has_shadow_allow; }
  [[nodiscard]] bool denies_in_earnest() const {
    return live_denial != nullptr && !is_live_allowed;
  }
};

bool has_effects(const CallView& call) {
  return std::ranges::any_of(call.effects,
                             [](const EventRecord* one) { return one->number() > 0; });
}

// Whether anything of the call ran, or may have.
bool has_begun(const CallView& call) {
  return !call.starts.empty() || !call.finishes.empty() || has_effects(call);
}

bool is_refused_finish(const EventRecord& finish, const RecordStore& store) {
  return finish.outcome == OutcomeWord::kOther &&
         store.text(finish.fact(Fact::kWord)) == kRefusedOutcome;
}

// REQ-RO-011: effects show that it ran, whatever the executor says.
Happened what_happened(const CallView& call, const RecordStore& store, const Decisions& decisions) {
  if (has_effects(call)) return Happened::kRan;
  if (call.starts.empty() && call.finishes.empty()) {
    const bool is_refused = !call.unspent.empty() || decisions.denies_in_earnest();
    return is_refused ? Happened::kRefused : Happened::kUnknown;
  }
  bool has_refused = false;
  for (const EventRecord* finish : call.finishes) {
    if (is_refused_finish(*finish, store)) {
      has_refused = true;
    } else if (finish->outcome == OutcomeWord::kSucceeded ||
               finish->outcome == OutcomeWord::kFailed) {
      return Happened::kRan;
    }
  }
  const bool all_ended = call.finishes.size() >= call.starts.size();
  const bool all_refused =
      has_refused && all_ended && std::ranges::all_of(call.finishes, [&](const EventRecord* one) {
        return is_refused_finish(*one, store);
      });
  return all_refused ? Happened::kRefused : Happened::kUnknown;
}

CallSort sort_of_shadow(const CallView& call, const RecordStore& store,
                        const Decisions& decisions) {
  CallSort out;
  const Happened happened = what_happened(call, store, decisions);
  if (decisions.shadow_denial != nullptr) {
    out.reason = reason_of(*decisions.shadow_denial, store);
    if (happened == Happened::kRefused) {
      out.sort = Sort::kAgreedDeny;
    } else if (has_begun(call)) {
      // Its end is not known, its start is: enforced, it would not have had one.
      out.sort = Sort::kWouldDeny;
    }
    return out;
  }
  if (happened == Happened::kRan) {
    out.sort = Sort::kAgreedAllow;
  } else if (happened == Happened::kRefused) {
    out.sort = Sort::kWouldAllow;
    const bool has_unspent = !call.unspent.empty() && call.starts.empty();
    out.refusal = has_unspent                     ? Refusal::kPermitUnspent
                  : decisions.denies_in_earnest() ? Refusal::kDecidedElsewhere
                                                  : Refusal::kByHandler;
  }
  return out;
}

}  // namespace

bool is_asked_about(const Criteria& criteria, std::string_view version, std::string_view digest) {
  return criteria.policies.empty() ||
         std::ranges::any_of(criteria.policies,
                             [&](const AskedPolicy& policy) { return policy.is(version, digest); });
}

bool is_early(std::string_view reason) {
  const std::optional<ReasonCode> code = access::parse_reason(reason);
  if (!code) return false;
  switch (*code) {
    case ReasonCode::kInvalidRequest:
    case ReasonCode::kLimitExceeded:
    case ReasonCode::kUnknownRoute:
    case ReasonCode::kMissingIdentity:
    case ReasonCode::kInvalidIdentity:
    case ReasonCode::kExpiredIdentity:
    case ReasonCode::kUnknownTool:
      return true;
    default:
      return false;
  }
}

std::optional<CallSort> sort_of(const CallView& call, const RecordStore& store,
                                const Criteria& criteria) {
  CallSort out;
  if (call.decisions.empty()) {
    if (has_begun(call)) {
      out.sort = Sort::kUndecided;
      return out;
    }
    if (call.requests.empty()) return std::nullopt;
    return out;
  }
  const Decisions decisions(call, store, criteria);
  if (decisions.denies_in_earnest() && !decisions.has_shadow()) {
    out.reason = reason_of(*decisions.live_denial, store);
    if (has_begun(call)) {
      out.sort = Sort::kAgainstDenial;
    } else if (std::ranges::all_of(call.decisions, [&](const EventRecord* one) {
                 return is_early(store.text(one->fact(Fact::kReason)));
               })) {
      out.sort = Sort::kEnforcedDeny;
      out.early_reason = out.reason;
    } else {
      out.sort = decisions.has_other_policy ? Sort::kOtherPolicy : Sort::kEnforcedDeny;
    }
    return out;
  }
  if (!decisions.has_shadow() && !decisions.is_live_allowed) {
    // Its decision says neither allow nor deny: that is none.
    if (has_begun(call)) out.sort = Sort::kUndecided;
    return out;
  }
  if (decisions.has_other_word) return out;
  if (decisions.has_other_policy) {
    out.sort = Sort::kOtherPolicy;
    return out;
  }
  if (decisions.has_shadow()) return sort_of_shadow(call, store, decisions);
  out.sort = Sort::kEnforcedAllow;
  return out;
}

}  // namespace remit::rollout
