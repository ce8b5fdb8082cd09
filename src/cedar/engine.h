// The Cedar engine behind C++ types: loading with every finding's place, and requests filled by
// typed calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/reason.h"
#include "base/error.h"
#include "cedar/shape.h"
#include "policy/bundle.h"

struct remit_cedar_engine;
struct remit_cedar_request;

namespace remit::cedar {

/// What a decision needs to know of a policy.
struct PolicyFacts {
  std::string id;
  access::ReasonCode reason = access::ReasonCode::kForbidden;  ///< of a forbid
  bool permits = false;
};

/// Policies with their schema, loaded. Immutable; thread-safe.
class Engine {
 public:
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] const remit_cedar_engine* handle() const { return handle_; }
  /// Ascending by id; positions are the engine's numbers.
  [[nodiscard]] const std::vector<PolicyFacts>& policies() const { return policies_; }
  [[nodiscard]] const SchemaTypes& types() const { return types_; }
  /// Whether nobody is permitted the action, whatever for, and no forbid names it without a
  /// condition: an action that was forgotten, by the looks of it.
  [[nodiscard]] bool is_out_of_reach(std::uint32_t action) const;

 private:
  friend struct EngineLoader;
  explicit Engine(const remit_cedar_engine* handle) : handle_(handle) {}
  const remit_cedar_engine* handle_;
  std::vector<PolicyFacts> policies_;
  SchemaTypes types_;
};

/// An engine, or everything that is wrong with the texts, each as `file:LINE:COLUMN`.
struct EngineOutcome {
  std::shared_ptr<const Engine> engine;  ///< null exactly when there are problems
  std::vector<Error> problems;
  std::vector<Error> warnings;  ///< a policy that can never apply, look-alike letters, …
};

/// Loads `policies` with `schema`. Problems: text that does not parse (`invalid_input`), a policy
/// that does not fit the schema in strict mode, a missing or repeated `@id`, an `@reason` that is
/// not a policy's to give or that stands on a permit, a bound of base/limits.h (`limit_exceeded`).
/// Takes seconds for thousands of policies.
EngineOutcome load_engine(const std::vector<policy::PolicySource>& policies,
                          const policy::PolicySource& schema);

}  // namespace remit::cedar
