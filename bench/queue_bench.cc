// What deferred work costs: rows enqueued and rows worked off a second, beside bare transactions on
// the same database.
//
// usage: queue_bench [FOLDER [CONNINFO]]   In FOLDER (default: the one for temporary files) it
// makes a folder of its own with a SQLite database, and removes it. With CONNINFO it goes through
// the same on PostgreSQL, in the tables of whatever schema that names.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "base/random.h"
#include "bench/run_size.h"
#include "database/postgres_database.h"
#include "database/sqlite_database.h"
#include "enforcement/enforcement_point.h"
#include "evidence/file_evidence_log.h"
#include "identity/pinned_authenticator.h"
#include "queue/worker.h"

namespace {

using namespace remit;
namespace fs = std::filesystem;

constexpr int kRows = 400;

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{}\n", result.error().to_string());
  std::exit(1);
}
void must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().to_string());
  std::exit(1);
}

class AllowAll final : public decision::DecisionPoint {
 public:
  Result<access::Decision> decide(const decision::DecisionRequest&) const override {
    return access::Decision::allow({"all"});
  }
  std::string_view name() const override { return "bench"; }
};

class Handler final : public enforcement::ToolHandler {
 public:
  enforcement::HandlerResult run(const enforcement::GrantedCall&) override {
    ++runs;
    return {.outcome = enforcement::HandlerOutcome::kSucceeded};
  }
  std::atomic<int> runs{0};
};

std::shared_ptr<const policy::Bundle> make_bundle(FileSystem& files, const fs::path& root) {
  const auto write = [&](const std::string& name, std::string_view text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  write("bundle.yaml",
        "bundle: remit.bundle/1\nversion: v1\nenvironment: bench\nroutes:\n"
        "  - {name: queued, transport: queue}\n  - {name: retry, transport: queue}\n");
  write("catalogue.yaml",
        "catalogue: remit.catalogue/1\ntools:\n"
        "  - {name: note, effect: write, arguments: schemas/note.json}\n");
  write("schemas/note.json", R"({"type":"object","properties":{"text":{"type":"string"}}})");
  write("schema.cedarschema", "entity Principal;\n");
  write("policies/none.cedar", "");
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    fs::permissions(entry.path(), fs::perms::group_write | fs::perms::others_write,
                    fs::perm_options::remove);
  }
  policy::BundleOutcome loaded = policy::load_bundle(files, root.string());
  for (const Error& problem : loaded.problems) fmt::print(stderr, "{}\n", problem.to_string());
  return loaded.bundle;
}

/// A boundary with a durable log, on a policy that allows everything.
struct Boundary {
  Boundary(FileSystem& files, const Clock& clock, Random& random, const fs::path& folder)
      : key(must(
            DigestKey::from_bytes(bytes_of(std::string_view("0123456789abcdef0123456789abcdef"))))),
        authenticator(access::Principal{.subject = "nightly",
                                        .tenant = "tenant-a",
                                        .class_name = "batch",
                                        .scopes = {},
                                        .revision = "1"},
                      key),
        log(must(evidence::FileEvidenceLog::open(files, clock, random,
                                                 {.directory = (folder / "evidence").string()}))) {
    must(policy.publish(make_bundle(files, folder / "bundle"), std::make_shared<AllowAll>()));
    point = std::make_unique<enforcement::EnforcementPoint>(
        enforcement::Surroundings{.policy = policy,
                                  .authenticator = authenticator,
                                  .sources = sources,
                                  .evidence = *log,
                                  .clock = clock,
                                  .random = random,
                                  .digest_key = key});
  }
  DigestKey key;
  identity::PinnedAuthenticator authenticator;
  std::unordered_map<std::string, const attributes::AttributeSource*> sources;
  decision::CurrentPolicy policy;
  std::unique_ptr<evidence::FileEvidenceLog> log;
  std::unique_ptr<enforcement::EnforcementPoint> point;
};

double rate(int count, const std::function<void()>& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return count / std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// `count` pieces of work on `threads` threads.
void spread(int count, int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  std::atomic<int> next{0};
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int n = next++; n < count; n = next++) work(n);
    });
  }
  for (std::thread& thread : all) thread.join();
}

void measure(int rows, const char* name, database::Database& database, Boundary& boundary,
             const Clock& clock, Random& random) {
  using namespace std::chrono_literals;
  const auto soon = [&] { return clock.monotonic_now() + 60s; };
  must(database.run("create table if not exists bare(n bigint)", {}, {.deadline = soon()}));
  const auto bare = [&](int) {
    must(database.transact(soon(), [](database::Transaction& transaction) -> Status {
      REMIT_TRY(transaction.run("insert into bare(n) values(1)", {}));
      return {};
    }));
  };
  const auto queue = must(
      queue::WorkQueue::open(database, boundary.key, clock, random, {.operation_deadline = 60s}));
  fmt::print("{}\n", name);
  for (const int threads : {1, 4}) {
    const double plain = rate(rows, [&] { spread(rows, threads, bare); });
    const double in = rate(rows, [&] {
      spread(rows, threads, [&](int n) {
        queue::Work work;
        work.principal = "nightly";
        work.lane = n % 2 == 0 ? "tenant-a" : "tenant-b";
        work.tool = "note";
        work.arguments_json = R"({"text":"a line of some length, as a note may have it"})";
        static_cast<void>(must(queue->enqueue(work)));
      });
    });
    Handler handler;
    queue::Worker worker({.queue = *queue,
                          .point = *boundary.point,
                          .tools = handler,
                          .clock = clock,
                          .random = random},
                         {.threads = static_cast<std::size_t>(threads)});
    const double out = rate(rows, [&] { must(worker.run({}, {}, queue::Until::kIdle)); });
    if (handler.runs != rows) {
      fmt::print(stderr, "only {} rows were run\n", handler.runs.load());
      std::exit(1);
    }
    fmt::print(
        "  {} threads: bare transactions {:7.0f}/s, enqueued {:7.0f}/s ({:.2f}), worked off "
        "{:7.0f}/s ({:.2f})\n",
        threads, plain, in, in / plain, out, out / plain);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::RunSize size(argc, argv);
  const int rows = size.of(kRows, 8);
  const fs::path parent = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path();
  std::string pattern = (parent / "queue-bench.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const fs::path folder = pattern;
  const SystemClock clock;
  SystemRandom random;
  PosixFileSystem files;
  {
    Boundary boundary(files, clock, random, folder);
    database::SqliteDatabase sqlite((folder / "state.db").string(), database::Access::kReadWrite,
                                    clock);
    measure(rows, "SQLite", sqlite, boundary, clock, random);
    if (argc > 2) {
      const auto postgres = must(database::PostgresDatabase::open(argv[2], clock));
      measure(rows, "PostgreSQL", *postgres, boundary, clock, random);
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return 0;
}
