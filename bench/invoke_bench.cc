// What a whole invoke() costs with a real Cedar decision: beside the decision alone, without a disk
// and with the durable log, for one caller and for 64.
//
// usage: invoke_bench [FOLDER]   In FOLDER (default: the one for temporary files) it makes a folder
// of its own, and removes it. `cpu us` is processor time of the whole process for each call, which
// says most where other programs compete for the machine.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "attributes/fixture_attribute_source.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "base/random.h"
#include "bench/run_size.h"
#include "cedar/cedar_decision_point.h"
#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "identity/pinned_authenticator.h"

namespace {

using namespace remit;

constexpr int kPolicies = 100;
constexpr int kCallers = 64;

/// Encodes what the log would hold and forgets it.
class MemorySink final : public evidence::EvidenceSink {
 public:
  Status commit(const evidence::EventBatch& batch) override {
    const MutexLock lock(mutex_);
    lines_.clear();
    for (const event::Event& event : batch.events) event::encode(event, lines_);
    return {};
  }
  Status append(const evidence::EventBatch& batch) override { return commit(batch); }
  Status publish(const event::Event& published, std::uint64_t) override {
    return commit({.events = {&published, 1}});
  }
  Status flush() override { return {}; }

 private:
  Mutex mutex_;
  std::string lines_ REMIT_GUARDED_BY(mutex_);
};

class Handler final : public enforcement::ToolHandler {
 public:
  enforcement::HandlerResult run(const enforcement::GrantedCall&) override {
    return {.outcome = enforcement::HandlerOutcome::kSucceeded, .payload = "{}"};
  }
};

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{}\n", result.error().to_string());
  std::exit(1);
}

void write_bundle(const std::filesystem::path& root) {
  const auto write = [&](const std::string& name, std::string_view text) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  write("bundle.yaml",
        "bundle: remit.bundle/1\nversion: bench\nenvironment: bench\n"
        "routes:\n  - {name: agent, transport: library}\n");
  std::string catalogue = "catalogue: remit.catalogue/1\ntools:\n";
  std::string schema = R"(
entity Principal { tenant: String, class: String, scopes: Set<String>, on_behalf_of?: String };
entity Invoice { tenant: String, amount_cents: Long, owner: String };
type Context = { route: String, environment: String, now: datetime,
  approval: { state: String, id?: String }, arguments: { amount_cents?: Long, note?: String } };
)";
  std::string policies = R"(@id("tenant-isolation") @reason("tenant_mismatch")
forbid (principal, action, resource)
unless { resource has tenant && principal.tenant == resource.tenant };
)";
  for (int i = 0; i < kPolicies; ++i) {
    catalogue += fmt::format(
        "  - {{name: tool{0}, effect: write, scopes: [\"invoice:write\"], "
        "arguments: schemas/invoice.json, resources: [{{argument: /invoice, type: Invoice}}]}}\n",
        i);
    schema += fmt::format(
        "action \"tool{}\" appliesTo {{ principal: [Principal], resource: [Invoice], "
        "context: Context }};\n",
        i);
    policies += fmt::format(
        "@id(\"permit{0}\") permit (principal, action == Action::\"tool{0}\", resource) when {{ "
        "principal.scopes.contains(\"invoice:write\") && "
        "context.arguments has amount_cents && "
        "context.arguments.amount_cents <= resource.amount_cents }};\n",
        i);
  }
  write("catalogue.yaml", catalogue);
  write("schema.cedarschema", schema);
  write("policies/all.cedar", policies);
  write("schemas/invoice.json",
        R"({"type":"object","properties":{"invoice":{"type":"string"},"note":{"type":"string"},)"
        R"("amount_cents":{"type":"integer","minimum":0}},"required":["invoice"]})");
}

