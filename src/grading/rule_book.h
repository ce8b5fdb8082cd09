// A contract beside the records of one run: which requirements hold for which invocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "grading/contract.h"
#include "grading/record_store.h"

namespace remit::grading {

/// The requirements for one tool and route.
struct Resolved {
  Requirements requirements;
  /// The path of `Stage` that ends with a finish, or with a denial, violates none of them.
  bool admits_finished = false;
  bool admits_denied = false;
};

/// Looks requirements up by tool and route, each pair worked out once. Not thread-safe; many books
/// may share a contract and a store.
class RuleBook {
 public:
  /// Both outlive this; what `of` returned lives as long as this.
  RuleBook(const Contract& contract, const RecordStore& store)
      : contract_(contract), store_(store), was_used_(contract.rules.size()) {}

  const Resolved& of(Ref tool, Ref route) {
    const std::uint64_t pair = std::uint64_t{tool} << 32U | route;
    if (latest_ == nullptr || pair != latest_pair_) {
      latest_pair_ = pair;
      latest_ = &find(tool, route, pair);
    }
    return *latest_;
  }

  /// The numbers, from 1 on, of the contract's rules that are for no pair that was asked for.
  [[nodiscard]] std::vector<std::size_t> unused() const;

  /// To be called where references to texts change their meaning.
  void forget_references() {
    by_pair_.clear();
    latest_ = nullptr;
  }

 private:
  const Resolved& find(Ref tool, Ref route, std::uint64_t pair);

  const Contract& contract_;
  const RecordStore& store_;
  std::vector<bool> was_used_;  ///< by rule
  // By the rules that are for them, so that many pairs share few.
  std::map<std::vector<bool>, Resolved> resolved_;
  std::unordered_map<std::uint64_t, const Resolved*> by_pair_;
  std::uint64_t latest_pair_ = 0;
  const Resolved* latest_ = nullptr;
};

}  // namespace remit::grading
