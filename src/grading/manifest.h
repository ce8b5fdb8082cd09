// The manifest `remit.manifest/1`: what a run is judged against (spec/manifest.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace remit::grading {

/// A version that may decide in the run.
struct PinnedPolicy {
  std::string version;
  std::optional<std::string> digest;  ///< `sha256:<hex>`
};

/// Facts of a principal. What is absent is not pinned.
struct PinnedPrincipal {
  std::string ref;
  std::optional<std::string> state, principal_class, tenant, revision;
  std::vector<std::string> scopes;
};

struct PinnedResource {
  std::string type, id;
  std::optional<std::string> tenant, source, revision;
};

struct PinnedApproval {
  std::string id, state;
};

/// One expected request of a case.
struct Expectation {
  std::optional<std::string> invocation_id;
  std::string tool;
  std::optional<std::string> route, principal, resource, decision, reason;
  std::optional<std::int64_t> effects;
};

struct Case {
  std::string id;
  bool is_security = false;  ///< else a task
  std::optional<std::string> run_id;
  std::vector<Expectation> expect;
  std::optional<std::vector<std::string>> allowed_requests;
  std::vector<std::string> forbidden_requests;
  std::vector<std::string> required_requests;
};

struct Manifest {
  std::string digest;  ///< `sha256:<hex>` of the bytes that were parsed
  std::optional<std::string> environment, fixture_revision;
  std::vector<PinnedPolicy> policies;  ///< in order of publication
  std::vector<PinnedPrincipal> principals;
  std::vector<PinnedResource> resources;
  std::vector<PinnedApproval> approvals;
  std::vector<Case> cases;
  bool effects_required = false;  ///< `effects_source: required`
};

/// A manifest, or everything that is wrong with it in the order of the file, each with
/// `FILE:LINE:COLUMN` (REQ-MF-001).
struct ManifestParse {
  std::optional<Manifest> manifest;  ///< set if and only if `errors` is empty
  std::vector<Error> errors;
};

/// Parses YAML or JSON. `file` is how errors name it. Errors: those of `yaml::parse`, and
/// `invalid_input` for an unknown key, a wrong type or value, a repeated id, a reference to
/// something that the manifest does not have, a case that can judge nothing.
ManifestParse parse_manifest(std::string_view text, const std::string& file);

/// The ids of an expect file (REQ-MF-020): one a line, a line that begins with a double quote is a
/// JSON string; blank lines are skipped, CRLF is accepted. `file` is how errors name it. Errors:
/// `invalid_input` with `FILE:LINE` for a bad JSON string, invalid UTF-8, an empty or repeated id,
/// and a file without any.
Result<std::vector<std::string>> parse_expected_ids(std::string_view text, const std::string& file);

}  // namespace remit::grading
