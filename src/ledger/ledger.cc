// The words of a ledger.
#include "ledger/ledger.h"

namespace remit::ledger {

std::string_view approval_state_name(ApprovalState state) {
  switch (state) {
    case ApprovalState::kAbsent:
      return "absent";
    case ApprovalState::kMismatched:
      return "mismatched";
    case ApprovalState::kExpired:
      return "expired";
    case ApprovalState::kRevoked:
      return "revoked";
    case ApprovalState::kConsumed:
      return "consumed";
    case ApprovalState::kActive:
      return "active";
  }
  return "absent";
}

}  // namespace remit::ledger
