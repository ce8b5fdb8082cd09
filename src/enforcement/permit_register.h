// The permits that are out: what makes each of them good for one spending, and its end on record.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "enforcement/call_record.h"
#include "evidence/evidence_sink.h"

namespace remit::enforcement {

class PermitRegister;

/// What a CallPermit stands for.
struct PermitState {
  CallRecord record;
  std::shared_ptr<PermitRegister> home;
};

/// The permits that one enforcement point gave out and that were neither spent nor destroyed. It is
/// shared with them, so that a permit may outlive its enforcement point; `close` is when the log
/// may no longer be there. Thread-safe. No lock is held while the log is written.
class PermitRegister {
 public:
  PermitRegister(evidence::EvidenceSink& evidence, ledger::Ledger* ledger)
      : evidence_(evidence), ledger_(ledger) {}

  void add(const std::shared_ptr<PermitState>& permit);
  /// Takes `permit` out: true exactly once, for whoever may spend it.
  bool take(const PermitState& permit);
  /// Takes `permit` out if it is still in, records that it was never spent, and gives back what was
  /// claimed for it.
  void retire(const PermitState& permit) noexcept;
  /// Records the same of every permit that is still in; from then on nothing is recorded.
  void close() noexcept;
  [[nodiscard]] std::size_t size() const;

 private:
  void record_unspent(PermitState& permit) noexcept;

  evidence::EvidenceSink& evidence_;
  ledger::Ledger* const ledger_;
  mutable Mutex mutex_;
  CondVar idle_;
  std::size_t writing_ REMIT_GUARDED_BY(mutex_) = 0;  // retirements that are using the log
  std::unordered_map<const PermitState*, std::shared_ptr<PermitState>> out_
      REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::enforcement