std::string fixture() {
  std::string out = "fixture: remit.fixture/1\nrevision: fx-1\nresources:\n";
  for (int i = 0; i < 100; ++i) {
    out += fmt::format(
        "  - {{type: Invoice, references: [ref{0}], id: canonical-invoice-{0}, tenant: tenant-a, "
        "attributes: {{owner: ana, amount_cents: 100000}}}}\n",
        i);
  }
  return out;
}

/// Everything but the log.
struct Desk {
  explicit Desk(const std::filesystem::path& folder) {
    write_bundle(folder / "bundle");
    std::ofstream(folder / "invoices.yaml") << fixture();
    policy::BundleOutcome loaded = policy::load_bundle(files, (folder / "bundle").string());
    for (const Error& problem : loaded.problems) fmt::print(stderr, "{}\n", problem.to_string());
    decision::DecisionPointOutcome made = cedar::CedarDecisionPointFactory{}.create(*loaded.bundle);
    for (const Error& problem : made.problems) fmt::print(stderr, "{}\n", problem.to_string());
    decision_point = made.decision_point;
    must(policy.publish(loaded.bundle, made.decision_point));
    attributes::FixtureOutcome read = attributes::FixtureAttributeSource::read(
        files, (folder / "invoices.yaml").string(), "Invoice", "invoices");
    for (const Error& problem : read.problems) fmt::print(stderr, "{}\n", problem.to_string());
    invoices = std::move(read.source);
    sources = {{"Invoice", invoices.get()}};
  }

  enforcement::Surroundings surroundings(evidence::EvidenceSink& sink) {
    return {.policy = policy,
            .authenticator = authenticator,
            .sources = sources,
            .evidence = sink,
            .clock = clock,
            .random = random,
            .digest_key = key};
  }

  static access::Principal principal() {
    return {.subject = "ana",
            .tenant = "tenant-a",
            .class_name = "accountant",
            .scopes = {"invoice:read", "invoice:write"},
            .revision = {}};
  }

  PosixFileSystem files;
  SystemClock clock;
  SystemRandom random;
  DigestKey key = must(DigestKey::from_bytes(bytes_of(std::string(32, 'k'))));
  identity::PinnedAuthenticator authenticator{principal(), key};
  decision::CurrentPolicy policy;
  std::shared_ptr<const decision::DecisionPoint> decision_point;
  std::unique_ptr<attributes::FixtureAttributeSource> invoices;
  std::unordered_map<std::string, const attributes::AttributeSource*> sources;
};

struct Measured {
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  double cpu_us = 0;  // of the whole process, per call
  double calls_per_s = 0;
};

/// Runs `call(number)` from `callers` threads, `each` times in each.
Measured measure(const Clock& clock, int callers, int each, const std::function<void(int)>& call) {
  std::vector<std::vector<std::int64_t>> taken(static_cast<std::size_t>(callers));
  const MonotonicTime begin = clock.monotonic_now();
  const std::clock_t cpu_begin = std::clock();
  {
    std::vector<std::jthread> threads;
    for (int caller = 0; caller < callers; ++caller) {
      threads.emplace_back([&, caller] {
        std::vector<std::int64_t>& mine = taken[static_cast<std::size_t>(caller)];
        mine.reserve(static_cast<std::size_t>(each));
        for (int i = 0; i < each; ++i) {
          const MonotonicTime before = clock.monotonic_now();
          call(caller * each + i);
          mine.push_back((clock.monotonic_now() - before).count());
        }
      });
    }
  }
  const double seconds = static_cast<double>((clock.monotonic_now() - begin).count()) / 1e9;
  const double cpu_us = static_cast<double>(std::clock() - cpu_begin) * 1e6 / CLOCKS_PER_SEC;
  std::vector<std::int64_t> all;
  for (const std::vector<std::int64_t>& one : taken) all.insert(all.end(), one.begin(), one.end());
  std::sort(all.begin(), all.end());
  const auto at = [&](std::size_t percent) {
    return static_cast<double>(all[(all.size() - 1) * percent / 100]) / 1e3;
  };
  const auto calls = static_cast<double>(all.size());
  return {at(50), at(99), at(100), cpu_us / calls, calls / seconds};
}

