// What was seen of the calls of one tool by one route, and of routes as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "rollout/examples.h"

namespace remit::rollout {

/// What a call shows of its decision beside what happened (spec/rollout.md, Calls). Each call is
/// one of these.
enum class Sort : std::uint8_t {
  kAgreedAllow,    ///< policy would allow, and the application let it run
  kAgreedDeny,     ///< policy would deny, and the application refused
  kWouldDeny,      ///< policy would deny what ran
  kWouldAllow,     ///< policy would allow what was refused
  kUnsettled,      ///< what happened, or what policy said, is not known
  kEnforcedAllow,  ///< decided in earnest: allowed
  kEnforcedDeny,   ///< decided in earnest: denied, and did not run
  kUndecided,      ///< ran without any decision
  kAgainstDenial,  ///< ran though it was denied in earnest
  kOtherPolicy,    ///< decided by a policy that is not the one asked about
};
inline constexpr std::size_t kSortCount = 10;
/// `agreed_allow` and so on.
std::string_view sort_name(Sort sort);

/// Why a call was refused that policy would allow.
enum class Refusal : std::uint8_t { kDecidedElsewhere, kByHandler, kPermitUnspent };
std::string_view refusal_name(Refusal refusal);

/// Different things, counted up to a bound.
class Distinct {
 public:
  static constexpr std::size_t kMost = 256;

  /// `hash` stands for the thing; equal things have equal ones.
  void add(std::uint64_t hash);
  void add(const Distinct& other);
  [[nodiscard]] std::size_t count() const { return hashes_.size(); }
  [[nodiscard]] bool is_more() const { return is_more_; }  ///< than kMost

 private:
  std::vector<std::uint64_t> hashes_;  ///< the smallest, sorted
  bool is_more_ = false;
};

struct Policy {
  std::string version, digest;  ///< empty where none is recorded
  friend auto operator<=>(const Policy&, const Policy&) = default;
};

/// Policies that are told one by one.
inline constexpr std::size_t kMaxPoliciesTold = 50;

struct Tally {
  std::array<Examples, kSortCount> sorts;
  std::map<std::string_view, Examples> would_deny;  ///< by reason; `unknown reason` for any other
  std::map<std::string_view, Examples> denied;      ///< in earnest, likewise
  std::map<Refusal, Examples> would_allow;
  std::map<Policy, std::uint64_t> policies;  ///< of decisions, of one call each once
  std::uint64_t policies_left_out = 0;       ///< decisions by further ones
  std::uint64_t effects = 0;                 ///< that observers saw
  std::uint64_t unexplained_effects = 0;     ///< of them, those that no decision explains
  Examples unexplained;                      ///< calls with such effects
  Distinct principals;
  std::optional<WallTime> first, last;  ///< of its decisions
  bool has_shadow_mode = false;         ///< some decision says that the mode was shadow

  [[nodiscard]] const Examples& of(Sort sort) const {
    return sorts[static_cast<std::size_t>(sort)];
  }
  [[nodiscard]] Examples& of(Sort sort) { return sorts[static_cast<std::size_t>(sort)]; }
  /// All calls.
  [[nodiscard]] std::uint64_t calls() const;
  /// Those in which policy's word stands beside what happened.
  [[nodiscard]] std::uint64_t compared() const;
  void see(WallTime time);
  /// Numbers beyond what there is room for stay at the greatest.
  void count_effects(std::uint64_t observed, std::uint64_t unexplained_ones);
  void count_policy(Policy policy, std::uint64_t calls);
  /// Adds what `other` saw, with at most `kept` ids of a kind.
  void add(const Tally& other, std::size_t kept);
};

/// A tool and a route; the text is empty where none is recorded.
struct Pair {
  std::string route, tool;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

/// Calls that were refused before their tool was looked up, by a route.
using EarlyRefusals = std::map<std::string_view, Examples>;

/// Pairs and routes beyond these are counted together, and nothing is said to be ready then.
inline constexpr std::size_t kMaxPairs = 20'000;
inline constexpr std::size_t kMaxRoutes = 1000;
inline constexpr std::size_t kMaxObservers = 100;

/// Everything that the evidence shows of a rollout.
struct Seen {
  std::map<Pair, Tally> pairs;
  std::map<std::string, EarlyRefusals, std::less<>> early;  ///< by route
  std::uint64_t left_out = 0;  ///< calls of pairs and routes beyond the bounds
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::set<std::string, std::less<>> observers;  ///< what observers watched: kMaxObservers of them
  // What keeps the record from being whole.
  std::uint64_t malformed = 0;
  std::uint64_t losses = 0;           ///< gaps, admitted losses, fewer events than a run counted
  std::uint64_t contradicted = 0;     ///< numbers that came again with other bytes, or may have
  std::vector<std::string> problems;  ///< the first of them in words
  std::vector<std::string> altered;   ///< evidence that does not verify
};

}  // namespace remit::rollout
