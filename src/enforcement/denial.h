// How denials are made: the words that belong to each reason.
#pragma once

#include <string>
#include <string_view>

#include "enforcement/enforcement_point.h"

namespace remit::enforcement {

/// The denial of a refusal with `reason`: its safe code, whether to try again, and advice
/// (REQ-RS-010, REQ-RS-011). `detail` is for the operator's log.
Denial make_denial(access::ReasonCode reason, std::string_view invocation_id, std::string detail);

/// Says that a tool takes no call without an idempotency key (REQ-RS-013).
void say_key_is_missing(Denial& denial);

/// Says what became of the attempt that used the key first (REQ-RS-014).
void say_first_attempt(ledger::ClaimVerdict verdict, Denial& denial);

/// The denial of a permit that is spent, late, foreign, or offered for something else. It has no
/// decision of its own: the log's fact is that the permit was never spent.
Denial refused_permit(std::string_view invocation_id, Retry retry, std::string detail);

}  // namespace remit::enforcement