void print(std::string_view what, const Measured& figures) {
  fmt::print("{:<36} {:>9.1f} {:>9.1f} {:>11.1f} {:>9.1f} {:>10.0f}\n", what, figures.p50_us,
             figures.p99_us, figures.max_us, figures.cpu_us, figures.calls_per_s);
}

void measure_decision(const Desk& desk, int each) {
  const access::Principal principal = Desk::principal();
  const access::Resource resource = must(desk.invoices->resolve({"Invoice", "ref1", {}}));
  const json::Value arguments = must(json::parse(R"({"amount_cents":500,"note":"n"})"));
  print(
      "decision alone, 1 caller", measure(desk.clock, 1, each, [&](int i) {
        const std::string action = fmt::format("tool{}", i % kPolicies);
        static_cast<void>(desk.decision_point->decide(
            {principal, action, resource, "agent", "bench", desk.clock.wall_now(), {}, arguments}));
      }));
}

void measure_invoke(Desk& desk, std::string_view name, evidence::EvidenceSink& sink, int callers,
                    int each) {
  enforcement::EnforcementPoint boundary(desk.surroundings(sink));
  Handler handler;
  std::atomic<int> refused{0};
  Mutex mutex;
  std::string why;
  const auto call = [&](int i) {
    access::ProposedCall proposed;
    proposed.route = "agent";
    proposed.credential = access::Credential::local();
    proposed.tool = fmt::format("tool{}", i % kPolicies);
    proposed.arguments_json =
        fmt::format(R"({{"invoice":"ref{}","amount_cents":500,"note":"for the record"}})", i % 100);
    proposed.run_id = "bench";
    const enforcement::CallOutcome outcome = boundary.invoke(proposed, handler);
    if (const auto* denial = std::get_if<enforcement::Denial>(&outcome); denial != nullptr) {
      ++refused;
      const MutexLock lock(mutex);
      why = fmt::format("{}: {}", access::reason_name(denial->reason), denial->detail);
    }
  };
  for (int i = 0; i < 200; ++i) call(i);
  print(fmt::format("invoke, {}, {} caller{}", name, callers, callers == 1 ? "" : "s"),
        measure(desk.clock, callers, each, call));
  if (refused != 0) {
    fmt::print("  {} calls were refused ({}): the figures mean nothing\n", refused.load(), why);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::RunSize size(argc, argv);
  namespace fs = std::filesystem;
  const fs::path folder =
      (argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path()) / "remit_invoke_bench";
  fs::remove_all(folder);
  fs::create_directories(folder);
  Desk desk(folder);
  fmt::print("{:<36} {:>9} {:>9} {:>11} {:>9} {:>10}\n", "", "p50 us", "p99 us", "max us", "cpu us",
             "calls/s");
  measure_decision(desk, size.of(20'000, 20));
  MemorySink memory;
  measure_invoke(desk, "no disk", memory, 1, size.of(20'000, 2));
  measure_invoke(desk, "no disk", memory, 2, size.of(20'000, 2));
  measure_invoke(desk, "no disk", memory, kCallers, size.of(1'000, 2));
  for (const auto& [callers, each] : {std::pair{1, 2'000}, std::pair{kCallers, 2'000}}) {
    const fs::path directory = folder / fmt::format("evidence{}", callers);
    fs::remove_all(directory);
    auto log = must(evidence::FileEvidenceLog::open(desk.files, desk.clock, desk.random,
                                                    {.directory = directory.string()}));
    measure_invoke(desk, "durable log", *log, callers, size.of(each, 2));
    if (!log->close()) fmt::print("  the log failed: the figures mean nothing\n");
  }
  fs::remove_all(folder);
  return 0;
}
