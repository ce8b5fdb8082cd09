// What a run could have shown of a baseline, so that only what is gone is taken out of it.
#include <algorithm>

#include "grading/baseline.h"
#include "grading/grading.h"

namespace remit::grading {
namespace {

bool fits(const std::optional<std::string>& wanted, const std::optional<std::string>& recorded) {
  return !wanted || wanted == recorded;
}

/// Whether a contract says anything of a call that this code could contradict.
bool is_ruled(Code code, const Requirements& rule) {
  switch (code) {
    case Code::kMissingRequest:
      return rule.request.at_least > 0;
    case Code::kMissingDecision:
      return rule.decision.at_least > 0;
    case Code::kMultipleDecisions:
      return rule.decision.at_most.has_value();
    case Code::kReusedInvocationId:
      return rule.request.at_most.has_value();
    case Code::kAllowWithoutStart:
      return rule.start_on_allow.at_least > 0;
    case Code::kMultipleStarts:
      return rule.start_on_allow.at_most.has_value();
    case Code::kStartAfterDeny:
      return rule.start_on_deny.at_most.has_value();
    case Code::kAllowWithoutFinish:
    case Code::kMultipleFinishes:
      return !rule.finish_on_allow.is_any();
    case Code::kFinishAfterDeny:
      return !rule.finish_on_deny.is_any();
    case Code::kDecisionBeforeRequest:
      return rule.order.request_decision;
    case Code::kStartBeforeDecision:
      return rule.order.decision_start;
    case Code::kFinishBeforeStart:
      return rule.order.start_finish;
    case Code::kStartWithoutAllow:
    case Code::kDecisionNotApplicable:
    case Code::kStartCitesNoDecision:
      return rule.is_governed;
    default:
      return true;
  }
}

/// Whether what yields this code was given at all, whichever call it is of.
bool is_looked_for(Code code, const Criteria& criteria) {
  switch (code) {
    case Code::kCanaryLeak:
      return criteria.contract.redaction.canaries.has_value();
    case Code::kFieldNotAllowed:
      return !criteria.contract.redaction.forbid_fields.empty();
    case Code::kMissingInvocation:
    case Code::kUnexpectedInvocation:
      return criteria.manifest.has_value() || criteria.expected_ids.has_value();
    // Some of these are found without a manifest as well, and then others are not.
    case Code::kWrongEnvironment:
    case Code::kStalePrincipal:
    case Code::kStaleResource:
    case Code::kWrongApprovalState:
    case Code::kStaleApprovalAccepted:
    case Code::kPolicyVersionMismatch:
    case Code::kUnexpectedDecision:
    case Code::kUnexpectedReason:
    case Code::kEffectCountMismatch:
    case Code::kForbiddenRequest:
    case Code::kExpectedRequestAbsent:
      return criteria.manifest.has_value();
    default:
      return true;
  }
}

bool is_of_no_call(const KnownFinding& entry) {
  return !entry.tool && !entry.route && !entry.invocation_id;
}

}  // namespace

bool could_show(const KnownFinding& entry, const Grade& grade, const Criteria& criteria) {
  if (!is_looked_for(entry.code, criteria)) return false;
  const Verdict verdict = code_info(entry.code).verdict;
  const bool is_of_run = is_of_no_call(entry) && !entry.case_id;
  if (is_of_run && grade.verdicts[verdict].population > 0 && criteria.contract.rules.empty()) {
    return is_ruled(entry.code, criteria.contract.base);
  }
  for (const InvocationGrade& one : grade.invocations) {
    const bool is_meant = fits(entry.case_id, one.case_id) && fits(entry.tool, one.tool) &&
                          fits(entry.route, one.route) &&
                          fits(entry.invocation_id, one.invocation_id);
    // A call that was denied and did not run has no execution to judge, which is what was wanted.
    const bool is_judged =
        verdict == Verdict::kExecution || one.verdicts[verdict] != Value::kNotExercised;
    if (!is_meant || !is_judged) continue;
    const Requirements rule =
        criteria.contract.requirements(one.tool.value_or(""), one.route.value_or(""));
    if (is_ruled(entry.code, rule)) return true;
  }
  // What did not come is a finding of its case alone.
  if (!is_of_no_call(entry) || !entry.case_id) return false;
  return std::any_of(grade.cases.begin(), grade.cases.end(), [&](const CaseGrade& one) {
    return one.case_id == *entry.case_id && entry.code == Code::kExpectedRequestAbsent;
  });
}

std::vector<std::uint64_t> needed_counts(const Grade& grade, const Criteria& criteria) {
  std::vector<std::uint64_t> counts;
  for (const KnownFinding& one : grade.baseline->entries) {
    const bool is_unknown =
        !one.is_expired && one.matched == 0 && !could_show(one, grade, criteria);
    counts.push_back(one.is_expired ? 0 : is_unknown ? one.count : one.matched);
  }
  return counts;
}

}  // namespace remit::grading
