// One claim: what a transaction finds under a key, and what becomes of it.
#pragma once

#include <cstdint>
#include <string>

#include "database/database.h"
#include "ledger/ledger.h"

namespace remit::ledger {

/// Who claims, and when.
struct Claimant {
  std::string ledger;  ///< id of the ledger that is meant
  std::string owner;
  std::int64_t now_ns = 0;
};

/// The work of one transaction. Used once.
class Claiming {
 public:
  Claiming(const Claimant& claimant, const ClaimQuery& query)
      : claimant_(claimant), query_(query) {}

  /// An error undoes the transaction: the database's, or, with `is_refused`, the one that means
  /// kApprovalGone.
  Status run(database::Transaction& transaction);

  [[nodiscard]] bool is_refused() const { return is_refused_; }
  [[nodiscard]] const ClaimOutcome& outcome() const { return outcome_; }

 private:
  Result<bool> insert(database::Transaction& transaction);
  Status look_at(database::Transaction& transaction);
  Status again(database::Transaction& transaction, std::int64_t attempt);
  Status granted(database::Transaction& transaction, std::int64_t attempt);

  const Claimant& claimant_;
  const ClaimQuery& query_;
  ClaimOutcome outcome_;
  bool was_unknown_ = false;
  bool is_refused_ = false;
};

}  // namespace remit::ledger
