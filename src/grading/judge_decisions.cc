// The rules of enforcement on what was decided: how often, for which call, by which policy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "access/reason.h"
#include "base/nearest_word.h"
#include "grading/counted.h"
#include "grading/judge.h"
#include "grading/state_names.h"

namespace remit::grading {
namespace {

/// `did you mean WORD?`, or nothing where no word is near.
std::string meant_by(const std::optional<std::string>& text,
                     std::span<const std::string_view> words) {
  const std::string_view near = text ? nearest_word(*text, words) : std::string_view{};
  return near.empty() ? "" : fmt::format("did you mean {}?", near);
}

std::vector<std::string_view> reason_names() {
  std::vector<std::string_view> out;
  for (int i = 0; i < access::kReasonCount; ++i) {
    out.push_back(access::reason_name(static_cast<access::ReasonCode>(i)));
  }
  return out;
}

}  // namespace

void Judge::judge_decisions() {
  const CallView& call = *call_;
  const Bounds& bounds = requirements_->decision;
  if (bounds.at_most && call.decisions.size() > *bounds.at_most) {
    add(Code::kMultipleDecisions, bounds_text(bounds, "decision", "decisions"),
        counted(call.decisions.size(), "decision", "decisions"), call.decisions);
  }
  queue_denied_starts_.clear();
  next_queue_denied_ = 0;
  earlier_.clear();
  if (call.has_trusted || call.has_queue_denial) return judge_trusted();
  for (const EventRecord* decision : call.decisions) {
    judge_decision(*decision, decision == call.decisions.back());
  }
}

void Judge::judge_decision(const EventRecord& decision, bool is_last) {
  judge_decided_call(decision);
  if (decision.decision == DecisionWord::kAbsent || decision.decision == DecisionWord::kOther) {
    constexpr std::array<std::string_view, 2> kWords = {"allow", "deny"};
    add(Code::kUnknownDecision, "allow or deny", word_of(decision), {&decision},
        meant_by(word_of(decision), kWords));
  }
  unrecorded_.clear();
  judge_policy(decision);
  judge_reason(decision, is_last);
  judge_word(decision, is_last);
  judge_facts(decision, is_last ? assignment_->entry : nullptr);
}

void Judge::judge_decided_call(const EventRecord& decision) {
  const CallView& call = *call_;
  const EventRecord* request = first_of_writer(call.requests, decision.writer);
  if (requirements_->order.request_decision && request != nullptr &&
      stands_before(decision, *request) && is_first_of_writer(call.decisions, decision)) {
    add(Code::kDecisionBeforeRequest, "request, decision", "decision, request",
        {&decision, request});
  }
  const Sought same_call = {&decision, kToolFact | kArgsFact};
  if (call.requests.empty() ||
      requests_.first(same_call, {0, call.requests.size()}) != EventIndex::kNone) {
    return;
  }
  const EventRecord& asked = *call.requests.front();
  const Fact fact = store_.agree(asked, decision, Fact::kTool) ? Fact::kArgsDigest : Fact::kTool;
  add(Code::kDecisionForOtherCall, recorded(asked.fact(fact)), recorded(decision.fact(fact)),
      {&asked, &decision});
}

// REQ-GR-050 to 053.
void Judge::judge_policy(const EventRecord& decision) {
  const Ref version = decision.fact(Fact::kPolicyVersion);
  if (version == 0) {
    add(Code::kMissingPolicyVersion, "policy_version", std::nullopt, {&decision});
    doubt(Verdict::kEnforcement);
    return;
  }
  const Ref digest = decision.fact(Fact::kPolicyDigest);
  const auto& publications = store_.writers()[decision.writer].publications;
  const auto later =
      std::upper_bound(publications.begin(), publications.end(), decision.key(),
                       [](const OrderKey& key, const Publication& one) { return key < one.key; });
  const Ref* pinned = pinned_.digest_of_policy(version);
  const auto mismatch = [&](Told expected, Told found, std::string_view detail) {
    add(Code::kPolicyVersionMismatch, std::move(expected), std::move(found), {&decision}, detail);
  };
  if (pinned_.has_policies() && pinned == nullptr) {
    return mismatch(std::nullopt, recorded(version), "the manifest does not list this version");
  }
  const bool is_pinned = pinned != nullptr && *pinned != 0;
  if (is_pinned && digest == 0) {
    unrecorded_.push_back(event::field_name(event::Field::kPolicyDigest));
  }
  if (later != publications.begin()) {
    const Publication& in_force = *std::prev(later);
    if (in_force.version != version) {
      return mismatch(recorded(in_force.version), recorded(version),
                      "another version was published last");
    }
    if (in_force.digest != 0 && digest != 0 && in_force.digest != digest) {
      return mismatch(recorded(in_force.digest), recorded(digest),
                      "another digest was published under this version");
    }
  } else if (facts_.is_published(decision.writer, version)) {
    return mismatch(std::nullopt, recorded(version), "this version was published only later");
  }
  if (is_pinned && digest != 0 && digest != *pinned) {
    mismatch(recorded(*pinned), recorded(digest), "the manifest gives this version another digest");
  }
}

void Judge::judge_reason(const EventRecord& decision, bool is_last) {
  const Ref text = decision.fact(Fact::kReason);
  const Expectation* entry = is_last ? assignment_->entry : nullptr;
  const Told expected = entry != nullptr ? entry->reason : std::nullopt;
  const bool is_as_expected =
      entry == nullptr || !entry->decision || entry->decision == word_of(decision);
  const bool is_other = expected && (text == 0 || store_.text(text) != *expected);
  const auto unexpected = [&](std::string_view wanted, std::string_view detail) {
    add(Code::kUnexpectedReason, is_as_expected && is_other ? *expected : std::string(wanted),
        recorded(text), {&decision}, detail);
  };
  if (text != 0) {
    const std::optional<access::ReasonCode> reason = store_.reason(text);
    if (!reason) {
      const std::string hint = meant_by(recorded(text), reason_names());
      return unexpected("a reason of spec/reasons.md", "it is no reason of the event contract" +
                                                           (hint.empty() ? "" : "; " + hint));
    }
    const bool is_of_allow = *reason == access::ReasonCode::kAllowed;
    if (decision.decision == DecisionWord::kAllow && !is_of_allow) {
      return unexpected("allowed", "it is a reason to deny");
    }
    if (decision.decision == DecisionWord::kDeny && is_of_allow) {
      return unexpected("a reason to deny", "it is no reason to deny");
    }
    const auto& listed = requirements_->reasons;
    if (listed && (*listed >> static_cast<unsigned>(*reason) & 1U) == 0) {
      return unexpected("a reason that the contract lists", "the contract does not list it");
    }
  }
  if (is_other && is_as_expected) unexpected({}, "the manifest expects another");
}

// REQ-GR-016, REQ-GR-102, REQ-GR-103: found once, whatever contradicts it.
void Judge::judge_word(const EventRecord& decision, bool is_last) {
  const Expectation* entry = is_last ? assignment_->entry : nullptr;
  if (entry != nullptr && entry->decision && word_of(decision) != entry->decision) {
    add(Code::kUnexpectedDecision, entry->decision, word_of(decision), {&decision});
    return;
  }
  if (decision.decision != DecisionWord::kAllow) return;
  const PrincipalState state = decision.principal_state;
  if (state != PrincipalState::kUnrecorded && state != PrincipalState::kAuthenticated) {
    add(Code::kUnexpectedDecision, "deny", "allow", {&decision},
        std::string("its principal_state is ").append(principal_state_name(state)));
  } else if (earlier_.unresolved != nullptr) {
    add(Code::kUnexpectedDecision, "deny", "allow", {earlier_.unresolved, &decision},
        "its resource was not resolved");
  }
}

}  // namespace remit::grading
