// The one place where an error becomes a deny, each with the reason of the step it happened in.
#pragma once

#include <cstdint>

#include "access/decision.h"
#include "base/error.h"

namespace remit::enforcement {

/// The steps of one call (REQ-BD-001) up to the one that makes it durable.
enum class Step : std::uint8_t {
  kAdmit,
  kParse,
  kSnapshot,
  kRoute,
  kIdentify,
  kLookUp,
  kScopes,
  kArguments,
  kResolve,
  kApproval,
  kDecide,
  kClaim,
  kRecord,
};

/// The deny that `error`, met at `step`, stands for (invariant *every refusal has a reason*). Its
/// detail is the error's text, for the operator.
access::Decision refusal_of(Step step, const Error& error);

}  // namespace remit::enforcement
