// A trial: one case on one route, carried out with a harness, and what was seen of it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conformance/harness.h"
#include "conformance/pack.h"
#include "conformance/spy.h"
#include "json/value.h"

namespace remit::conformance {

/// What the harness says that a caller saw of one call.
struct Sight {
  std::string saw;     ///< one of kSights
  std::string answer;  ///< the words of the answer
};

/// Everything that was seen of a trial.
struct Observation {
  std::map<std::string, Sight, std::less<>> sights;  ///< of each step with a call; the last counts
  std::vector<Effect> effects;                       ///< at the spy, of this trial
  std::string events;                  ///< of the subject, a line each, all of the trial's case
  std::vector<json::Value> records;    ///< the same, those that are JSON objects
  std::string altered;                 ///< how the record is not what was written; else empty
  json::Object principals, resources;  ///< as they are at the end
  std::map<std::string, std::string> principal_refs;  ///< how evidence names the fixture's
  std::vector<std::string> policy_versions;  ///< in force at a step that decides, without repeats
};

/// How a trial is told to the harness.
struct TrialOrder {
  const Case* of = nullptr;
  std::string_view route;
  std::string_view token;  ///< the effects of this trial carry it
  std::string_view fault;  ///< what a known-bad subject is to do wrong; empty for nothing
  /// Makes the steps in place of the case's own, each after what was seen of the call before it
  /// (null where that step was no call); empty at the end.
  std::function<std::optional<Step>(const Sight* last)> next_step = {};
};

/// Carries a trial out: setup, each step, collect, reset. `spy` is the harness's. An error is a
/// fault of the harness.
Result<Observation> carry_out(const TrialOrder& order, Harness& harness, Spy& spy);

}  // namespace remit::conformance
