// The inventory of a bundle beside what was seen: which doors are declared, used, or neither
// (spec/rollout.md, Routes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/bundle.h"
#include "report/outlet.h"
#include "rollout/readiness.h"
#include "rollout/tally.h"

namespace remit::rollout {

/// In the order from best to worst.
enum class RoutesVerdict : std::uint8_t { kPassed, kNotExercised, kUndetermined, kFailed };
std::string_view verdict_name(RoutesVerdict verdict);
/// 0 passed, 1 failed, 2 anything else.
int exit_code_of(RoutesVerdict verdict);

/// A route of the bundle or of the evidence.
struct RouteUse {
  std::string name;  ///< empty for calls that record none
  bool is_declared = false;
  std::uint64_t calls = 0;          ///< all, those refused before a tool was looked up among them
  std::uint64_t refused_early = 0;  ///< of them
  std::uint64_t decided = 0;        ///< with a decision about a tool
  std::vector<std::string> unseen_tools;  ///< of the catalogue, in its order: never decided here
  /// What the boundary never let through, or never saw.
  Examples undecided, against_denial, unexplained;
  std::uint64_t unexplained_effects = 0;
  Examples undeclared_tools;                  ///< calls of tools that the catalogue has not
  std::vector<std::string> tools_undeclared;  ///< their names, kMaxNamesTold of them
};
inline constexpr std::size_t kMaxNamesTold = 50;

/// Whether somebody who watches the tools has to be among the evidence.
enum class Observer : std::uint8_t { kOptional, kRequired };

struct RoutesReport {
  RoutesVerdict verdict = RoutesVerdict::kNotExercised;
  std::vector<std::string> failed;        ///< sentences: what is not in order
  std::vector<std::string> undetermined;  ///< what cannot be known
  std::vector<std::string> unexercised;   ///< what was not seen at all
  std::vector<RouteUse> routes;           ///< those declared in their order, then others by name
  std::vector<std::string> unseen_tools;  ///< decided by no route at all
  std::string version, digest;            ///< of the bundle
  std::uint64_t decided_by_bundle = 0;    ///< calls
  Seen seen;                              ///< without its pairs
  std::vector<std::string> scope;
};

/// Compares. Pure.
RoutesReport check_routes(Seen seen, const policy::Bundle& bundle, Observer observer,
                          std::size_t examples);

void write_text(const RoutesReport& report, report::Outlet& outlet);
/// `remit.routes-check/1` (REQ-RO-058).
void write_json(const RoutesReport& report, report::Outlet& outlet);

}  // namespace remit::rollout
