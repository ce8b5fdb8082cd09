// `remit.rollout/1`: when a route is ready to enforce, and what people have said of denials to come
// (spec/rollout.md, Criteria).
//
//     CriteriaParse parsed = parse_criteria(text, "rollout.yaml");
//     if (!parsed.criteria) return complain(parsed.errors);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/reason.h"
#include "base/error.h"
#include "grading/baseline.h"
#include "grading/contract.h"
#include "rollout/tally.h"

namespace remit::rollout {

/// What a pair of route and tool needs to be ready.
struct Needs {
  std::uint64_t calls = 100;      ///< that were compared, at least; 1 or more
  std::uint64_t principals = 0;   ///< at least; at most Distinct::kMost
  std::uint64_t hours = 0;        ///< between its first and its last decision, at least
  std::uint64_t would_deny = 0;   ///< not expected, at most
  std::uint64_t would_allow = 0;  ///< at most
  std::uint64_t unsettled = 0;    ///< at most
};

/// What a rule says of Needs; the rest is as it was.
struct NeedsChange {
  std::optional<std::uint64_t> calls, principals, hours, would_deny, would_allow, unsettled;

  void apply(Needs& out) const;
};

/// Which pairs something is for.
struct Match {
  grading::Names routes, tools;

  [[nodiscard]] bool fits(const Pair& pair) const {
    return routes.contain(pair.route) && tools.contain(pair.tool);
  }
};

struct NeedsRule {
  Match match;
  NeedsChange change;
};

/// Denials that are wanted: somebody has looked at them and says that policy is right.
struct ExpectedDenial {
  Match match;
  access::ReasonCode reason = access::ReasonCode::kForbidden;
  std::string owner, why;
  std::string expires;  ///< `YYYY-MM-DD`, the last day on which it counts, in UTC
  grading::Day last_day = 0;
  std::uint32_t line = 0;  ///< in the file
};

/// Pairs that nobody is to use, so that their silence is no gap.
struct UnusedPairs {
  Match match;
  std::string owner, why;
  std::uint32_t line = 0;
};

/// Error types of finishes by which a handler says that it refused.
inline const std::vector<std::string> kRefusedAs = {"access_denied", "forbidden",
                                                    "permission_denied", "refused"};

/// A policy by its version, and where given by its digest.
struct AskedPolicy {
  std::string version;
  std::optional<std::string> digest = std::nullopt;

  [[nodiscard]] bool is(std::string_view of_version, std::string_view of_digest) const {
    return version == of_version && (!digest || *digest == of_digest);
  }
};

struct Criteria {
  std::vector<AskedPolicy> policies;  ///< whose decisions are compared; none: those of every one
  Needs needs;
  std::vector<NeedsRule> rules;  ///< later ones win, key by key
  std::uint64_t losses = 0;      ///< of the record, at most
  std::vector<std::string> refused_as = kRefusedAs;
  std::vector<ExpectedDenial> expected;
  std::vector<UnusedPairs> unused;

  [[nodiscard]] Needs needs_of(const Pair& pair) const;
};

/// Criteria, or everything that is wrong with them, each with `FILE:LINE:COLUMN`.
struct CriteriaParse {
  std::optional<Criteria> criteria;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Parses YAML or JSON. Errors: those of `yaml::parse`; `invalid_input` for an unknown key, a wrong
/// type or value, a rule or entry that says nothing, a denial without owner, reason or day of
/// expiry, or by a reason that no policy gives (REQ-RO-032); `limit_exceeded` beyond
/// kMaxContractRules rules and entries.
CriteriaParse parse_criteria(std::string_view text, const std::string& file);

}  // namespace remit::rollout
