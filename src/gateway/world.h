// The real objects of a configuration, built in order and owned in one place.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attributes/attribute_source.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "decision/decision_point.h"
#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "gateway/config.h"
#include "gateway/identities.h"
#include "ledger/database_ledger.h"

namespace remit::gateway {

/// Everything that an enforcement point stands on, and the point itself, which goes first. Made by
/// `assemble`; neither copied nor moved, since its parts refer to one another.
struct World {
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::unique_ptr<Identities> identities;
  std::vector<std::unique_ptr<attributes::AttributeSource>> owned_sources;
  std::unordered_map<std::string, const attributes::AttributeSource*> sources;  ///< by type
  decision::CurrentPolicy policy;
  std::unique_ptr<ledger::DatabaseLedger> ledger;  ///< null without `state`
  std::unique_ptr<evidence::FileEvidenceLog> evidence;
  std::unique_ptr<enforcement::EnforcementPoint> point;
};

/// A world, or everything that is wrong with what the configuration names.
struct WorldOutcome {
  std::unique_ptr<World> world;  ///< null exactly when there are problems
  std::vector<Error> problems;
};

/// Builds the world of `config`: loads the bundle and its policies, opens the stores, the ledger
/// and then the evidence log, and publishes the policy into it. Nothing is written before
/// everything else is known to be right. Problems beyond those of the parts: a tool without an
/// upstream, or with one that the configuration does not have; a resource type without attributes;
/// an `mcp:` entry that is no method of the protocol; a tool that takes any argument and pins no
/// schema; a tool that needs approvals or takes keys, without `state`; a bundle
/// without one of `routes`.
WorldOutcome assemble(const Config& config, std::span<const std::string_view> routes,
                      FileSystem& files, const Clock& clock, Random& random);

/// The deployment's digest key. Errors: as of reading it; `invalid_input` for one that is too
/// short.
Result<DigestKey> read_digest_key(const Config& config, FileSystem& files);

}  // namespace remit::gateway
