// Step 11: what a call does once is claimed before anything is recorded as begun, and given back if
// nothing is.
#pragma once

#include <string_view>

#include "enforcement/assessment.h"
#include "enforcement/enforcement_point.h"

namespace remit::enforcement {

/// Whether a claim left a call as it was assessed.
enum class ClaimStep : std::uint8_t {
  kDone,           ///< claimed, not needed, or refused: the assessment says which
  kApprovalMoved,  ///< the approval is not what it was: assess anew
};

/// Claims for `facts`, which may run: key and approval. A refusal becomes the assessment's
/// decision. Where the approval went away under it, it asks for a new assessment, unless `is_last`.
ClaimStep claim_once(const Surroundings& world, std::string_view invocation_id, bool is_last,
                     Assessment& facts);

/// Gives back what `facts` claimed; nothing was or will be started under it.
void release_claim(ledger::Ledger* ledger, Assessment& facts) noexcept;

/// Leaves word of a call that was denied for want of an approval, so that a person can grant it.
/// Errors: as of the ledger; the denial stands either way.
Status note_approval_request(const Surroundings& world, const Assessment& facts);

}  // namespace remit::enforcement
