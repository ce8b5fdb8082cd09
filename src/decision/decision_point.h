// The decision point: given who, what and which, allow or deny under one policy snapshot.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/decision.h"
#include "access/principal.h"
#include "access/resource.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "json/value.h"
#include "policy/bundle.h"

namespace remit::decision {

/// What the ledger knows of an approval, as policy sees it in `context.approval`.
struct ApprovalFacts {
  std::string_view state = "absent";
  std::string_view id = {};
};

/// One question. Everything but `arguments` is trusted. Points at the caller's memory; nothing is
/// kept.
struct DecisionRequest {
  const access::Principal& principal;
  std::string_view action;
  const access::Resource& resource;
  std::string_view route;
  std::string_view environment;
  WallTime now;
  ApprovalFacts approval;
  const json::Value& arguments;  ///< the frozen arguments, resources taken out; `context.arguments`
};

/// Decides under one immutable set of policies. Implementations are thread-safe and keep no facts
/// between calls but what is bound to a revision.
class DecisionPoint {
 public:
  virtual ~DecisionPoint() = default;
  /// Allow or deny. Anything about the question that does not fit the schema, a missing principal
  /// or resource, and any evaluation error is a deny with `policy_error`. Errors are for a decision
  /// point that cannot answer at all (`unavailable`, `deadline_exceeded` -> `policy_unavailable`).
  [[nodiscard]] virtual Result<access::Decision> decide(const DecisionRequest& request) const = 0;
  /// What events call it in `decision_point`, e.g. `cedar`.
  [[nodiscard]] virtual std::string_view name() const = 0;
};

/// A decision point for a bundle, or everything that is wrong with its policies.
struct DecisionPointOutcome {
  std::shared_ptr<const DecisionPoint> decision_point;  ///< null exactly when there are problems
  std::vector<Error> problems;                          ///< `policies/x.cedar:LINE:COLUMN: …`
  /// What is allowed and hardly meant, such as a policy that can never apply; same form.
  std::vector<Error> warnings = {};
};

/// Makes decision points: proves that schema and policies parse, that the policies fit the schema
/// in strict mode, that each carries an `@id` of its own and a known `@reason` where it has one,
/// and that catalogue and schema agree (every action and resource type exists and they apply to one
/// another).
class DecisionPointFactory {
 public:
  virtual ~DecisionPointFactory() = default;
  [[nodiscard]] virtual DecisionPointOutcome create(const policy::Bundle& bundle) const = 0;
};

/// A bundle with the decision point made of it: what one call sees from its first step to its last
/// (*a snapshot never changes*).
struct PolicySnapshot {
  std::shared_ptr<const policy::Bundle> bundle;
  std::shared_ptr<const DecisionPoint> decision_point;
  std::uint64_t generation = 0;  ///< counts publications in this process, from 1
};

/// The snapshot in force. Swapped whole; an old one lives until its calls end. Thread-safe.
class CurrentPolicy {
 public:
  /// Null before the first publication.
  [[nodiscard]] std::shared_ptr<const PolicySnapshot> get() const;
  /// Puts a new snapshot in force and returns it, its generation set. Errors: `failed_precondition`
  /// when the bundle has the version of the one in force and another digest; then the old one
  /// stays.
  Result<std::shared_ptr<const PolicySnapshot>> publish(
      std::shared_ptr<const policy::Bundle> bundle,
      std::shared_ptr<const DecisionPoint> decision_point);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const PolicySnapshot> current_ REMIT_GUARDED_BY(mutex_);
};

}  // namespace remit::decision
