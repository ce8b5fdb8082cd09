// A boundary on fakes, for tests: every part of it can be told to fail, throw, be slow or lie.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "enforcement/enforcement_point.h"
#include "json/value.h"
#include "tests/support/fake_clock.h"
#include "tests/support/seeded_random.h"

namespace remit::enforcement::testing {

using remit::testing::FakeClock;
using remit::testing::SeededRandom;

/// Does what `behave` says; by default what a healthy part does.
class FakeSource final : public attributes::AttributeSource {
 public:
  using Behave = std::function<Result<access::Resource>(const attributes::ResourceQuery&)>;
  explicit FakeSource(Behave healthy) : behave(std::move(healthy)) {}
  Result<access::Resource> resolve(const attributes::ResourceQuery& query) const override {
    ++asked;
    return behave(query);
  }
  Behave behave;
  mutable std::atomic<int> asked{0};
};

class FakeAuthenticator final : public identity::Authenticator {
 public:
  using Behave = std::function<identity::Identity(const access::Credential&)>;
  identity::Identity authenticate(const access::Credential& credential, WallTime) const override {
    return behave(credential);
  }
  static access::Principal alice() {
    return {.subject = "alice",
            .tenant = "tenant-a",
            .class_name = "support_agent",
            .scopes = {"files:read", "invoice:move", "invoice:read", "report:make"},
            .revision = "7"};
  }
  Behave behave = [](const access::Credential& credential) {
    identity::Identity out;
    out.state = credential.kind() == access::Credential::Kind::kNone
                    ? access::PrincipalState::kMissing
                    : access::PrincipalState::kAuthenticated;
    if (out.state == access::PrincipalState::kAuthenticated) out.principal = alice();
    return out;
  };
};

class FakeDecisionPoint final : public decision::DecisionPoint {
 public:
  using Behave = std::function<Result<access::Decision>(const decision::DecisionRequest&)>;
  Result<access::Decision> decide(const decision::DecisionRequest& request) const override {
    ++asked;
    return behave(request);
  }
  std::string_view name() const override { return "fake"; }
  /// The starter bundle in two lines: tenants apart, the rest permitted.
  Behave behave = [](const decision::DecisionRequest& request) -> Result<access::Decision> {
    if (request.principal.tenant != request.resource.tenant) {
      return access::Decision::deny(access::ReasonCode::kTenantMismatch, {"tenant-isolation"});
    }
    return access::Decision::allow({"permit-all"});
  };
  mutable std::atomic<int> asked{0};
};

/// Keeps what the log would hold, as the lines it would hold. Thread-safe.
class RecordingSink final : public evidence::EvidenceSink {
 public:
  Status commit(const evidence::EventBatch& batch) override {
    if (on_commit) REMIT_TRY(on_commit(batch));
    const MutexLock lock(mutex_);
    if (batch.policy_generation != 0 && batch.policy_generation < generation_) {
      return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
    }
    write(batch.events);
    return {};
  }
  Status append(const evidence::EventBatch& batch) override {
    if (on_append) REMIT_TRY(on_append(batch));
    const MutexLock lock(mutex_);
    write(batch.events);
    return {};
  }
  Status publish(const event::Event& published, std::uint64_t generation) override {
    if (on_publish) REMIT_TRY(on_publish());
    const MutexLock lock(mutex_);
    if (generation == generation_) return {};
    if (generation < generation_) {
      return Error{ErrorCode::kFailedPrecondition, "a newer policy was published"};
    }
    generation_ = generation;
    write({&published, 1});
    return {};
  }
  Status flush() override { return {}; }

  /// The lines so far, parsed.
  std::vector<json::Value> events() const {
    const MutexLock lock(mutex_);
    std::vector<json::Value> out;
    for (const std::string& line : lines_) {
      out.push_back(json::parse(std::string_view{line}.substr(0, line.size() - 1)).value());
    }
    return out;
  }
  /// Every byte so far.
  std::string text() const {
    const MutexLock lock(mutex_);
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }
  void clear() {
    const MutexLock lock(mutex_);
    lines_.clear();
  }
  /// The newest that was published.
  std::uint64_t generation() const {
    const MutexLock lock(mutex_);
    return generation_;
  }

  std::function<Status(const evidence::EventBatch&)> on_commit;
  std::function<Status(const evidence::EventBatch&)> on_append;
  std::function<Status()> on_publish;

