// The vocabulary of grades: verdicts, their values, owners, and the table of finding codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace remit::grading {

/// The four questions that a grade answers (spec/grades.md, Verdicts).
enum class Verdict : std::uint8_t { kPlanning, kEnforcement, kExecution, kCompleteness };
inline constexpr std::size_t kVerdictCount = 4;
inline constexpr Verdict kVerdicts[] = {Verdict::kPlanning, Verdict::kEnforcement,
                                        Verdict::kExecution, Verdict::kCompleteness};
std::string_view verdict_name(Verdict verdict);

/// The answer (REQ-GR-001).
enum class Value : std::uint8_t { kUndetermined, kFailed, kNotExercised, kPassed };
std::string_view value_name(Value value);

/// Who owns a fact, in the order in which the facts of an invocation are checked (REQ-GR-012).
enum class Owner : std::uint8_t {
  kTestFixture,
  kIdentity,
  kResourceService,
  kApprovalService,
  kPolicy,
  kExecutor,
  kObservability,
  kAgent,
};
inline constexpr std::size_t kOwnerCount = 8;
std::string_view owner_name(Owner owner);

/// The codes that this version reports, in the order of `code_table`.
enum class Code : std::uint8_t {
  kMalformedEvent,
  kEvidenceAltered,
  kSequenceGap,
  kEvidenceLost,
  kConflictingRepeat,
  kUnverifiedRepeat,
  kMissingInvocation,
  kMissingRequest,
  kMissingDecision,
  kMissingPolicyVersion,
  kMissingField,
  kUnrecordedFact,
  kReusedInvocationId,
  kMissingRunFinished,
  kVacuousCase,
  kCanaryLeak,
  kFieldNotAllowed,
  kWrongEnvironment,
  kStalePrincipal,
  kStaleResource,
  kWrongApprovalState,
  kStaleApprovalAccepted,
  kMultipleDecisions,
  kDecisionBeforeRequest,
  kDecisionForOtherCall,
  kUnknownDecision,
  kPolicyVersionMismatch,
  kUnexpectedDecision,
  kUnexpectedReason,
  kStartAfterDeny,
  kFinishAfterDeny,
  kStartBeforeDecision,
  kFinishBeforeStart,
  kStartWithoutAllow,
  kDecisionNotApplicable,
  kStartCitesNoDecision,
  kAllowWithoutStart,
  kAllowWithoutFinish,
  kMultipleStarts,
  kMultipleFinishes,
  kUnknownOutcome,
  kEffectWithoutStart,
  kEffectCountMismatch,
  kOrderUnknown,
  kMissingEffects,
  kForbiddenRequest,
  kExpectedRequestAbsent,
  kUnexpectedInvocation,
};
inline constexpr std::size_t kCodeCount = 48;

/// What a code says of every finding that carries it.
struct CodeInfo {
  Code code;
  std::string_view name;
  Verdict verdict;
  Owner owner;
  bool soft;                 ///< leaves its verdict undetermined instead of failed (REQ-GR-011)
  bool absence;              ///< something is not there, which a loss may explain (REQ-GR-071)
  std::string_view meaning;  ///< one sentence: when it is found
};

/// One row per code, in the order of `Code`. What the spec's tables and every report say of codes
/// comes from here.
std::span<const CodeInfo, kCodeCount> code_table();
const CodeInfo& code_info(Code code);
/// The code of a name such as `start_after_deny`; nothing for another.
std::optional<Code> parse_code(std::string_view name);

}  // namespace remit::grading
