// From settings to objects.
#include "gateway/world.h"

#include <algorithm>
#include <utility>

#include "attributes/fixture_attribute_source.h"
#include "attributes/http_attribute_source.h"
#include "attributes/path_attribute_source.h"
#include "attributes/postgres_attribute_source.h"
#include "attributes/sqlite_attribute_source.h"
#include "cedar/cedar_decision_point.h"
#include "enforcement/once.h"
#include "gateway/live_tools.h"
#include "mcp/methods.h"
#include "policy/bundle.h"

namespace remit::gateway {
namespace {

constexpr std::chrono::seconds kOpenDeadline{10};
constexpr std::uint64_t kMaxKeyBytes = 4096;

struct SourceOutcome {
  std::unique_ptr<attributes::AttributeSource> source;
  std::vector<Error> problems = {};
};

template <class Source>
SourceOutcome outcome_of(Result<std::unique_ptr<Source>> opened, const std::string& where) {
  if (opened) return {std::move(*opened)};
  Error error = std::move(opened).error();
  // The place is where the configuration names the store; what the store says goes behind it.
  return {nullptr, {Error{error.code, error.to_string(), where}}};
}

SourceOutcome open_service(const HttpAttributes& service, const AttributeSettings& settings,
                           FileSystem& files, const Clock& clock) {
  attributes::HttpSourceOptions options{.type = settings.type,
                                        .url = service.url,
                                        .timeout = service.timeout,
                                        .source = settings.source};
  if (!service.trust.empty()) {
    Result<std::string> trust = files.read(service.trust, kMaxConfigBytes);
    if (!trust) return {nullptr, {std::move(trust).error()}};
    options.trust_pem = *std::move(trust);
  }
  if (!service.credential.empty()) {
    Result<std::string> credential = files.read(service.credential, kMaxServiceCredentialBytes);
    if (!credential) return {nullptr, {std::move(credential).error()}};
    options.credential = *std::move(credential);
    // An editor's last line end is no part of it.
    if (options.credential.ends_with('\n')) options.credential.pop_back();
    // What is configured and empty is a mistake, and never no credential.
    if (options.credential.empty()) {
      return {nullptr,
              {Error{ErrorCode::kInvalidInput, "no credential in the file", service.credential}}};
    }
  }
  return outcome_of(attributes::HttpAttributeSource::open(options, clock), settings.where);
}

SourceOutcome open_source(const AttributeSettings& settings, FileSystem& files,
                          const Clock& clock) {
  if (const auto* fixture = std::get_if<FixtureAttributes>(&settings.store)) {
    auto read = attributes::FixtureAttributeSource::read(files, fixture->file, settings.type,
                                                         settings.source);
    return {std::move(read.source), std::move(read.problems)};
  }
  if (const auto* sqlite = std::get_if<SqliteAttributes>(&settings.store)) {
    const attributes::SqliteSourceOptions options{.type = settings.type,
                                                  .path = sqlite->path,
                                                  .query = sqlite->query,
                                                  .source = settings.source};
    return outcome_of(attributes::SqliteAttributeSource::open(
                          options, clock, clock.monotonic_now() + kOpenDeadline),
                      settings.where);
  }
  if (const auto* postgres = std::get_if<PostgresAttributes>(&settings.store)) {
    const attributes::PostgresSourceOptions options{.type = settings.type,
                                                    .connection = postgres->connection,
                                                    .query = postgres->query,
                                                    .source = settings.source};
    return outcome_of(attributes::PostgresAttributeSource::open(
                          options, clock, clock.monotonic_now() + kOpenDeadline),
                      settings.where);
  }
  if (const auto* service = std::get_if<HttpAttributes>(&settings.store)) {
    return open_service(*service, settings, files, clock);
  }
  const auto& path = std::get<PathAttributes>(settings.store);
  const attributes::PathSourceOptions options{
      .type = settings.type, .root = path.root, .tenant = path.tenant, .source = settings.source};
  return outcome_of(attributes::PathAttributeSource::open(options, clock), settings.where);
}

bool has_upstream(const Config& config, const std::string& name) {
  return std::any_of(config.upstreams.begin(), config.upstreams.end(),
                     [&](const UpstreamSettings& upstream) { return upstream.name == name; });
}

// Whether an `mcp:` entry names a request that the gateway takes through the boundary.
bool is_governed_method(std::string_view entry) {
  const mcp::Method* method = mcp::find_method(mcp::Sender::kClient, mcp::MethodKind::kRequest,
                                               entry.substr(4), mcp::kNewestRevision);
  return method != nullptr &&
         (method->capability == "resources" || method->capability == "prompts" ||
          method->capability == "completions");
}

void check_tool(const policy::Tool& tool, const Config& config, const World& world,
                std::vector<Error>& problems) {
  const std::string where = config.bundle + "/catalogue.yaml";
  const auto add = [&](std::string message) {
    problems.push_back({ErrorCode::kInvalidInput,
                        "the tool " + quoted(tool.name) + " " + std::move(message), where});
  };
  if (tool.upstream_server.empty()) {
    add("names no upstream; a gateway needs to know which server has it");
  } else if (!has_upstream(config, tool.upstream_server)) {
    add("names the upstream " + quoted(tool.upstream_server) + ", which " + config.file +
        " does not have");
  }
  if (!tool.arguments && tool.open_arguments && !is_method_entry(tool.name)) {
    add("takes any argument and pins no schema, so nobody would see that its server changed it; "
        "name the schema as its arguments");
  }
  if (tool.needs_ledger() && !config.state) {
    add("needs approvals or takes idempotency keys, which are kept in the \"state\" that " +
        config.file + " does not have");
  }
  for (const policy::ResourceReference& reference : tool.resources) {
    if (world.sources.contains(reference.type)) continue;
    add("names a resource of the type " + quoted(reference.type) + ", for which " + config.file +
        " has no attributes");
  }
  if (is_method_entry(tool.name) && !is_governed_method(tool.name)) {
    add("is no method of the protocol that can be governed");
  }
}

// The bundle with its policies, published; null when there are problems.
std::shared_ptr<const decision::PolicySnapshot> load_policy(
    const Config& config, std::span<const std::string_view> routes, FileSystem& files, World& world,
    std::vector<Error>& problems) {
  policy::BundleOutcome loaded = policy::load_bundle(files, config.bundle);
  if (loaded.bundle == nullptr) {
    std::move(loaded.problems.begin(), loaded.problems.end(), std::back_inserter(problems));
    return nullptr;
  }
  decision::DecisionPointOutcome made = cedar::CedarDecisionPointFactory{}.create(*loaded.bundle);
  for (Error& problem : made.problems) {
    problem.where = config.bundle + "/" + problem.where;
    problems.push_back(std::move(problem));
  }
  for (const policy::Tool& tool : loaded.bundle->tools) check_tool(tool, config, world, problems);
  for (const std::string_view route : routes) {
    if (loaded.bundle->find_route(route) != nullptr) continue;
    problems.push_back({ErrorCode::kInvalidInput,
                        "the bundle has no route " + quoted(route) + ", by which calls come here",
                        config.bundle + "/bundle.yaml"});
  }
  if (!problems.empty()) return nullptr;
  auto published = world.policy.publish(loaded.bundle, made.decision_point);
  if (published) return *published;
  problems.push_back(published.error());
  return nullptr;
}

// The place is the configuration, which names the ledger; what the database says goes behind it.
Status open_ledger(const Config& config, World& world, const Clock& clock, Random& random,
                   const DigestKey& key) {
  if (!config.state) return {};
  auto opened = ledger::DatabaseLedger::open(
      {.location = *config.state, .key_check = enforcement::ledger_key_check(key)}, clock, random);
  if (!opened) {
    return Error{opened.error().code, opened.error().to_string(), config.file + ": state"};
  }
  world.ledger = std::move(*opened);
  return {};
}

Status open_log(const Config& config, World& world, FileSystem& files, const Clock& clock,
                Random& random, const DigestKey& key,
                const std::shared_ptr<const decision::PolicySnapshot>& snapshot) {
  REMIT_TRY_ASSIGN(world.evidence,
                   evidence::FileEvidenceLog::open(files, clock, random,
                                                   {.directory = config.evidence.directory}));
  world.point = std::make_unique<enforcement::EnforcementPoint>(enforcement::Surroundings{
      .policy = world.policy,
      .authenticator = world.identities->authenticator(),
      .sources = world.sources,
      .evidence = *world.evidence,
      .clock = clock,
      .random = random,
      .digest_key = key,
      .ledger = world.ledger.get(),
      .principal_calls_per_second = config.limits.principal_calls_per_second});
  return world.point->record_publication(*snapshot);
}

}  // namespace

Result<DigestKey> read_digest_key(const Config& config, FileSystem& files) {
  const std::string& file = config.evidence.digest_key;
  REMIT_TRY_ASSIGN(const std::string bytes, files.read(file, kMaxKeyBytes));
  auto key = DigestKey::from_bytes(std::as_bytes(std::span{bytes.data(), bytes.size()}));
  if (!key) return in_place(file, key.error());
  return key;
}

WorldOutcome assemble(const Config& config, std::span<const std::string_view> routes,
                      FileSystem& files, const Clock& clock, Random& random) {
  WorldOutcome out;
  auto world = std::make_unique<World>();
  const Result<DigestKey> key = read_digest_key(config, files);
  if (!key) out.problems.push_back(key.error());
  for (const AttributeSettings& settings : config.attributes) {
    auto [source, problems] = open_source(settings, files, clock);
    std::move(problems.begin(), problems.end(), std::back_inserter(out.problems));
    world->sources.emplace(settings.type, source.get());
    world->owned_sources.push_back(std::move(source));
  }
  const auto snapshot = load_policy(config, routes, files, *world, out.problems);
  if (!out.problems.empty()) return out;
  auto identities = Identities::open(config, *key, files, clock, random);
  if (!identities) {
    out.problems.push_back(std::move(identities).error());
    return out;
  }
  world->identities = *std::move(identities);
  Status opened = open_ledger(config, *world, clock, random, *key);
  if (opened) opened = open_log(config, *world, files, clock, random, *key, snapshot);
  if (!opened) {
    out.problems.push_back(opened.error());
    return out;
  }
  out.world = std::move(world);
  return out;
}

}  // namespace remit::gateway
