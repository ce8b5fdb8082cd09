// The pack against executors that are wrong on purpose: shows that it can fail.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/pack.h"
#include "conformance/run.h"
#include "conformance/subject.h"

namespace remit::conformance {

/// One fault, and where it was caught.
struct FaultRow {
  const Fault* fault = nullptr;
  std::vector<std::string> caught;  ///< routes on which the case made for it failed
  std::vector<std::string> missed;  ///< routes on which it should have and did not
  std::vector<std::string> others;  ///< other cases that failed on any route
  std::string harness;              ///< a fault of the harness, where there was one

  [[nodiscard]] bool is_caught() const { return harness.empty() && missed.empty(); }
};

/// The pack against one known-bad subject.
struct SelfTest {
  std::string subject;
  bool good_form_passes = false;    ///< with no fault, everything passes
  std::vector<std::string> wrong;   ///< what did not, as `CASE on ROUTE: …`
  std::vector<FaultRow> rows;       ///< in the order of the pack
  std::vector<std::string> absent;  ///< faults of the pack that the subject does not offer

  [[nodiscard]] bool passed() const;
};

/// Runs the pack once without a fault and once with each. `pack` outlives the result. Errors: those
/// of `run_pack`.
Result<SelfTest> self_test(const Pack& pack, const Subject& subject, const RunWorld& world,
                           const std::function<void(std::string_view)>& on_fault);

/// The table, fault by fault.
std::string self_test_text(const SelfTest& test);

}  // namespace remit::conformance
