// Errors as reasons, step by step.
#include "enforcement/refusal.h"

namespace remit::enforcement {
namespace {

using access::ReasonCode;

// What the caller sent does not parse; whatever else goes wrong in a parser is refused alike.
ReasonCode parse_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kLimitExceeded:
      return ReasonCode::kLimitExceeded;
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kDataLoss:
      return ReasonCode::kInvalidRequest;
  }
  return ReasonCode::kInvalidRequest;
}

// The arguments are wrong, or too much; a validator that fails is a fault of the policy in force.
ReasonCode arguments_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return ReasonCode::kInvalidArguments;
    case ErrorCode::kLimitExceeded:
      return ReasonCode::kLimitExceeded;
    case ErrorCode::kInternal:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kDataLoss:
      return ReasonCode::kPolicyError;
  }
  return ReasonCode::kPolicyError;
}

// Only a store that says so has no such resource; every other failure is the store's own.
ReasonCode resolve_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return ReasonCode::kResourceNotFound;
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kLimitExceeded:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kDataLoss:
      return ReasonCode::kResolverUnavailable;
  }
  return ReasonCode::kResolverUnavailable;
}

// The ledger is a trusted store like those of resources; it says `not found` of nothing that a call
// asks for.
ReasonCode ledger_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kLimitExceeded:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kDataLoss:
      return ReasonCode::kResolverUnavailable;
  }
  return ReasonCode::kResolverUnavailable;
}

ReasonCode decide_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
      return ReasonCode::kPolicyUnavailable;
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kLimitExceeded:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kDataLoss:
      return ReasonCode::kPolicyError;
  }
  return ReasonCode::kPolicyError;
}

// A sink refuses a batch of a superseded policy with `failed_precondition`, and only that.
ReasonCode record_reason(ErrorCode code) {
  switch (code) {
    case ErrorCode::kFailedPrecondition:
      return ReasonCode::kPolicyUnavailable;
    case ErrorCode::kInternal:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kLimitExceeded:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kDataLoss:
      return ReasonCode::kEvidenceUnavailable;
  }
  return ReasonCode::kEvidenceUnavailable;
}

ReasonCode reason_of(Step step, ErrorCode code) {
  switch (step) {
    case Step::kAdmit:
      return ReasonCode::kLimitExceeded;
    case Step::kParse:
      return parse_reason(code);
    case Step::kSnapshot:
      return ReasonCode::kPolicyUnavailable;
    case Step::kRoute:
      return ReasonCode::kUnknownRoute;
    case Step::kIdentify:
      return ReasonCode::kInvalidIdentity;
    case Step::kLookUp:
      return ReasonCode::kUnknownTool;
    case Step::kScopes:
      return ReasonCode::kMissingScope;
    case Step::kArguments:
      return arguments_reason(code);
    case Step::kResolve:
      return resolve_reason(code);
    case Step::kApproval:
    case Step::kClaim:
      return ledger_reason(code);
    case Step::kDecide:
      return decide_reason(code);
    case Step::kRecord:
      return record_reason(code);
  }
  return ReasonCode::kPolicyError;
}

}  // namespace

access::Decision refusal_of(Step step, const Error& error) {
  return access::Decision::deny(reason_of(step, error.code), {}, error.to_string());
}

}  // namespace remit::enforcement
