// Contracts `remit.contract/1`: which relations between events must hold, and which verdicts block
// (spec/contract.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/event.h"
#include "grading/grade.h"

namespace remit::grading {

/// How many events of a kind there may be.
struct Bounds {
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most;

  [[nodiscard]] bool admits(std::uint64_t number) const {
    return number >= at_least && (!at_most || number <= *at_most);
  }
  [[nodiscard]] bool is_any() const { return at_least == 0 && !at_most; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// Bounds of finishes, or as many as starts.
struct FinishBounds {
  Bounds number;
  bool equals_start = false;  ///< `number` then says nothing

  [[nodiscard]] bool is_any() const { return !equals_start && number.is_any(); }
  friend bool operator==(const FinishBounds&, const FinishBounds&) = default;
};

/// The pairs whose order can be required (REQ-CT-023).
struct Order {
  bool request_decision = false;
  bool decision_start = false;
  bool start_finish = false;
  friend bool operator==(const Order&, const Order&) = default;
};

/// Fields as bits of their numbers, by the kind of event that must record them.
using RequiredFields = std::array<std::uint64_t, event::kEventKindCount>;

/// What holds for one invocation: a built-in contract's requirements with those of all rules that
/// are for it.
struct Requirements {
  Bounds request, decision;
  Bounds start_on_allow, start_on_deny;  ///< on deny there is no lower bound
  FinishBounds finish_on_allow, finish_on_deny;
  Order order;
  bool is_governed = false;
  bool needs_decision_per_attempt = false;
  RequiredFields required_fields{};
  std::optional<std::uint32_t> reasons;  ///< `access::ReasonCode`s as bits; nothing for any
  bool expects_shadow = false;
  ByVerdict<bool> blocking;
  friend bool operator==(const Requirements&, const Requirements&) = default;
};

/// What a rule says; the rest is as it was.
struct Changes {
  std::optional<Bounds> request, decision, start_on_allow, start_on_deny;
  std::optional<FinishBounds> finish_on_allow, finish_on_deny;
  std::optional<Order> order;
  bool adds_governed = false;
  std::optional<bool> needs_decision_per_attempt;
  std::map<event::EventKind, std::uint64_t> required_fields;
  std::optional<std::uint32_t> reasons;
  std::optional<bool> expects_shadow;
  ByVerdict<std::optional<bool>> blocking;

  void apply(Requirements& out) const;
  /// Whether `later`, applied behind these, leaves nothing of them.
  [[nodiscard]] bool are_covered_by(const Changes& later) const;
  friend bool operator==(const Changes&, const Changes&) = default;
};

/// Names, of which one that ends with `*` stands for all that begin so. Nothing means every
/// invocation, whether or not it records a name.
class Names {
 public:
  Names() = default;
  explicit Names(std::vector<std::string> patterns);

  /// In the order of the file.
  [[nodiscard]] const std::optional<std::vector<std::string>>& patterns() const {
    return patterns_;
  }
  /// `name` is empty where the invocation records none.
  [[nodiscard]] bool contain(std::string_view name) const;
  [[nodiscard]] bool cover(const Names& other) const;

 private:
  [[nodiscard]] bool has_prefix_of(std::string_view text) const;

  std::optional<std::vector<std::string>> patterns_;
  std::vector<std::string> whole_;     ///< names without `*`, sorted
  std::vector<std::string> prefixes_;  ///< what stands before `*`, sorted; none begins another
};

struct Rule {
  Names tools, routes;
  Changes changes;

  [[nodiscard]] bool is_for(std::string_view tool, std::string_view route) const {
    return tools.contain(tool) && routes.contain(route);
  }
};

/// Names of tools and routes that the rules of one contract may list together: each is compared
/// with those of every later rule.
inline constexpr std::size_t kMaxContractNames = 20'000;

/// What the redaction scan looks for (REQ-CT-040).
struct Redaction {
  std::optional<std::string> canaries;  ///< path of a file, relative to the contract's
  std::vector<std::string> forbid_fields;
};

struct Contract {
  std::string name;
  std::string extends;  ///< a built-in contract's name, or `none`
  Requirements base;    ///< of that contract, with this one's `blocking`
  std::vector<Rule> rules;
  Redaction redaction;

  /// What holds for the invocations that record this tool and route; empty for none.
  [[nodiscard]] Requirements requirements(std::string_view tool, std::string_view route) const;
  /// The verdicts that block for some invocations at least.
  [[nodiscard]] ByVerdict<bool> ever_blocking() const;
};

/// `sequential`: one request, one decision, and after an allow one start and one finish; every
/// verdict but planning blocks (REQ-CT-001, REQ-CT-005).
Contract sequential_contract();

/// `sequential`, `fan_out` or `queued` (REQ-CT-006, REQ-CT-007); nothing for another name.
std::optional<Contract> built_in_contract(std::string_view name);
/// Their names, for messages and help.
inline constexpr std::string_view kBuiltInContracts = "sequential, fan_out, queued";

/// A contract, or everything that is wrong with it in the order of the file, each with
/// `FILE:LINE:COLUMN` (REQ-CT-010).
struct ContractParse {
  std::optional<Contract> contract;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Parses YAML or JSON. `file` is how errors name it. Errors: those of `yaml::parse`, and
/// `invalid_input` for an unknown key, a wrong type or value, bounds that no number meets, a rule
/// that has no effect, a contract that cannot be violated (spec/contract.md, Refused).
ContractParse parse_contract(std::string_view text, const std::string& file);

/// What must hold, in sentences: first for every invocation, then what differs by rule.
struct ContractWords {
  std::string heading;                 ///< whom the sentences are for
  std::vector<std::string> sentences;  ///< lower case, without a full stop
};
std::vector<ContractWords> contract_in_words(const Contract& contract);

}  // namespace remit::grading
