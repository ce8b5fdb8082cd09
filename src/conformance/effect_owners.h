// Whose an effect is: each trial's effects carry its token, and may come when it is over.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/judgement.h"
#include "conformance/spy.h"

namespace remit::conformance {

/// The tokens of a run, and what of them was seen too late or was never given out. Not thread-safe.
class EffectOwners {
 public:
  /// Told of each effect that is not the present trial's own: the index of the trial to blame, and
  /// how (`late_effect`, `unknown_token`).
  using Blame = std::function<void(std::size_t trial, Mismatch how)>;

  void add(std::string token, std::size_t trial);
  /// Effects with `token` say nothing from now on: the harness failed in its trial.
  void disregard(std::string_view token);

  /// Returns those of `effects` that carry `token`. An effect of an earlier trial is blamed on that
  /// one, and one with a token of no trial on `present`.
  std::vector<Effect> own(std::string_view token, std::vector<Effect> effects, std::size_t present,
                          const Blame& blame) const;

 private:
  std::map<std::string, std::optional<std::size_t>, std::less<>> trials_;
};

}  // namespace remit::conformance