 private:
  void write(std::span<const event::Event> events) REMIT_REQUIRES(mutex_) {
    for (const event::Event& one : events) event::encode(one, lines_.emplace_back());
  }
  mutable Mutex mutex_;
  std::vector<std::string> lines_ REMIT_GUARDED_BY(mutex_);
  std::uint64_t generation_ REMIT_GUARDED_BY(mutex_) = 0;
};

/// Remembers what it was given.
class FakeHandler final : public ToolHandler {
 public:
  using Behave = std::function<HandlerResult(const GrantedCall&)>;
  HandlerResult run(const GrantedCall& call) override {
    {
      const MutexLock lock(mutex_);
      arguments = call.arguments_json();
      invocation_ids.push_back(call.invocation_id());
    }
    return behave(call);
  }
  std::size_t runs() const {
    const MutexLock lock(mutex_);
    return invocation_ids.size();
  }
  Behave behave = [](const GrantedCall&) {
    return HandlerResult{.outcome = HandlerOutcome::kSucceeded, .payload = "{}"};
  };
  std::string arguments;
  std::vector<std::string> invocation_ids;

 private:
  mutable Mutex mutex_;
};

/// A bundle on disk, loaded as any other: the tests' catalogue.
inline std::shared_ptr<const policy::Bundle> load_test_bundle(const std::string& version = "v1") {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "remit-bundle-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return nullptr;
  const fs::path root = pattern;
  fs::create_directories(root / "schemas");
  fs::create_directories(root / "policies");
  // Whatever the umask of whoever runs the tests: others may not write what decides.
  const auto only_ours = [&](const fs::path& path) {
    fs::permissions(path, fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
  };
  only_ours(root / "schemas");
  only_ours(root / "policies");
  const auto write = [&](const char* name, std::string_view text) {
    std::ofstream(root / name) << text;
    only_ours(root / name);
  };
  write("bundle.yaml", "bundle: remit.bundle/1\nversion: \"" + version +
                           "\"\nenvironment: test\nroutes:\n"
                           "  - {name: agent, transport: library}\n"
                           "  - {name: queued, transport: queue}\n"
                           "  - {name: scheduled, transport: queue}\n"
                           "  - {name: retry, transport: queue}\n"
                           "  - {name: legacy, transport: http}\n"
                           "  - {name: trial, transport: library, mode: shadow}\n");
  write("catalogue.yaml", R"(catalogue: remit.catalogue/1
tools:
  - {name: invoice.read, effect: read, scopes: ["invoice:read"], arguments: schemas/invoice.json,
     resources: [{argument: /invoice, type: Invoice}]}
  - {name: invoice.move, effect: write, scopes: ["invoice:move"], arguments: schemas/move.json,
     resources: [{argument: /from, type: Invoice}, {argument: /to, type: Invoice}]}
  - {name: files.read, effect: read, scopes: ["files:read"], arguments: schemas/files.json,
     resources: [{argument: /paths, type: File}], requested_ref_safe: true}
  - {name: report.make, effect: read, scopes: ["report:make"], arguments: schemas/report.json,
     resources: [{argument: /options/invoice, type: Invoice, optional: true}],
     upstream: {server: desk}}
  - {name: admin.export, effect: read, scopes: ["admin:export"], arguments: schemas/empty.json}
  - {name: server.ping, effect: read, arguments: schemas/empty.json}
  - {name: anything.goes, effect: read, arguments: schemas/empty.json, open_arguments: true}
  - {name: sums.add, effect: none, arguments: schemas/sums.json, boundary: none}
  - {name: invoice.trial, effect: read, arguments: schemas/invoice.json, mode: shadow,
     resources: [{argument: /invoice, type: Invoice}]}
  - {name: invoice.strict, effect: read, arguments: schemas/invoice.json, mode: enforce,
     resources: [{argument: /invoice, type: Invoice}]}
  - {name: invoice.mixed, effect: read, arguments: schemas/invoice.json,
     mode: {agent: shadow, trial: enforce}, resources: [{argument: /invoice, type: Invoice}]}
  - {name: refund.create, effect: write, scopes: [once], arguments: schemas/invoice.json,
     resources: [{argument: /invoice, type: Invoice}], approval: required}
  - {name: refund.keyed, effect: write, scopes: [once], arguments: schemas/invoice.json,
     resources: [{argument: /invoice, type: Invoice}], approval: required, idempotency: key_optional}
  - {name: refund.trial, effect: write, scopes: [once], arguments: schemas/invoice.json, mode: shadow,
     resources: [{argument: /invoice, type: Invoice}], approval: required, idempotency: key_optional}
  - {name: note.add, effect: write, scopes: [once], arguments: schemas/invoice.json,
     resources: [{argument: /invoice, type: Invoice}], idempotency: key_required}
  - {name: note.put, effect: write, scopes: [once], arguments: schemas/invoice.json,
     resources: [{argument: /invoice, type: Invoice}], idempotency: key_optional, idempotent: true}
  - {name: ghost.read, effect: read, arguments: schemas/ghost.json,
     resources: [{argument: /ghost, type: Ghost}]}
)");
  write("schemas/empty.json", R"({"type":"object"})");
  write("schemas/invoice.json",
        R"({"type":"object","properties":{"invoice":{},"amount":{"type":"integer"}}})");
  write("schemas/move.json", R"({"type":"object","properties":{"from":{},"to":{},"note":{}}})");
  write("schemas/files.json", R"({"type":"object","properties":{"paths":{"type":"array"}}})");
  write("schemas/report.json",
        R"({"type":"object","properties":{"options":{"type":"object","properties":)"
        R"({"invoice":{},"pages":{"type":"integer"}}}}})");
  write("schemas/sums.json", R"({"type":"object","properties":{"a":{},"b":{}},"required":["a"]})");
  write("schemas/ghost.json", R"({"type":"object","properties":{"ghost":{}}})");
  write("schema.cedarschema", "entity Principal;\n");
  write("policies/none.cedar", "");
  PosixFileSystem files;
  policy::BundleOutcome outcome = policy::load_bundle(files, root.string());
  for (const Error& problem : outcome.problems) {
    ADD_FAILURE() << problem.to_string();
  }
  std::error_code ignored;
  fs::remove_all(root, ignored);
  return outcome.bundle;
}

/// The whole of it, healthy until a test changes a part.
struct World {
  World() {
    publish();
    boundary.emplace(surroundings(policy, evidence));
    static_cast<void>(boundary->record_publication(*policy.get()));
    evidence.clear();
  }

  /// This world with a policy and a log of the test's own.
  Surroundings surroundings(const decision::CurrentPolicy& current, evidence::EvidenceSink& log) {
    return {.policy = current,
            .authenticator = authenticator,
            .sources = sources,
            .evidence = log,
            .clock = clock,
            .random = random,
            .digest_key = key};
  }

  /// Puts another snapshot of the same bundle in force, without a word to the log.
  void publish() {
    static const std::shared_ptr<const policy::Bundle> bundle = load_test_bundle();
    REMIT_CHECK(policy.publish(bundle, decision_point));
  }

  static Result<access::Resource> find(const attributes::ResourceQuery& query) {
    const std::string reference{query.reference};
    if (reference == "missing") return Error{ErrorCode::kNotFound, "no such row"};
    return access::Resource{.type = std::string(query.type),
                            .id = "canonical-" + reference,
                            .tenant = reference == "foreign" ? "tenant-b" : "tenant-a",
                            .source = "invoices",
                            .revision = "12",
                            .attributes = {{"owner", std::string("bob")}}};
  }

  static access::ProposedCall call(std::string tool, std::string arguments) {
    access::ProposedCall out;
    out.route = "agent";
    out.credential = access::Credential::local();
    out.tool = std::move(tool);
    out.arguments_json = std::move(arguments);
    return out;
  }

  static constexpr char kKeyBytes[] = "0123456789abcdef0123456789abcdef";
  FakeClock clock;
  SeededRandom random;
  DigestKey key = DigestKey::from_bytes(bytes_of(kKeyBytes)).value();
  FakeAuthenticator authenticator;
  std::shared_ptr<FakeDecisionPoint> decision_point = std::make_shared<FakeDecisionPoint>();
  FakeSource invoices{find};
  FakeSource files{find};
  std::unordered_map<std::string, const attributes::AttributeSource*> sources{
      {"Invoice", &invoices}, {"File", &files}};
  RecordingSink evidence;
  decision::CurrentPolicy policy;
  FakeHandler handler;
  std::optional<EnforcementPoint> boundary;
};

/// Text of a member, empty if there is none or it is no text.
inline std::string text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  const std::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string{} : *text;
}

/// The names of the events, joined by blanks.
inline std::string names_of(const std::vector<json::Value>& events) {
  std::string out;
  for (const json::Value& one : events) {
    if (!out.empty()) out += ' ';
    out += text_of(one, "event");
  }
  return out;
}

/// The first event of that name; null if there is none.
inline json::Value first_of(const std::vector<json::Value>& events, std::string_view name) {
  for (const json::Value& one : events) {
    if (text_of(one, "event") == name) return one;
  }
  return {};
}

}  // namespace remit::enforcement::testing
