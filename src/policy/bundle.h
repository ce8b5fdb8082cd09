// The policy bundle: one directory, one digest, one version, loaded whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "json/schema.h"

namespace remit::policy {

/// Whether a decision binds (enforce) or is only recorded (shadow).
enum class Mode : std::uint8_t { kEnforce, kShadow };

/// What a tool does to the world; read from the catalogue. Starts at the most careful value.
enum class Effect : std::uint8_t { kDestructive, kWrite, kExternal, kDelegating, kRead, kNone };

/// Whether a caller names its invocations, so that none happens twice (spec/ledger.md).
enum class Idempotency : std::uint8_t { kNone, kKeyOptional, kKeyRequired };

/// One way into the executor (`bundle.yaml`, `routes`).
struct Route {
  std::string name;       ///< `agent`, `direct`, …
  std::string transport;  ///< `stdio`, `library`, …; free text for people
  Mode mode = Mode::kEnforce;
};

/// Where in the arguments a resource is named, and of which type it is.
struct ResourceReference {
  std::string argument;   ///< RFC 6901 pointer into the arguments
  std::string type;       ///< Cedar entity type
  bool optional = false;  ///< an absent argument names no resource, instead of being refused
};

/// One tool of the catalogue, immutable.
struct Tool {
  std::string name;  ///< as callers and events name it
  std::string upstream_server;
  std::string upstream_tool;
  std::string action;  ///< Cedar action id; the name unless the catalogue says otherwise
  Effect effect = Effect::kDestructive;
  std::vector<std::string> scopes;  ///< all required; sorted
  std::optional<json::Schema> arguments;
  std::vector<std::string> argument_names;  ///< top-level properties that the schema names; sorted
  std::string arguments_schema;             ///< canonical JSON of the schema, as pinned
  bool open_arguments = false;  ///< accept top-level properties the schema does not name
  std::vector<ResourceReference> resources;
  bool has_boundary = true;        ///< false for `boundary: none`
  bool approval_required = false;  ///< by a person, for each call
  Idempotency idempotency = Idempotency::kNone;
  bool idempotent = false;          ///< an attempt whose end nobody knows may be made again
  bool requested_ref_safe = false;  ///< references may be recorded in clear text
  std::optional<Mode> mode;         ///< on every route that `route_modes` does not name
  std::map<std::string, Mode, std::less<>> route_modes;  ///< by the names of routes
  std::int64_t permit_lifetime_ms = 1000;

  /// Whether calls of it may need the ledger.
  [[nodiscard]] bool needs_ledger() const {
    return approval_required || idempotency != Idempotency::kNone;
  }
};

/// The mode of a call: what the tool says for the route, else what it says for all, else what the
/// route says (REQ-BN-015). Either may be null where a call did not come so far.
Mode mode_of(const Route* route, const Tool* tool);

/// A Cedar source file of the bundle.
struct PolicySource {
  std::string file;  ///< path within the bundle, e.g. `policies/tenant.cedar`
  std::string text;
};

/// A bundle as loaded: every file parsed, limits kept, catalogue closed. Whether the policies fit
/// their schema is the decision point's to prove (decision/decision_point.h). Immutable; shared
/// between threads.
class Bundle {
 public:
  std::string version;
  std::string description;
  std::string environment;
  std::string digest;  ///< `sha256:…` over the canonical listing (spec/bundle.md)
  std::vector<Route> routes;
  std::vector<Tool> tools;             ///< in catalogue order
  PolicySource schema;                 ///< `schema.cedarschema`
  std::vector<PolicySource> policies;  ///< sorted by file

  /// The tool of that name, byte for byte; null if the catalogue has none.
  [[nodiscard]] const Tool* find_tool(std::string_view name) const;
  [[nodiscard]] const Route* find_route(std::string_view name) const;

 private:
  friend class BundleLoader;
  struct NameHash {
    using is_transparent = void;  // looks up a view without a copy
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> tool_index_;
};

/// A bundle, or everything that is wrong with it, each with its file, line and column.
struct BundleOutcome {
  std::shared_ptr<const Bundle> bundle;  ///< null exactly when `problems` is not empty
  std::vector<Error> problems;
};

/// Loads the bundle in `directory` (spec/bundle.md). Problems, all that are found in one go, by
/// file: a missing or unreadable file (`not_found`, `unavailable`); one that others may write, or
/// that belongs to another user (`failed_precondition`); a link within the bundle, YAML or JSON
/// that does not parse, an unknown or missing key, a schema that does not compile, a catalogue that
/// names a schema the bundle lacks, a resource whose argument the schema does not name, a repeated
/// tool or route, `boundary: none` with an effect, a file in `policies/` or `schemas/` that is
/// neither a policy nor a schema (`invalid_input`); a format of a later version (`unsupported`); a
/// bound (`limit_exceeded`). `tests/`, `review.yaml` and whatever else lies in the directory decide
/// nothing: they are neither read nor part of the digest.
BundleOutcome load_bundle(FileSystem& files, const std::string& directory);

}  // namespace remit::policy
