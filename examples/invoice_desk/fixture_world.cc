// From the fixture's words to the office's files.
#include "fixture_world.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace remit::examples {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{30};

// A slow machine must not let a permit lapse: that is a case of its own, and not of this pack.
constexpr int kPermitLifetimeMs = 60'000;

constexpr std::string_view kContext =
    R"("route": String, "environment": String, "now": datetime,
       "approval": {"state": String, "id"?: String}, "arguments": {})";

constexpr std::string_view kTenantIsolation = R"(@id("tenant-isolation")
@reason("tenant_mismatch")
forbid (principal, action, resource)
unless { resource has tenant && principal.tenant == resource.tenant };
)";

// A trial's disk has to keep nothing: in memory, syncs cost nothing.
fs::path place_of_worlds() {
  constexpr const char* kMemory = "/dev/shm";
  const bool is_chosen = std::getenv("TMPDIR") != nullptr;
  if (is_chosen || ::access(kMemory, W_OK | X_OK) != 0) return fs::temp_directory_path();
  return kMemory;
}

std::string text(const json::Value& from, std::string_view key) {
  const json::Value* value = from.find(key);
  const std::string* found = value == nullptr ? nullptr : value->if_string();
  return found == nullptr ? "" : *found;
}

const json::Object& object(const json::Value& from, std::string_view key) {
  static const json::Object none;
  const json::Value* value = from.find(key);
  return value == nullptr || value->if_object() == nullptr ? none : *value->if_object();
}

json::Object catalogue_entry(const std::string& name, const json::Value& tool) {
  json::Array resources;
  if (const json::Value* listed = tool.find("resources"); listed != nullptr) {
    for (const json::Value& each : *listed->if_array()) {
      resources.push_back(
          json::Object{{"argument", "/" + text(each, "argument")}, {"type", text(each, "type")}});
    }
  }
  const std::string idempotency = text(tool, "idempotency");
  json::Object out{{"name", name},
                   {"upstream", json::Object{{"server", "desk"}, {"tool", name}}},
                   {"effect", text(tool, "effect")},
                   {"scopes", *tool.find("scopes")},
                   {"arguments", "schemas/" + name + ".json"},
                   {"idempotency", idempotency.empty() ? "key_optional" : idempotency},
                   {"permit_lifetime_ms", kPermitLifetimeMs}};
  if (!resources.empty()) out.set("resources", std::move(resources));
  if (const json::Value* approval = tool.find("approval")) out.set("approval", *approval);
  return out;
}

std::string permits(const json::Value& policy) {
  std::string out;
  for (const auto& [who, tools] : object(policy, "permits").members()) {
    std::string actions;
    for (const json::Value& tool : *tools.if_array()) {
      actions += fmt::format("{}Action::\"{}\"", actions.empty() ? "" : ", ", *tool.if_string());
    }
    if (actions.empty()) continue;
    out += fmt::format(
        "@id(\"permits-of-{0}\")\npermit (principal, action in [{1}], resource)\n"
        "when {{ principal.class == \"{0}\" }};\n",
        who, actions);
  }
  return out;
}

}  // namespace

FixtureWorld::FixtureWorld(std::string directory, const json::Value& fixture, const Clock& clock,
                           Random& random)
    : directory_(std::move(directory)),
      tools_(object(fixture, "tools")),
      clock_(clock),
      random_(random),
      invoices_(directory_ + "/desk.db", database::Access::kReadWrite, clock),
      state_(directory_ + "/state.db", database::Access::kReadWrite, clock) {}

FixtureWorld::~FixtureWorld() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Result<std::unique_ptr<FixtureWorld>> FixtureWorld::make(const json::Value& fixture,
                                                         const Clock& clock, Random& random) {
  std::string directory = (place_of_worlds() / "invoice-desk-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) {
    return Error{ErrorCode::kUnavailable, "no directory can be made", directory};
  }
  std::unique_ptr<FixtureWorld> world(new FixtureWorld(directory, fixture, clock, random));
  REMIT_TRY(world->write_all(fixture));
  return world;
}

Status FixtureWorld::write(const std::string& name, const std::string& bytes) const {
  const fs::path path = fs::path(directory_) / name;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (out.flush()) return {};
  return Error{ErrorCode::kUnavailable, "cannot be written", path.string()};
}

Status FixtureWorld::run(database::Database& database, std::string_view statement,
                         const std::vector<database::Parameter>& parameters) const {
  REMIT_TRY(database.run(statement, parameters, {.deadline = clock_.monotonic_now() + kPatience}));
  return {};
}

Status FixtureWorld::write_all(const json::Value& fixture) {
  REMIT_TRY(write("digest.key", random_id(random_) + random_id(random_)));
  for (const auto& [name, principal] : object(fixture, "principals").members()) {
    REMIT_TRY(set_principal(name, principal));
  }
  REMIT_TRY(run(invoices_,
                "create table invoices(alias text primary key, id text not null, tenant text not "
                "null, owner text not null default '', amount_cents integer not null default 0, "
                "revision text not null)",
                {}));
  for (const auto& [reference, resource] : object(fixture, "resources").members()) {
    REMIT_TRY(set_resource(reference, resource));
  }
  const json::Value* policy = fixture.find("policy");
  return policy == nullptr ? Status{} : set_policy(*policy);
}

std::vector<std::string> FixtureWorld::people() const {
  std::vector<std::string> out;
  for (const auto& [name, principal] : people_) out.push_back(name);
  return out;
}

access::Credential FixtureWorld::credential_of(const std::string& name, const Staff& staff) const {
  const auto found = people_.find(name);
  const bool is_forged = found != people_.end() && text(found->second, "state") == "invalid";
  return access::Credential::bearer(is_forged ? name + ".made at home" : staff.badge_of(name));
}

// Somebody whose time is over stands in the list, revoked; whose credential does not verify is not
// ours and does not stand there.
Status FixtureWorld::set_principal(const std::string& name, const json::Value& principal) {
  people_[name] = principal;
  json::Array listed;
  for (const auto& [subject, facts] : people_) {
    const std::string state = text(facts, "state");
    if (state == "invalid") continue;
    listed.push_back(json::Object{{"subject", subject},
                                  {"tenant", text(facts, "tenant")},
                                  {"class", text(facts, "class")},
                                  {"scopes", *facts.find("scopes")},
                                  {"revision", text(facts, "revision")},
                                  {"revoked", state != "authenticated"}});
  }
  const json::Object list{{"directory", "remit.directory/1"}, {"principals", std::move(listed)}};
  return write("staff.yaml", json::write(list));
}

Status FixtureWorld::set_resource(const std::string& reference, const json::Value& resource) {
  if (text(resource, "type") != "Invoice") {
    return Error{ErrorCode::kUnsupported, "the desk knows invoices only", reference};
  }
  return run(invoices_,
             "insert or replace into invoices(alias, id, tenant, revision) "
             "values(:alias, :id, :tenant, :revision)",
             {{":alias", reference},
              {":id", text(resource, "id")},
              {":tenant", text(resource, "tenant")},
              {":revision", text(resource, "revision")}});
}

Status FixtureWorld::move_invoices(bool away) {
  return run(invoices_,
             away ? "alter table invoices rename to invoices_away"
                  : "alter table invoices_away rename to invoices",
             {});
}

Result<std::string> FixtureWorld::plant(const std::string& queue, const std::string& route,
                                        const std::string& tool,
                                        const std::string& arguments_json) {
  std::string id = random_id(random_);
  REMIT_TRY(run(state_,
                "insert into remit_queue_row(id, queue, route, tool, arguments) "
                "values(:id, :queue, :route, :tool, :arguments)",
                {{":id", id},
                 {":queue", queue},
                 {":route", route},
                 {":tool", tool},
                 {":arguments", arguments_json}}));
  return id;
}

Status FixtureWorld::set_policy(const json::Value& policy) {
  bundle_ = fmt::format("bundle-{}", ++bundles_);
  return write_bundle(policy);
}

std::string FixtureWorld::cedar_schema() const {
  std::string out =
      "entity Principal = {\"tenant\": String, \"class\": String, \"scopes\": Set<String>, "
      "\"on_behalf_of\"?: String};\n"
      "entity Server = {\"tenant\": String};\n"
      "entity Invoice = {\"tenant\": String, \"owner\": String, \"amount_cents\": Long};\n";
  for (const auto& [name, tool] : tools_.members()) {
    const char* resource = tool.find("resources") == nullptr ? "Server" : "Invoice";
    out += fmt::format(
        "action \"{}\" appliesTo {{principal: [Principal], resource: [{}], "
        "context: {{{}}}}};\n",
        name, resource, kContext);
  }
  return out;
}

Status FixtureWorld::write_bundle(const json::Value& policy) const {
  json::Array routes;
  for (const auto& [name, transport] :
       {std::pair{"direct", "library"}, std::pair{"queued", "queue"}, std::pair{"retry", "queue"},
        std::pair{"agent", "stdio"}, std::pair{"admin", "command line"},
        std::pair{"scheduled", "queue"}, std::pair{"legacy", "http"}}) {
    routes.push_back(json::Object{{"name", name}, {"transport", transport}});
  }
  json::Array tools;
  for (const auto& [name, tool] : tools_.members()) {
    tools.push_back(catalogue_entry(name, tool));
    REMIT_TRY(write(bundle_ + "/schemas/" + name + ".json", json::write(*tool.find("arguments"))));
  }
  REMIT_TRY(
      write(bundle_ + "/bundle.yaml", json::write(json::Object{{"bundle", "remit.bundle/1"},
                                                               {"version", text(policy, "version")},
                                                               {"environment", "test"},
                                                               {"routes", std::move(routes)}})));
  REMIT_TRY(write(
      bundle_ + "/catalogue.yaml",
      json::write(json::Object{{"catalogue", "remit.catalogue/1"}, {"tools", std::move(tools)}})));
  REMIT_TRY(write(bundle_ + "/schema.cedarschema", cedar_schema()));
  REMIT_TRY(write(bundle_ + "/policies/tenant-isolation.cedar", std::string(kTenantIsolation)));
  return write(bundle_ + "/policies/permits.cedar", permits(policy));
}

}  // namespace remit::examples
